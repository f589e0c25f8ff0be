// Restitution by a judge of its own: textbook rules in rational arithmetic on small integers.

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <optional>
#include <random>

#include "impact/small_integers.h"
#include "routh/impact/sequential.h"
#include "routh/impact/simultaneous.h"
#include "routh/impact/single.h"
#include "soak.h"

namespace routh {
namespace {

using Eigen::VectorXd;
using test::Rational;
using test::RationalImpact;
using test::RationalVector;
using test::to_double;
using test::Twice;

/// The root, to a hundred digits: the only number of a path that is rounded.
Rational root(const Rational& x) {
  using Float = boost::multiprecision::cpp_bin_float_100;
  return Rational(Float(sqrt(Float(x))));
}

/// Routh's path of a contact in the plane, piece by piece (Wang, Mason 1992), and what it makes of
/// c. Nothing where it jams; restitution that cannot lift the contact leaves it at rest.
std::optional<RationalVector> after_path(const RationalImpact& p, RationalVector c, int n,
                                         const Rational& e, Restitution means) {
  const int t = p.tangent(n, 0);
  const Rational Gnn = p.G[n][n], Gnt = p.G[n][t], Gtt = p.G[t][t], mu = p.mu[n];
  Rational cn = c[n], ct = c[t], ln, lt, work, cn_end, s_end, work_end;
  bool restitution = false;
  for (;;) {
    const bool sticks = ct == 0 && abs(Gnt) <= mu * Gtt;
    const int slip = sticks ? 0 : ct != 0 ? ct.sign() : Gnt.sign();
    Rational ratio = -mu * slip;
    if (sticks && Gtt != 0) ratio = -Gnt / Gtt;
    const Rational rn = Gnn + ratio * Gnt, rt = sticks ? Rational(0) : Gnt + ratio * Gtt;
    std::optional<Rational> s;  // to the end of the phase
    if (!restitution || means == Restitution::kNewton) {
      if (rn > 0) s = (cn_end - cn) / rn;
    } else if (means == Restitution::kPoisson) {
      s = s_end - ln;
    } else {
      const Rational rest = work_end - work, square = cn * cn + 2 * rn * rest;
      if (rn == 0 && cn > 0) s = rest / cn;
      if (rn != 0 && square >= 0) s = (root(square) - cn) / rn;
      if (s && *s < 0) s.reset();
    }
    bool ends = true;
    if (ct * rt < 0 && (!s || -ct / rt < *s)) s = -ct / rt, ends = false;
    if (!s) {
      if (!restitution && cn < 0) return {};
      s = 0;
    }
    work += *s * (cn + rn * *s / 2);
    ln += *s, lt += ratio * *s;
    cn += rn * *s;
    ct = ends ? ct + rt * *s : Rational(0);
    if (!ends) continue;
    if (restitution || e == 0) break;
    restitution = true;
    cn_end = -e * c[n], s_end = (1 + e) * ln, work_end = (1 - e * e) * work;
    cn = 0;
  }
  for (std::size_t k = 0; k < c.size(); ++k) c[k] += p.G[k][n] * ln + p.G[k][t] * lt;
  c[n] = cn, c[t] = ct;
  return c;
}

struct Drawn {
  Twice twice;
  RationalVector e;
};
Drawn draw(std::mt19937& random, int m, int nv, int tangents, Restitution means) {
  std::uniform_int_distribution<int> quarters(0, 4);
  Drawn drawn{.twice = test::small_integers(random, m, nv, tangents), .e = {}};
  drawn.twice.problem.e.resize(m);
  drawn.twice.problem.restitution = means;
  for (int i = 0; i < m; ++i) {
    drawn.e.emplace_back(quarters(random), 4);
    drawn.twice.problem.e[i] = drawn.e.back().convert_to<double>();
  }
  return drawn;
}

bool near(const RationalVector& a, const VectorXd& b, const ImpactProblem& p) {
  return (to_double(a) - b).lpNorm<Eigen::Infinity>() <=
         1e-9 * std::max(1.0, p.c.lpNorm<Eigen::Infinity>());
}

constexpr Restitution kAll[] = {Restitution::kNewton, Restitution::kPoisson, Restitution::kStronge};

TEST(RestitutionReferee, PathsOfOneContactEndWhereFractionsDo) {
  std::mt19937 random(1);
  int jams = 0, ends = 0;
  for (int trial = 0; trial < test::trials(3000) && !HasFailure(); ++trial) {
    Drawn d = draw(random, 1, 1 + trial % 3, 1, kAll[trial / 3 % 3]);
    RationalImpact& p = d.twice.exact;
    if (trial % 4 == 0) {  // whatever can move: else nothing jams
      for (int r = 0; r < 2; ++r)
        p.c[r] = d.twice.problem.c[r] = std::uniform_int_distribution<int>(-3, 3)(random);
    }
    if (p.c[0] >= 0 || p.G[0][0] == 0) continue;
    const auto truth = after_path(p, p.c, 0, d.e[0], d.twice.problem.restitution);
    const SingleResult found = single(d.twice.problem, 0);
    ASSERT_EQ(found.finished, truth.has_value()) << trial;
    ++(truth ? ends : jams);
    if (!truth) continue;
    EXPECT_TRUE(near(*truth, found.c_plus, d.twice.problem)) << trial;
  }
  EXPECT_GT(jams, test::trials(3000) / 150);
  EXPECT_GT(ends, test::trials(3000) / 6);
}

/// Ends of all orders in fractions, each distinct; nothing where some order does not end soon.
std::optional<std::vector<RationalVector>> all_orders(const RationalImpact& p,
                                                      const RationalVector& e, Restitution means) {
  std::vector<RationalVector> ends, open{p.c};
  for (int depth = 0; depth < 6 && !open.empty(); ++depth) {
    std::vector<RationalVector> next;
    for (const RationalVector& c : open) {
      bool over = true;
      for (int i = 0; i < p.contacts(); ++i) {
        if (c[i] >= 0) continue;
        over = false;
        auto after = after_path(p, c, i, e[i], means);
        if (!after) return {};
        for (Rational& x : *after) {  // what only roots leave
          if (abs(x) < Rational(1, 1'000'000'000'000'000)) x = 0;
        }
        next.push_back(*std::move(after));
      }
      if (over) ends.push_back(c);
    }
    open = std::move(next);
  }
  if (!open.empty()) return {};
  return ends;
}

TEST(RestitutionReferee, AllOrdersEndWhereFractionsDo) {
  std::mt19937 random(2);
  int seen = 0;
  for (int trial = 0; trial < test::trials(600) && !HasFailure(); ++trial) {
    const int m = 2 + trial % 2;
    const Drawn d = draw(random, m, m + trial / 2 % 4, 1, kAll[trial % 3]);
    const auto truth = all_orders(d.twice.exact, d.e, d.twice.problem.restitution);
    if (!truth) continue;
    ++seen;
    const SequentialResult found = sequential(d.twice.problem);
    for (const RationalVector& c : *truth)
      EXPECT_TRUE(
          std::any_of(found.outcomes.begin(), found.outcomes.end(),
                      [&](const auto& s) { return near(c, s.outcome.c_plus, d.twice.problem); }))
          << trial << " misses " << to_double(c).transpose();
    for (const SequentialOutcome& s : found.outcomes)
      EXPECT_TRUE(std::any_of(
          truth->begin(), truth->end(),
          [&](const RationalVector& c) { return near(c, s.outcome.c_plus, d.twice.problem); }))
          << trial << " has " << s.outcome.c_plus.transpose();
  }
  EXPECT_GT(seen, test::trials(600) / 3);
}

/// Poisson's two phases after Anitescu and Potra, from every corner of the compression impulses;
/// without anything to give there is no second one.
std::vector<RationalVector> two_phases(const RationalImpact& p, const RationalVector& e) {
  std::vector<RationalVector> ends;
  const test::Referee compression(p);
  for (const RationalVector& impulse : compression.impulses()) {
    RationalImpact next = p;
    next.given.clear();
    for (int i = 0; i < p.contacts(); ++i) next.given.push_back(e[i] * impulse[i]);
    for (std::size_t r = 0; r < p.c.size(); ++r) {
      for (std::size_t k = 0; k < p.c.size(); ++k) next.c[r] += p.G[r][k] * impulse[k];
    }
    if (std::all_of(next.given.begin(), next.given.end(),
                    [](const Rational& x) { return x == 0; })) {
      ends.push_back(next.c);
      continue;
    }
    const test::Referee restitution(next);
    ends.insert(ends.end(), restitution.outcomes().begin(), restitution.outcomes().end());
  }
  return ends;
}

void agree_at_once(std::mt19937& random, int m, int nv, int tangents, int trial, int& unique) {
  const Drawn d = draw(random, m, nv, tangents, Restitution::kPoisson);
  const ImpactProblem& p = d.twice.problem;
  const std::vector<RationalVector> truth = two_phases(d.twice.exact, d.e);
  const SimultaneousResult found = simultaneous(p);
  EXPECT_EQ(found.outcomes.empty(), truth.empty()) << trial;
  for (const RationalVector& c : truth) {
    const bool known = std::any_of(found.outcomes.begin(), found.outcomes.end(),
                                   [&](const Outcome& o) { return near(c, o.c_plus, p); });
    EXPECT_TRUE(known || !found.enumerated) << trial << " misses " << to_double(c).transpose();
  }
  unique += found.enumerated && !truth.empty();
  // of a wedged contact at least what gives back least and most
  if (m == 1 && p.G(0, 0) > 0 && !truth.empty()) {
    const auto [least, most] = std::minmax_element(truth.begin(), truth.end());
    for (const auto& end : {least, most})
      EXPECT_TRUE(std::any_of(found.outcomes.begin(), found.outcomes.end(),
                              [&](const Outcome& o) { return near(*end, o.c_plus, p); }))
          << trial << " misses " << to_double(*end).transpose();
  }
  for (const Outcome& o : found.outcomes) {
    EXPECT_FALSE(colliding(p, o.c_plus));
    EXPECT_LE((p.c + p.G * o.impulse - o.c_plus).norm(), 1e-9 * std::max(1.0, p.c.norm())) << trial;
    EXPECT_TRUE(!found.enumerated ||
                std::any_of(truth.begin(), truth.end(),
                            [&](const RationalVector& c) { return near(c, o.c_plus, p); }))
        << trial << " has " << o.c_plus.transpose();
  }
}

TEST(RestitutionReferee, TwoPhasesInThePlaneAreThoseOfFractions) {
  std::mt19937 random(3);
  int unique = 0;
  for (int trial = 0; trial < test::trials(300) && !HasFailure(); ++trial)
    agree_at_once(random, 1 + trial % 2, 1 + trial / 2 % 5, 1, trial, unique);
  EXPECT_GT(unique, test::trials(300) / 3);
}

TEST(RestitutionReferee, TwoPhasesInSpaceAreThoseOfFractions) {
  std::mt19937 random(4);
  int unique = 0;
  for (int trial = 0; trial < test::trials(40) && !HasFailure(); ++trial)
    agree_at_once(random, 1, 1 + trial % 5, 2, trial, unique);
  EXPECT_GT(unique, test::trials(40) / 4);
}

// Moreau's: the inelastic law in velocities cn + e cn⁻.
TEST(RestitutionReferee, NewtonsEquationsAtOnceAreThoseOfFractions) {
  std::mt19937 random(5);
  for (int trial = 0; trial < test::trials(200) && !HasFailure(); ++trial) {
    const int m = 1 + trial % 2;
    const Drawn d = draw(random, m, 1 + trial / 2 % 5, 1, Restitution::kNewton);
    RationalImpact shifted = d.twice.exact;
    RationalVector shift(m);
    for (int i = 0; i < m; ++i) {
      if (shifted.c[i] < 0) shift[i] = d.e[i] * shifted.c[i];
      shifted.c[i] += shift[i];
    }
    std::vector<RationalVector> truth = test::Referee(shifted).outcomes();
    const SimultaneousResult found = simultaneous(d.twice.problem);
    EXPECT_EQ(found.outcomes.size(), truth.size()) << trial;
    for (RationalVector& c : truth) {
      for (int i = 0; i < m; ++i) c[i] -= shift[i];
      EXPECT_TRUE(std::any_of(found.outcomes.begin(), found.outcomes.end(),
                              [&](const Outcome& o) { return near(c, o.c_plus, d.twice.problem); }))
          << trial << " misses " << to_double(c).transpose();
    }
  }
}

// A wedge: the contact moves only along (1, -2), and friction takes what the normal gives. The
// least normal impulse that stops it is 2/3, the most 2; what it gives back lies between.
TEST(RestitutionReferee, AWedgedContactGivesBackMoreOrLess) {
  const ImpactProblem p{.G = (Eigen::Matrix2d() << 1, -2, -2, 4).finished(),
                        .c = Eigen::Vector2d(-1, 2),
                        .mu = VectorXd::Constant(1, 0.25),
                        .e = VectorXd::Constant(1, 0.25)};
  const SimultaneousResult found = simultaneous(p);
  EXPECT_FALSE(found.enumerated);
  ASSERT_EQ(found.outcomes.size(), 2u);
  std::vector<double> lifts{found.outcomes[0].c_plus[0], found.outcomes[1].c_plus[0]};
  std::sort(lifts.begin(), lifts.end());
  // given e λn at rate 1 - 2 μ = 1/2
  EXPECT_NEAR(lifts[0], 0.25 * 2 / 3 / 2, 1e-12);
  EXPECT_NEAR(lifts[1], 0.25 * 2 / 2, 1e-12);
}

}  // namespace
}  // namespace routh
