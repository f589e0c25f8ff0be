// Laws are values in one list.

#include "routh/simulate/laws.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <stdexcept>

#include "random_problem.h"
#include "routh/impact/simultaneous.h"

namespace routh {
namespace {

TEST(Laws, HaveOneNameEachAndSayWhatTheyAre) {
  std::set<std::string> names;
  for (const Law& one : laws()) {
    EXPECT_TRUE(names.insert(one.name).second) << one.name;
    EXPECT_FALSE(one.about.empty()) << one.name;
    EXPECT_EQ(&law_named(one.name), &one);
  }
  EXPECT_EQ(laws().front().name, "all");
  EXPECT_EQ(impact_law_names(),
            (std::vector<std::string>{"simultaneous", "sequential", "set", "binary", "lzb"}));
  EXPECT_THROW((void)law_named("none"), std::invalid_argument);
  EXPECT_THROW((void)impact_law("exact"), std::invalid_argument);
}

TEST(Laws, ToldToStopDoNotClaimThatTheyHaveListedAll) {
  const ImpactProblem problem = test::rocking_block();
  for (const Law& one : laws()) {
    if (!one.outcomes) continue;
    EXPECT_TRUE(one.outcomes(problem, {}).all) << one.name;
    EXPECT_FALSE(one.outcomes(problem, [] { return true; }).all) << one.name;
  }
}

// A law that nobody has heard of: every contact sticks. Its outcomes are all it needs to be a law
// of simulations.
TEST(Laws, AreMovedByTheirOutcomesAlone) {
  const Law stick{.name = "stick",
                  .about = "velocity stops",
                  .outcomes = [](const ImpactProblem& p, const auto&) {
                    Outcome rest;
                    rest.c_plus = Eigen::VectorXd::Zero(p.c.size());
                    return Listed{{rest, rest}};
                  }};
  const ImpactProblem problem = test::rocking_block();
  const ChosenOutcome chosen = impact_law(stick)(problem, 0);
  EXPECT_EQ(chosen.outcomes, 2);
  EXPECT_EQ(chosen.outcome.c_plus.norm(), 0);

  const Law none{.name = "none",
                 .about = "gives up",
                 .outcomes = [](const ImpactProblem&, const auto&) { return Listed{}; }};
  EXPECT_THROW((void)impact_law(none)(problem, 0), std::runtime_error);
  // the simultaneous law is moved in no other way
  EXPECT_EQ(impact_law("simultaneous")(problem, 7).outcome.c_plus,
            simultaneous(problem).outcomes.front().c_plus);
}

}  // namespace
}  // namespace routh
