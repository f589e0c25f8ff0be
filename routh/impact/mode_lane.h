#pragma once

#include <cmath>
#include <cstdint>

#include "routh/impact/walk_lane.h"

/// The contact modes of one step problem (modes.h) as a thread of a device makes them, for batches
/// of many problems: a table of all hyperplanes as of step_table.h would cost more than the few
/// walks of each problem that read it. Instead every mode is tried in single precision, with a
/// margin that covers its rounding, and what passes is judged as in any walk.
namespace routh::lane {

/// Ways of one contact: open; closed and sticking, slipping back or forth; saturated likewise.
ROUTH_BOTH int ways(double mu) { return mu == 0 ? 3 : 7; }

template <int M, class Mu>
ROUTH_BOTH int count_modes(const Mu& mu) {
  int count = 1;
  for (int i = 0; i < M; ++i) count *= ways(mu[i]);
  return count;
}

/// The power of two nearest to x > 0; 1 for anything else.
ROUTH_WALK double near_power(double x) { return x > 0 ? exp2(rint(log2(x))) : 1; }

/// What regular_mode() of modes.h makes of mode number `mode`, the first contact changing slowest:
/// λ = Lᵀ x as in walk.h, and the velocities that vanish. False: it is singular.
template <int M, class Delassus, class Mu>
ROUTH_CALL bool make_mode(const Delassus& G, const Mu& mu, int mode, double* L,
                          std::uint32_t& zeros) {
  constexpr int kSize = 2 * M, kData = 3 * M;
  constexpr double kSafe = 1e-7;  // as lcp::kSafe
  const auto g = [&](int i, int k) { return G[k * kSize + i]; };

  // what the contacts do
  int row[kSize], n = 0;  // of an open impulse, whose velocity vanishes
  double push[kSize];     // and the friction that comes with it
  double full[M], friction[M];
  zeros = 0;
  for (int i = M - 1; i >= 0; --i) {
    const int count = ways(mu[i]), way = mode % count,
              normal = way == 0 ? 0 : 1 + (way - 1) / (count / 2);
    mode /= count;
    const int tangent = count == 3 || way == 0 ? 0 : 1 + (way - 1) % 3;  // free, stick, slips
    const double slip = tangent == 2 ? -mu[i] : tangent == 3 ? mu[i] : 0;
    full[i] = normal == 2, friction[i] = slip;
    if (normal == 1) row[n] = i, push[n++] = slip, zeros |= 1u << i;
    if (tangent == 1) row[n] = M + i, push[n++] = 0, zeros |= 1u << (M + i);
  }

  // K u + R x = 0, with the terms that K is made of
  double K[kSize][kSize + kData], terms[kSize][kSize], scale[kSize], factor[kSize];
  for (int r = 0; r < n; ++r) {
    for (int j = 0; j < n; ++j) {
      const bool slips = push[j] != 0;
      const double a = g(row[r], row[j]), b = slips ? g(row[r], row[j] + M) * push[j] : 0;
      K[r][j] = a + b;
      terms[r][j] = magnitude(a) + magnitude(b);
    }
    for (int k = 0; k < kSize; ++k) K[r][n + k] = k == row[r];
    for (int i = 0; i < M; ++i)
      K[r][n + kSize + i] =
          full[i] != 0 ? g(row[r], i) + (friction[i] != 0 ? g(row[r], M + i) * friction[i] : 0) : 0;
  }
  // rows and columns scaled so that the terms are of order one
  for (int r = 0; r < n; ++r) scale[r] = factor[r] = 1;
  for (int sweep = 0; sweep < 4; ++sweep) {
    double in_row[kSize], in_column[kSize];
    for (int r = 0; r < n; ++r) in_row[r] = in_column[r] = 0;
    for (int r = 0; r < n; ++r) {
      for (int j = 0; j < n; ++j) {
        const double a = scale[r] * terms[r][j] * factor[j];
        in_row[r] = larger(in_row[r], a), in_column[j] = larger(in_column[j], a);
      }
    }
    for (int r = 0; r < n; ++r) {
      scale[r] /= near_power(sqrt(in_row[r])), factor[r] /= near_power(sqrt(in_column[r]));
    }
  }
  for (int r = 0; r < n; ++r) {
    for (int j = 0; j < n; ++j) K[r][j] *= scale[r] * factor[j];
    for (int k = 0; k < kData; ++k) K[r][n + k] *= scale[r];
  }
  // full pivoting, eliminated above and below
  int column[kSize];
  for (int r = 0; r < n; ++r) column[r] = r;
  for (int p = 0; p < n; ++p) {
    int at = p, across = p;
    double largest = -1;
    for (int r = p; r < n; ++r) {
      for (int j = p; j < n; ++j) {
        if (magnitude(K[r][j]) > largest) largest = magnitude(K[r][j]), at = r, across = j;
      }
    }
    if (!(largest > kSafe)) return false;
    for (int k = 0; k < n + kData; ++k) {
      const double swapped = K[p][k];
      K[p][k] = K[at][k], K[at][k] = swapped;
    }
    for (int r = 0; r < n; ++r) {
      const double swapped = K[r][p];
      K[r][p] = K[r][across], K[r][across] = swapped;
    }
    const int swapped = column[p];
    column[p] = column[across], column[across] = swapped;
    for (int r = 0; r < n; ++r) {
      if (r == p) continue;
      const double part = K[r][p] / K[p][p];
      for (int k = p; k < n + kData; ++k) K[r][k] -= part * K[p][k];
    }
  }

  // λ = S u + P x
  for (int k = 0; k < kData; ++k) {
    double* lambda = L + k * kSize;
    for (int i = 0; i < kSize; ++i) lambda[i] = 0;
    if (k >= kSize)
      lambda[k - kSize] = full[k - kSize], lambda[k - M] = full[k - kSize] * friction[k - kSize];
    for (int p = 0; p < n; ++p) {
      const int j = column[p];
      const double u = -factor[j] * K[p][n + k] / K[p][p];
      lambda[row[j]] += u;
      if (push[j] != 0) lambda[row[j] + M] += push[j] * u;
    }
  }
  return true;
}

/// What a mode is to the simultaneous law P1 (31), where nothing is saturated.
enum class AtOnce { kNothing, kOutcome, kUndecided };

/// Does the mode have an outcome of that law, and which? `L` as of make_mode(), null where the mode
/// is singular: then it has none of its own unless a contact slips, which only a search can tell.
template <int M>
ROUTH_WALK AtOnce outcome_at_once(const Task<M>& task, int mode, const double* L, double* c) {
  constexpr double kDoubtful = 1e4;  // times the tolerance: rounding may have made it
  bool slips = false;
  for (int i = M - 1, rest = mode; i >= 0; --i) {
    const int count = ways(task.mu[i]), way = rest % count;
    rest /= count;
    if (way > count / 2) return AtOnce::kNothing;  // saturated
    slips = slips || way > 1;
  }
  if (!L) return slips ? AtOnce::kUndecided : AtOnce::kNothing;
  double x[3 * M], lambda[2 * M], most[M];
  for (int i = 0; i < 2 * M; ++i) x[i] = task.c0[i];
  for (int i = 0; i < M; ++i) x[2 * M + i] = 0, most[i] = HUGE_VAL;
  impulse_of<M>(L, x, lambda);
  velocity_after<M>(task.G, x, lambda, c);
  const double residual = step_residual<M>(task.mu, lambda, c, most);
  return residual <= task.accepted               ? AtOnce::kOutcome
         : residual <= kDoubtful * task.accepted ? AtOnce::kUndecided
                                                 : AtOnce::kNothing;
}

/// How many of the velocities, 2M numbers each, are distinct; -1 where that is in doubt. They are
/// left in front.
template <int M>
ROUTH_WALK int count_distinct(double most, double* c, int count) {
  constexpr double kDoubtful = 1e3;
  int kept = 0;
  for (int s = 0; s < count; ++s) {
    bool known = false;
    for (int o = 0; o < kept && !known; ++o) {
      known = same<M>(most, c + 2 * M * s, c + 2 * M * o);
      if (!known && same<M>(kDoubtful * most, c + 2 * M * s, c + 2 * M * o)) return -1;
    }
    for (int i = 0; i < 2 * M && !known; ++i) c[2 * M * kept + i] = c[2 * M * s + i];
    kept += !known;
  }
  return kept;
}

/// Numbers of a mode's impulses in single precision, whole groups of four.
template <int M>
constexpr int kRough = (6 * M * M + 3) / 4 * 4;

/// How much the residual of the mode at x, reckoned in single precision, can err, per sum of |x|.
template <int M, class Delassus, class Mu>
ROUTH_WALK float rough_error(const Delassus& G, const Mu& mu, const double* L) {
  double most = 0, friction = 0, mobility = 0;
  for (int k = 0; k < 6 * M * M; ++k) most = larger(most, magnitude(L[k]));
  for (int i = 0; i < M; ++i) friction = larger(friction, mu[i]);
  for (int i = 0; i < 2 * M; ++i) {
    double sum = 0;
    for (int k = 0; k < 2 * M; ++k) sum += magnitude(G[k * 2 * M + i]);
    mobility = larger(mobility, sum);
  }
  const double impulse = (3 * M + 4) * most;
  const double velocity = 2 + mobility * (impulse + (2 * M + 3) * most);
  return static_cast<float>(0x1.1p-24 * (1 + friction) * (impulse + velocity));
}

/// All modes of one problem.
template <int M>
struct Modes {
  int count;
  const float* rough;  ///< [mode][kRough]: as impulse, in single precision
  const float* error;  ///< [mode]: rough_error(); not a number of a singular mode
  float slack, G[4 * M * M], mu[M];

