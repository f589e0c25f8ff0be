// Set-valued impacts through time: P1 section 4.

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "routh/io/scenario.h"
#include "routh/simulate/ensemble.h"
#include "routh/simulate/time_stepping.h"

namespace routh {
namespace {

using Eigen::VectorXd;

/// Uniform rod of length L = 2 l at angle a, tip sliding with the friction pressing it on: with
/// p = 1 + 3 cos a (cos a - mu sin a) < 0 no force keeps the contact (Painlevé).
TEST(Painleve, ARodThatJamsStopsItsSlipByAnImpactWithoutCollision) {
  const double a = std::numbers::pi / 3, mu = 2;
  ASSERT_LT(1 + 3 * std::cos(a) * (std::cos(a) - mu * std::sin(a)), 0);
  const io::Scenario s = io::load_scenario("painleve-rod");
  const Trajectory t =
      simulate(*s.mechanism(), {0, s.q, s.v}, HybridOptions{.end = 0.5, .every = 0.01});
  ASSERT_EQ(t.status, SimulationStatus::kDone) << t.message;
  ASSERT_FALSE(t.events.empty());
  const Event& e = t.events.front();
  EXPECT_EQ(e.kind, EventKind::kImpact);
  EXPECT_EQ(e.time, 0);
  EXPECT_GT(e.impulse[0], 0.01);
  // by Routh's law the tip ends at rest: what a pin at the tip would do to the rod
  const Contact tip = s.mechanism()->terms(s.q, s.v).contacts[0];
  EXPECT_NEAR(tip.Jn.dot(e.v_plus), 0, 1e-9);
  EXPECT_NEAR(tip.Jt.row(0).dot(e.v_plus), 0, 1e-9);
  EXPECT_NEAR(tip.Jn.dot(e.v_minus), 0, 1e-12);
  const double spin = 1.5 * std::sin(a) * s.v[0] / 1.0;  // angular momentum about the tip
  EXPECT_NEAR(e.v_plus[2], -spin, 1e-9);
  EXPECT_LT(t.energy.back(), t.energy.front());
}

TEST(Painleve, BelowTheBoundTheRodSlidesOn) {
  const io::Scenario s = io::load_scenario("painleve-rod", {{"friction", 1.3}});
  const Trajectory t =
      simulate(*s.mechanism(), {0, s.q, s.v}, HybridOptions{.end = 0.01, .every = 0.01});
  for (const Event& e : t.events) EXPECT_NE(e.kind, EventKind::kImpact);
}

/// p = 1 + 3 cos a (cos a - mu sin a) and b, the normal acceleration of the tip without contact, of
/// the uniform rod of mass and length 1: p λ + b = 0 while the tip slides.
struct Rod {
  double p, b;
};
Rod rod(const io::Scenario& s, double friction, double g) {
  const double a = s.q[2], rate = s.v[2];
  return {1 + 3 * std::cos(a) * (std::cos(a) - friction * std::sin(a)),
          -g + 0.5 * rate * rate * std::sin(a)};
}

TEST(Painleve, WhereSeveralContinuationsExistItSaysSo) {
  // p < 0 < b: sliding with λ = -b/p, lifting off with b, and jamming are all consistent
  for (const double angle : {40.0, 50.0, 60.0, 70.0}) {
    for (const double friction : {1.0, 1.6, 2.0}) {
      for (const double rate : {-3.0, -6.0, -9.0}) {
        const io::Scenario s = io::load_scenario(
            "painleve-rod", {{"angle_deg", angle}, {"friction", friction}, {"rate", rate}});
        const auto [p, b] = rod(s, friction, 9.81);
        const Trajectory t =
            simulate(*s.mechanism(), {0, s.q, s.v}, HybridOptions{.end = 0.01, .every = 0.01});
        const bool told =
            !t.events.empty() && t.events[0].kind == EventKind::kAmbiguity && t.events[0].time == 0;
        EXPECT_EQ(told, p <= 0 && b > 0) << angle << " " << friction << " " << rate;
        if (!told) continue;
        const std::vector<Continuation>& ways = t.events[0].continuations;
        ASSERT_EQ(ways.size(), 3u);
        EXPECT_EQ(ways[0].mode, t.hybrid()->modes[0]);  // contacts persist
        EXPECT_FALSE(ways[0].impact);
        EXPECT_EQ(ways[1].mode[0], Grip::kOpen);
        EXPECT_FALSE(ways[1].impact);
        EXPECT_EQ(ways[2].mode[0], Grip::kStick);
        EXPECT_TRUE(ways[2].impact);
        EXPECT_EQ(t.hybrid()->modes[0][0], Grip::kSlideNegative);
      }
    }
  }
}

TEST(Painleve, ASlideWhoseForceGrowsWithoutBoundEndsInAnImpact) {
  // at 40 degrees p rises to zero while b > 0: the force -b/p diverges within 8 ms
  const io::Scenario s = io::load_scenario("painleve-rod", {{"angle_deg", 40}, {"rate", -6}});
  const Trajectory t =
      simulate(*s.mechanism(), {0, s.q, s.v}, HybridOptions{.end = 0.1, .every = 0.01});
  EXPECT_EQ(t.status, SimulationStatus::kDone) << t.message;
  ASSERT_GE(t.events.size(), 2u);
  EXPECT_EQ(t.events[0].kind, EventKind::kAmbiguity);
  EXPECT_EQ(t.events[1].kind, EventKind::kImpact);
  EXPECT_LT(t.events[1].time, 0.008);
  const Contact tip = s.mechanism()->terms(t.q.back(), t.v.back()).contacts[0];
  EXPECT_NEAR(tip.Jn.dot(t.v.back()), 0, 1e-9);
}

TEST(Painleve, StrictLogicStopsWhereSeveralContinuationsExist) {
  const io::Scenario s = io::load_scenario("painleve-rod", {{"rate", -8}});
  const Trajectory t = simulate(*s.mechanism(), {0, s.q, s.v},
                                HybridOptions{.end = 0.5, .every = 0.01, .strict = true});
  EXPECT_EQ(t.status, SimulationStatus::kAmbiguous);
  EXPECT_EQ(t.final.time, 0);
  EXPECT_NE(t.message.find("lifts off {}"), std::string::npos) << t.message;
  EXPECT_NE(t.message.find("impact without collision {tip}"), std::string::npos) << t.message;
}

TEST(Painleve, TheSlideThatIsTakenHasTheForceOfTheClosedForm) {
  const io::Scenario s = io::load_scenario("painleve-rod", {{"rate", -8}});
  const auto [p, b] = rod(s, 2, 9.81);
  EXPECT_NEAR(instant(*s.mechanism(), {0, s.q, s.v}, HybridOptions{}).normal[0], -b / p, 1e-9);
}

TEST(Painleve, TimeSteppingSaysWhichOfThemItTook) {
  // its step finds the smallest impulse first: none, the rod lifts off
  const io::Scenario s = io::load_scenario("painleve-rod", {{"rate", -8}});
  const Trajectory t =
      simulate(*s.mechanism(), {0, s.q, s.v}, TimeSteppingOptions{.h = 1e-4, .end = 0.02});
  ASSERT_EQ(t.events.size(), 2u);
  EXPECT_EQ(t.events[0].kind, EventKind::kAmbiguity);
  ASSERT_EQ(t.events[0].continuations.size(), 3u);
  EXPECT_EQ(t.events[0].continuations[0].mode[0], Grip::kOpen);
  EXPECT_EQ(t.events[1].kind, EventKind::kLiftOff);
}

TEST(Painleve, TimeSteppingPassesThroughTheSameStateAndAgrees) {
  const io::Scenario s = io::load_scenario("painleve-rod");
  const State start{0, s.q, s.v};
  const VectorXd exact =
      simulate(*s.mechanism(), start, HybridOptions{.end = 0.3, .every = 0.1}).final.q;
  for (const double alpha : {0.5, 1.0}) {
    double last = HUGE_VAL;
    for (const double h : {1e-3, 2.5e-4}) {
      const VectorXd q =
          simulate(*s.mechanism(), start, TimeSteppingOptions{.h = h, .alpha = alpha, .end = 0.3})
              .final.q;
      const double error = (q - exact).norm();
      EXPECT_LT(error, alpha == 1 ? 5 * h : 10 * h * h + 1e-6) << alpha;
      EXPECT_LT(error, last);
      last = error;
    }
  }
}

TEST(Ensemble, RunsDependOnTheirIndexAlone) {
  const io::Scenario s = io::load_scenario("rocking-block");
  const State start{0, s.q, s.v};
  const HybridOptions hybrid{.end = 0.1, .every = 0.1};
  const EnsembleResult one = ensemble(*s.mechanism(), start, hybrid, {.runs = 24, .threads = 1});
  const EnsembleResult three = ensemble(*s.mechanism(), start, hybrid, {.runs = 24, .threads = 3});
  const EnsembleResult other = ensemble(*s.mechanism(), start, hybrid, {.runs = 24, .seed = 5});
  ASSERT_EQ(one.runs.size(), three.runs.size());
  int different = 0;
  for (std::size_t k = 0; k < one.runs.size(); ++k) {
    EXPECT_EQ(one.runs[k].final.q, three.runs[k].final.q);
    EXPECT_EQ(one.runs[k].word, three.runs[k].word);
    different += one.runs[k].final.v != other.runs[k].final.v;
  }
  EXPECT_GT(different, 6);
  EXPECT_GT(one.words.size(), 1u);
}

TEST(Ensemble, NoImpactGainsEnergyAndGroupsCountAllRuns) {
  for (const char* name : {"rocking-block", "tilted-box"}) {
    const io::Scenario s = io::load_scenario(name);
    const EnsembleResult r = ensemble(*s.mechanism(), {0, s.q, s.v},
                                      HybridOptions{.end = 0.3, .every = 0.1}, {.runs = 32});
    std::uint64_t words = 0, modes = 0;
    for (const EnsembleGroup& g : r.words) words += g.count;
    for (const EnsembleGroup& g : r.modes) modes += g.count;
    EXPECT_EQ(words, 32u);
    EXPECT_EQ(modes, 32u);
    for (const EnsembleRun& run : r.runs) {
      EXPECT_LT(run.largest_gain, 1e-12) << name;
      EXPECT_LE(run.energy_end, run.energy_start * (1 + 1e-9)) << name;
    }
  }
}

TEST(Ensemble, KeepsWhatWasFinishedWhenStopped) {
  const io::Scenario s = io::load_scenario("rocking-block");
  const EnsembleResult r =
      ensemble(*s.mechanism(), {0, s.q, s.v}, HybridOptions{.end = 0.05, .every = 0.05},
               {.runs = 1000, .threads = 1, .progress = [](std::uint64_t n) { return n < 10; }});
  EXPECT_TRUE(r.stopped);
  // it is asked now and then, while runs go on
  EXPECT_GE(r.runs.size(), 10u);
  EXPECT_LT(r.runs.size(), 1000u);
}

TEST(Branch, StopsWithTheBranchesItHas) {
  const io::Scenario s = io::load_scenario("rocking-block");
  const HybridOptions hybrid{.end = 0.2, .every = 0.1};
  const State start{0, s.q, s.v};
  const auto tree = [&](int most_asked) {
    int asked = 0;
    return branch(*s.mechanism(), start, motion_by(*s.mechanism(), start, hybrid), 2, 10'000,
                  [&] { return ++asked > most_asked; });
  };
  const BranchTree whole = tree(1'000'000), part = tree(1), none = tree(0);
  EXPECT_TRUE(whole.complete);
  EXPECT_FALSE(part.complete);
  EXPECT_LT(part.branches.size(), whole.branches.size());
  EXPECT_FALSE(none.complete);
  EXPECT_TRUE(none.branches.empty());
}

TEST(Branch, TheRockingBlockHasThreeExtremeOutcomes) {
  // rest, or pivoting about either corner (P1 Fig. 1); afterwards every impact has one
  const io::Scenario s = io::load_scenario("rocking-block");
  const BranchTree tree =
      branch(*s.mechanism(), {0, s.q, s.v}, HybridOptions{.end = 0.2, .every = 0.1}, 2);
  ASSERT_TRUE(tree.complete);
  EXPECT_EQ(tree.branches[0].outcomes, 3);
  int first = 0, second = 0;
  for (const Branch& b : tree.branches) {
    first += b.depth == 1;
    second += b.depth == 2;
    if (b.depth > 0) {
      EXPECT_EQ(tree.branches[b.parent].depth, b.depth - 1);
    }
  }
  EXPECT_EQ(first, 3);
  EXPECT_EQ(second, 2);  // rest has no further impact
}

// A law that has no answer ends a motion, but not what came before.
TEST(Through, AnImpactWithoutOutcomeKeepsTheMotionBefore) {
  int impacts = 0;
  const ImpactLaw tired = [&](const ImpactProblem& problem, std::uint64_t impact) {
    if (++impacts > 3) throw std::runtime_error("the law found no outcome");
    return impact_law("simultaneous")(problem, impact);
  };
  const auto check = [&](const Trajectory& t) {
    EXPECT_EQ(t.status, SimulationStatus::kStopped);
    EXPECT_NE(t.message.find("no outcome, at t ="), std::string::npos) << t.message;
    EXPECT_GT(t.final.time, 0);
    EXPECT_LT(t.final.time, 3);
    EXPECT_EQ(t.time.back(), t.final.time);
    EXPECT_GT(t.time.size(), 3u);
    impacts = 0;
  };
  const io::Scenario row = io::load_scenario("domino-row"), block = io::load_scenario("zeno-block");
  check(simulate(*row.mechanism(), {0, row.q, row.v},
                 TimeSteppingOptions{.h = 1e-3, .end = 3, .law = tired}));
  check(simulate(*block.mechanism(), {0, block.q, block.v},
                 HybridOptions{.end = 3, .every = 0.01, .law = tired}));
}

}  // namespace
}  // namespace routh
