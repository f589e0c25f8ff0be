// Exact sets of the named scenarios.

#include <gtest/gtest.h>

#include "routh/impact/exact.h"
#include "routh/io/ask.h"
#include "routh/io/document.h"
#include "routh/io/results.h"
#include "routh/simulate/ensemble.h"

namespace routh::io {
namespace {

const std::vector<std::string> kTwoContacts{"rocking-block", "compass-gait",  "box-and-wall",
                                            "ramone",        "rimless-wheel", "pushing"};

TEST(ExactScenarios, HoldEveryOutcomeOfTheOtherLaws) {
  for (const std::string& name : kTwoContacts) {
    const ImpactCase impact = impact_case(load_scenario(name));
    const ExactResult r = exact(impact.problem());
    ASSERT_EQ(r.status, ExactStatus::kExact) << name;
    const double speed = impact.problem().c.norm();
    for (const OutcomeRow& row : law_paths(impact))
      EXPECT_LT(nearest_point(r.pieces, row.outcome.c_plus).distance, 1e-9 * speed)
          << name << " " << row.law();
    const SetResult set = set_valued(
        impact.problem(), {.samples = 2000, .step = impact.scenario.run.impact.step, .keep = 2000});
    for (const SetSample& s : set.kept)
      EXPECT_LT(nearest_point(r.pieces, s.outcome.c_plus).distance, 1e-9 * speed) << name;
  }
}

TEST(ExactScenarios, CornersOfTheCompassGait) {
  const ExactResult r = exact(impact_case(load_scenario("compass-gait")).problem());
  ASSERT_EQ(r.pieces.size(), 2u);
  // trailing foot between sticking, sliding at 0.1285 and lifting; and the leading foot may lift
  // instead
  const std::vector<Eigen::Vector4d> corners{
      {0, 0, 0, 0}, {0, 0, 0, 0.1285}, {0, 0.0996, 0, 0.1980}};
  for (const Eigen::Vector4d& c : corners) EXPECT_LT(nearest_point(r.pieces, c).distance, 1e-4);
  const ImpactCase impact = impact_case(load_scenario("compass-gait"));
  EXPECT_NEAR(maximize(impact, r.pieces, parse_objective(impact, "", "normal.A")).value, 0.0374,
              1e-4);
  EXPECT_NEAR(maximize(impact, r.pieces, parse_objective(impact, "", "tangential.B")).value, 0.1980,
              1e-4);
  EXPECT_NEAR(minimize(impact, r.pieces, parse_objective(impact, "", "energy")).value, 0, 1e-12);
}

TEST(ExactScenarios, ExtremesOfEnergyAgreeWithTheLaws) {
  // the simultaneous outcome that lifts the trailing foot keeps the most energy
  const ImpactCase impact = impact_case(load_scenario("compass-gait"));
  double most = 0;
  for (const OutcomeRow& row : law_paths(impact)) most = std::max(most, row.energy);
  const ExactResult r = exact(impact.problem());
  EXPECT_GE(maximize(impact, r.pieces, {"energy"}).value, most - 1e-9);
  EXPECT_LT(maximize(impact, r.pieces, {"energy"}).value,
            kinetic_energy(impact.scenario.terms, impact.scenario.v));
}

TEST(ExactScenarios, WitnessesReachTheExtremesOfTheSet) {
  for (const std::string& name : kTwoContacts) {
    const ImpactCase impact = impact_case(load_scenario(name));
    const ExactResult r = exact(impact.problem());
    const std::vector<Objective> all = every_objective(impact);
    const Questions asked{.maximize = all, .minimize = all};
    const WitnessResult found = witnesses(impact.problem(), witness_targets(asked));
    ASSERT_EQ(found.status, WitnessStatus::kFound) << name;
    const Answers a = answers(impact, {}, false, asked, found);
    const double close = 1e-9 * std::max(1.0, impact.problem().c.norm());
    for (std::size_t k = 0; k < all.size(); ++k) {
      EXPECT_NEAR(a.maximize[k].value, maximize(impact, r.pieces, all[k]).value, close)
          << name << " " << all[k].name;
      EXPECT_NEAR(a.minimize[k].value, minimize(impact, r.pieces, all[k]).value, close)
          << name << " " << all[k].name;
      // beside them what no outcome exceeds
      EXPECT_GE(*a.maximize[k].bound, maximize(impact, r.pieces, all[k]).value - 1e-12);
      EXPECT_LE(*a.minimize[k].bound, minimize(impact, r.pieces, all[k]).value + 1e-12);
    }
  }
}

/// A scenario with friction so much higher in all contacts, and one velocity.
ImpactCase nudged(const std::string& name, double friction, Eigen::Index velocity, double by) {
  Scenario scenario = load_scenario(name);
  for (Contact& contact : scenario.terms.contacts) contact.mu += friction;
  if (velocity >= 0) scenario.v[velocity] += by;
  return impact_case(std::move(scenario));
}

TEST(ExactScenarios, ExtremesMoveAsDifferencesOfExactSetsSay) {
  int smooth = 0;
  for (const std::string name : {"box-and-wall", "compass-gait", "pushing"}) {
    const ImpactCase impact = impact_case(load_scenario(name));
    for (const Objective& o : every_objective(impact)) {
      for (const bool most : {true, false}) {
        Asked asked{.law = "exact"};
        (most ? asked.questions.maximize : asked.questions.minimize) = {o};
        asked.threads = 1;
        asked.sensitivity = true;
        const ImpactReport report = ask(impact, asked);
        const Extreme& e = (most ? report.answers.maximize : report.answers.minimize)[0];
        if (!e.sensitivity) continue;
        const auto value = [&](double friction, Eigen::Index velocity, double by) {
          const ImpactCase other = nudged(name, friction, velocity, by);
          const std::vector<Polytope> set = exact(other.problem(), {.precision = 1e-15}).pieces;
          return (most ? maximize(other, set, o) : minimize(other, set, o)).value;
        };
        constexpr double h = 1e-6;
        const double size = 1 + std::abs(e.value);
        if (e.sensitivity->friction.allFinite()) {
          ++smooth;
          EXPECT_NEAR(e.sensitivity->friction.sum(), (value(h, -1, 0) - value(-h, -1, 0)) / (2 * h),
                      1e-4 * size)
              << name << " " << o.name << most;
        }
        for (Eigen::Index k = 0; k < impact.scenario.v.size(); ++k) {
          if (!std::isfinite(e.sensitivity->velocity[k])) continue;
          ++smooth;
          EXPECT_NEAR(e.sensitivity->velocity[k], (value(0, k, h) - value(0, k, -h)) / (2 * h),
                      1e-4 * size)
              << name << " " << o.name << most << " " << k;
        }
      }
    }
  }
  EXPECT_GT(smooth, 30);
}

TEST(ExactScenarios, CornersOfTheHullMoveWithTheirWitnesses) {
  const ImpactCase impact = impact_case(load_scenario("box-and-wall"));
  Asked asked{.law = "exact"};
  asked.sensitivity = true;
  const ImpactReport report = ask(impact, asked);
  int known = 0;
  for (const MovingCorner& corner : report.corners) {
    if (!corner.moves) continue;
    ++known;
    // faster in all is faster by as much
    const Eigen::VectorXd along = corner.moves->v.c_plus * impact.scenario.v;
    if (along.allFinite()) {
      EXPECT_LT((along - corner.c).norm(), 1e-9);
    }
  }
  EXPECT_GT(known, 2);
}

TEST(ExactScenarios, LinearFormsAreReadAndAnsweredAlike) {
  const ImpactCase impact = impact_case(load_scenario("compass-gait"));
  const ExactResult r = exact(impact.problem());
  const Objective a = parse_objective(impact, "", "normal.A"),
                  b = parse_objective(impact, "", "normal.B");
  const Objective both = parse_objective(impact, "", "2*normal.A - normal.B*0.5");
  EXPECT_LT((both.q - (2 * a.q - 0.5 * b.q)).norm(), 1e-15);
  const Objective v = parse_objective(impact, "", "v[0]");
  for (const Polytope& piece : r.pieces) {
    for (const Eigen::VectorXd& c : piece.corners)
      EXPECT_NEAR(v.q.dot(c) + v.constant, lift_velocity(impact, c)[0], 1e-12);
  }
  for (const char* bad : {"", "normal.Z", "v[99]", "v[-1]", "3", "normal.A +", "normal.A normal.B",
                          "normal.A*normal.B", "system(1)", "1e400*v[0]", "--v[0]",
                          "impulse + v[0]", "impulse.Z", "energy + v[0]"})
    EXPECT_THROW((void)parse_objective(impact, "--maximize", bad), InputError) << bad;
}

TEST(ExactScenarios, ThreeContactsAreExactToo) {
  const ImpactCase impact = impact_case(load_scenario("three-point-landing"));
  const ExactResult r = exact(impact.problem());
  ASSERT_EQ(r.status, ExactStatus::kExact);
  for (const OutcomeRow& row : law_paths(impact))
    EXPECT_LT(nearest_point(r.pieces, row.outcome.c_plus).distance, 1e-9) << row.law();
}

TEST(ExactScenarios, FourContactsAreExactToo) {
  const ImpactCase impact = impact_case(load_scenario("four-point-landing"));
  const ExactResult r = exact(impact.problem());
  ASSERT_EQ(r.status, ExactStatus::kExact);
  for (const OutcomeRow& row : law_paths(impact))
    EXPECT_LT(nearest_point(r.pieces, row.outcome.c_plus).distance, 1e-9) << row.law();
}

TEST(ExactScenarios, FourContactsOfTwoBodiesAreBracketed) {
  const ImpactCase impact = impact_case(load_scenario("block-on-block"));
  const ExactResult r = exact(impact.problem(), {.max_polyhedra = 60, .max_seconds = 20});
  ASSERT_NE(r.status, ExactStatus::kIncomplete);
  // sequences of impacts for ever shorter ways end when nothing moves faster than 1e-9
  for (const OutcomeRow& row : law_paths(impact))
    EXPECT_LT(nearest_point(r.pieces, row.outcome.c_plus).distance, 1e-8) << row.law();
}

// Masses are divided out of the problem; the centre of every piece lies in the set, in any units.
TEST(ExactScenarios, AreTheSameInAnyUnits) {
  for (const std::string& name : kTwoContacts) {
    const ImpactProblem p = impact_case(load_scenario(name)).problem();
    const ExactResult r = exact(p);
    for (const double mass : {1e-9, 1e-4, 1e9}) {
      for (const double speed : {1e-9, 1.0, 1e9}) {
        ImpactProblem q = p;
        q.G /= mass;
        q.c *= speed;
        const ExactResult other = exact(q);
        ASSERT_EQ(other.status, ExactStatus::kExact) << name;
        ASSERT_EQ(other.pieces.size(), r.pieces.size()) << name;
        for (const Polytope& piece : other.pieces) {
          Eigen::VectorXd centre = Eigen::VectorXd::Zero(p.c.size());
          for (const Eigen::VectorXd& corner : piece.corners) {
            EXPECT_LT(nearest_point(r.pieces, corner / speed).distance, 1e-9 * p.c.norm()) << name;
            centre += corner / static_cast<double>(piece.corners.size());
          }
          EXPECT_LT(nearest_point(other.pieces, centre).distance, 1e-14 * q.c.norm()) << name;
        }
      }
    }
  }
}

TEST(ExactScenarios, NoPieceLiesInsideAnother) {
  for (const std::string& name : kTwoContacts) {
    const ExactResult r = exact(impact_case(load_scenario(name)).problem());
    for (const Polytope& a : r.pieces) {
      for (const Polytope& b : r.pieces) {
        if (&a == &b) continue;
        bool inside = true;
        for (const Eigen::VectorXd& corner : a.corners)
          inside &= nearest_point({b}, corner).distance < 1e-12;
        EXPECT_FALSE(inside) << name;
      }
    }
  }
}

TEST(ExactScenarios, ImpactsOfAnEnsembleLandInTheSet) {
  for (const char* name : {"rocking-block", "box-and-wall"}) {
    const ImpactCase impact = impact_case(load_scenario(name));
    const std::vector<Polytope> pieces = exact(impact.problem()).pieces;
    const EnsembleResult runs =
        ensemble(*impact.scenario.mechanism(), {0, impact.scenario.q, impact.scenario.v},
                 HybridOptions{.end = 1e-3, .every = 1e-3}, {.runs = 100, .keep = 100});
    ASSERT_EQ(runs.kept.size(), 100u);
    for (const Trajectory& t : runs.kept) {
      ASSERT_FALSE(t.events.empty()) << name;
      const Eigen::VectorXd c = impact.reduced.J * t.events.front().v_plus;
      EXPECT_LT(nearest_point(pieces, c).distance, 1e-8) << name;
    }
  }
}

}  // namespace
}  // namespace routh::io