  ROUTH_WALK int blocks() const { return (count + 63) / 64; }
  /// Those of a block of 64 that may solve the step at x.
  ROUTH_WALK std::uint64_t alive(int block, const float* x, float size) const {
    std::uint64_t alive = 0;
    const int last = count - 64 * block < 64 ? count - 64 * block : 64;
    for (int bit = 0; bit < last; ++bit) {
      const int mode = 64 * block + bit;
      const float* L = rough + static_cast<std::int64_t>(mode) * kRough<M>;
      float lambda[2 * M], worst = 0;
      for (int i = 0; i < 2 * M; ++i) {
        lambda[i] = L[i] * x[0];
        for (int k = 1; k < 3 * M; ++k) lambda[i] += L[k * 2 * M + i] * x[k];
      }
      const auto include = [&](float a) { worst = a > worst ? a : -a > worst ? -a : worst; };
      for (int i = 0; i < M; ++i) {
        float cn = x[i], ct = x[M + i];
        for (int k = 0; k < 2 * M; ++k)
          cn += G[k * 2 * M + i] * lambda[k], ct += G[k * 2 * M + M + i] * lambda[k];
        const float ln = lambda[i], lt = lambda[M + i], cone = mu[i] * (ln > 0 ? ln : 0);
        const float most = x[2 * M + i], normal = ln - cn < most ? ln - cn : most;
        include(ln - (normal > 0 ? normal : 0));
        const float tangential = lt - ct < cone ? lt - ct : cone;
        include(lt - (tangential > -cone ? tangential : -cone));
      }
      const bool may = worst <= slack + error[mode] * size;
      alive |= static_cast<std::uint64_t>(may) << bit;
    }
    return alive;
  }
};

}  // namespace routh::lane
