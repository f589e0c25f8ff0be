#pragma once

#include <boost/multiprecision/cpp_int.hpp>
#include <vector>

/// The simultaneous law P1 (31) in rational arithmetic: the judge of what double precision answers.
/// Written without a look at modes.h, for tests on small integers.
namespace routh::test {

using Rational = boost::multiprecision::cpp_rational;
using RationalVector = std::vector<Rational>;
using RationalMatrix = std::vector<RationalVector>;

/// An impact with G, c and μ as fractions. In space friction has four edges, along the axes.
struct RationalImpact {
  RationalMatrix G;
  RationalVector c, mu;
  int tangents = 1;
  RationalVector given = {};  ///< normal impulses that contacts give at least; empty: none

  int contacts() const { return static_cast<int>(mu.size()); }
  int tangent(int contact, int k) const { return contacts() + contact * tangents + k; }
};

/// Solutions x0 + N t of A x + a = 0; nothing where there are none.
struct RationalAffine {
  bool empty = false;
  RationalVector x0;
  RationalMatrix N;  ///< columns
};
inline RationalAffine solve(RationalMatrix A, const RationalVector& a, int unknowns) {
  const int rows = static_cast<int>(A.size());
  for (int r = 0; r < rows; ++r) A[r].resize(unknowns), A[r].push_back(-a[r]);
  std::vector<int> pivots;
  int row = 0;
  for (int column = 0; column < unknowns && row < rows; ++column) {
    int best = row;
    while (best < rows && A[best][column] == 0) ++best;
    if (best == rows) continue;
    std::swap(A[row], A[best]);
    const Rational pivot = A[row][column];
    for (Rational& x : A[row]) x /= pivot;
    for (int r = 0; r < rows; ++r) {
      if (r == row || A[r][column] == 0) continue;
      const Rational factor = A[r][column];
      for (int k = 0; k <= unknowns; ++k) A[r][k] -= factor * A[row][k];
    }
    pivots.push_back(column);
    ++row;
  }
  RationalAffine result{.x0 = RationalVector(unknowns)};
  for (int r = row; r < rows; ++r) result.empty = result.empty || A[r][unknowns] != 0;
  for (int r = 0; r < row; ++r) result.x0[pivots[r]] = A[r][unknowns];
  for (int free = 0; free < unknowns; ++free) {
    if (std::find(pivots.begin(), pivots.end(), free) != pivots.end()) continue;
    RationalVector direction(unknowns);
    direction[free] = 1;
    for (int r = 0; r < row; ++r) direction[pivots[r]] = -A[r][free];
    result.N.push_back(std::move(direction));
  }
  return result;
}

/// A contact mode as rows over (λ, 1) that vanish and that are not negative.
struct RationalRows {
  RationalMatrix zero, positive;
};

/// Every outcome, distinct in c⁺; of a continuum the corners.
class Referee {
 public:
  explicit Referee(const RationalImpact& impact)
      : p_(impact), size_(static_cast<int>(p_.c.size())) {
    choose(0, {});
  }
  const std::vector<RationalVector>& outcomes() const { return outcomes_; }
  /// Impulses that make them; of a continuum of impulses the corners.
  const std::vector<RationalVector>& impulses() const { return impulses_; }

 private:
  RationalVector impulse(int row, const Rational& factor = 1) const {
    RationalVector r(size_ + 1);
    r[row] = factor;
    return r;
  }
  RationalVector velocity(int row, const Rational& factor = 1) const {
    RationalVector r(size_ + 1);
    for (int k = 0; k < size_; ++k) r[k] = factor * p_.G[row][k];
    r[size_] = factor * p_.c[row];
    return r;
  }
  static RationalVector sum(RationalVector a, const RationalVector& b) {
    for (std::size_t k = 0; k < a.size(); ++k) a[k] += b[k];
    return a;
  }

  /// All ways in which contact i and those after it can behave.
  void choose(int i, const RationalRows& rows) {
    if (i == p_.contacts()) return solve_mode(rows);
    const Rational& mu = p_.mu[i];
    const int T = p_.tangents;
    const auto t = [&](int k) { return p_.tangent(i, k); };

    RationalVector more = impulse(i);  // than is given
    if (!p_.given.empty()) more[size_] = -p_.given[i];
    RationalRows open = rows;
    open.zero.push_back(more);
    open.positive.push_back(velocity(i));
    RationalRows closed = rows;
    closed.zero.push_back(velocity(i));
    closed.positive.push_back(more);
    if (mu == 0 || more[size_] == 0) {
      for (int k = 0; k < T; ++k) open.zero.push_back(impulse(t(k)));
      choose(i + 1, open);
    } else {
      rub(i, open);
    }
    if (mu == 0) {
      for (int k = 0; k < T; ++k) closed.zero.push_back(impulse(t(k)));
      return choose(i + 1, closed);
    }
    rub(i, closed);
  }

  /// All ways in which a contact that presses rubs.
  void rub(int i, const RationalRows& closed) {
    const Rational& mu = p_.mu[i];
    const int T = p_.tangents;
    const auto t = [&](int k) { return p_.tangent(i, k); };
    // sticking: friction in the interval, or in the diamond |λ1| + |λ2| ≤ μ λn
    RationalRows sticks = closed;
    for (int k = 0; k < T; ++k) sticks.zero.push_back(velocity(t(k)));
    for (const int a : {1, -1}) {
      for (const int b : T == 2 ? std::vector<int>{1, -1} : std::vector<int>{0}) {
        RationalVector row = sum(impulse(i, mu), impulse(t(0), a));
        if (T == 2) row = sum(row, impulse(t(1), b));
        sticks.positive.push_back(row);
      }
    }
    choose(i + 1, sticks);
    // slipping: λt = μ λn d with d the edge that brakes most, a mixture where two brake alike
    if (T == 1) {
      for (const int s : {1, -1}) {
        RationalRows slips = closed;
        slips.zero.push_back(sum(impulse(t(0)), impulse(i, -s * mu)));
        slips.positive.push_back(velocity(t(0), -s));
        choose(i + 1, slips);
      }
      return;
    }
    for (int axis = 0; axis < 2; ++axis) {
      for (const int s : {1, -1}) {
        // all friction along one axis: its slip is the larger
        RationalRows slips = closed;
        slips.zero.push_back(sum(impulse(t(axis)), impulse(i, -s * mu)));
        slips.zero.push_back(impulse(t(1 - axis)));
        for (const int o : {1, -1})
          slips.positive.push_back(sum(velocity(t(axis), -s), velocity(t(1 - axis), o)));
        choose(i + 1, slips);
      }
    }
    for (const int a : {1, -1}) {
      for (const int b : {1, -1}) {
        // both slips alike: friction anywhere between a and b
        RationalRows turns = closed;
        turns.zero.push_back(sum(velocity(t(0), a), velocity(t(1), -b)));
        turns.zero.push_back(sum(sum(impulse(t(0), a), impulse(t(1), b)), impulse(i, -mu)));
        turns.positive.push_back(velocity(t(0), -a));
        turns.positive.push_back(impulse(t(0), a));
        turns.positive.push_back(impulse(t(1), b));
        choose(i + 1, turns);
      }
    }
  }

  void solve_mode(const RationalRows& rows) {
    RationalVector a;
    for (const RationalVector& r : rows.zero) a.push_back(r[size_]);
    const RationalAffine set = solve(rows.zero, a, size_);
    if (set.empty) return;
    // inequalities over t, then every corner: as many tight ones as there are directions
    const int d = static_cast<int>(set.N.size());
    RationalMatrix H;
    for (const RationalVector& r : rows.positive) {
      RationalVector h(d + 1);
      h[d] = r[size_];
      for (int k = 0; k < size_; ++k) {
        h[d] += r[k] * set.x0[k];
        for (int j = 0; j < d; ++j) h[j] += r[k] * set.N[j][k];
      }
      H.push_back(std::move(h));
    }
    corners(set, H, d, 0, {});
  }

  void corners(const RationalAffine& set, const RationalMatrix& H, int d, std::size_t next,
               RationalMatrix tight) {
    if (static_cast<int>(tight.size()) == d) {
      RationalVector a;
      for (const RationalVector& h : tight) a.push_back(h[d]);
      const RationalAffine point = solve(tight, a, d);
      if (point.empty || !point.N.empty()) return;
      for (const RationalVector& h : H) {
        Rational slack = h[d];
        for (int j = 0; j < d; ++j) slack += h[j] * point.x0[j];
        if (slack < 0) return;
      }
      RationalVector lambda = set.x0, c = p_.c;
      for (int j = 0; j < d; ++j) {
        for (int k = 0; k < size_; ++k) lambda[k] += set.N[j][k] * point.x0[j];
      }
      for (int r = 0; r < size_; ++r) {
        for (int k = 0; k < size_; ++k) c[r] += p_.G[r][k] * lambda[k];
      }
      if (std::find(impulses_.begin(), impulses_.end(), lambda) == impulses_.end())
        impulses_.push_back(lambda);
      if (std::find(outcomes_.begin(), outcomes_.end(), c) == outcomes_.end())
        outcomes_.push_back(c);
      return;
    }
    for (std::size_t r = next; r < H.size(); ++r) {
      tight.push_back(H[r]);
      corners(set, H, d, r + 1, tight);
      tight.pop_back();
    }
  }

  RationalImpact p_;
  int size_;
  std::vector<RationalVector> outcomes_, impulses_;
};

}  // namespace routh::test
