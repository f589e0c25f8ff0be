#include "routh/io/results.h"

#include <gtest/gtest.h>

namespace routh::io {
namespace {

/// The outcome whose contact `i` has this state, or nullptr.
const OutcomeRow* with_state(const ImpactReport& report, int i, ContactState state) {
  for (const OutcomeRow& row : report.outcomes) {
    if (row.modes[i] == state) return &row;
  }
  return nullptr;
}

TEST(KnownResults, CompassGaitHasThreeSimultaneousOutcomes) {
  const ImpactCase impact = impact_case(load_scenario("compass-gait"));
  const ImpactReport report = report_simultaneous(impact);
  ASSERT_EQ(report.outcomes.size(), 3u);
  const OutcomeRow* lifts = with_state(report, 1, ContactState::kSeparating);
  const OutcomeRow* slides = with_state(report, 1, ContactState::kSlidingPositive);
  ASSERT_TRUE(lifts && slides && with_state(report, 1, ContactState::kSticking));
  EXPECT_NEAR(lifts->outcome.c_plus[1], 0.0996, 5e-5);
  EXPECT_NEAR(lifts->outcome.c_plus[3], 0.1980, 5e-5);
  EXPECT_NEAR(slides->outcome.c_plus[3], 0.1285, 5e-5);
  for (const OutcomeRow& row : report.outcomes) EXPECT_EQ(row.modes[0], ContactState::kSticking);
}

TEST(KnownResults, BoxAndWallSlidesOnTheFloorAndLiftsOffTheWall) {
  const ImpactCase impact = impact_case(load_scenario("box-and-wall"));
  const ImpactReport report = report_sequential(impact);
  ASSERT_EQ(report.outcomes.size(), 1u);
  EXPECT_NEAR(report.outcomes[0].outcome.c_plus[2], 0.3058, 5e-5);
  EXPECT_NEAR(report.outcomes[0].outcome.c_plus[1], 0.1056, 5e-5);
  EXPECT_NEAR(report_simultaneous(impact).outcomes.at(0).velocity.norm(), 0, 1e-14);
}

TEST(KnownResults, RamonesTrailingFootSticksSlidesOrLifts) {
  const ImpactReport report = report_simultaneous(impact_case(load_scenario("ramone")));
  ASSERT_EQ(report.outcomes.size(), 3u);
  EXPECT_TRUE(with_state(report, 1, ContactState::kSticking));
  EXPECT_TRUE(with_state(report, 1, ContactState::kSlidingNegative));
  EXPECT_TRUE(with_state(report, 1, ContactState::kSeparating));
}

TEST(KnownResults, TheDiskStackIsAtRestSimultaneouslyAndMirrorsSequentially) {
  const ImpactCase impact = impact_case(load_scenario("disk-stack"));
  EXPECT_LT(report_simultaneous(impact).outcomes.at(0).velocity.norm(), 1e-14);
  const SequentialResult left = sequential(impact.problem(), {.order = {2, 3, 0, 1, 4}});
  const SequentialResult right = sequential(impact.problem(), {.order = {3, 2, 1, 0, 4}});
  ASSERT_EQ(left.outcomes.size(), 1u);
  ASSERT_EQ(right.outcomes.size(), 1u);
  // mirrored: A and B, C and D change places
  EXPECT_NEAR(left.outcomes[0].outcome.c_plus[2], right.outcomes[0].outcome.c_plus[3], 1e-8);
  EXPECT_NEAR(left.outcomes[0].outcome.c_plus[0], right.outcomes[0].outcome.c_plus[1], 1e-8);
}

// The sampler's counts that an accurate solver must show (P1 prints 2.67, 2.27, 1.97, 3.20).
TEST(KnownResults, LcpsPerSampleAndAmbiguity) {
  const auto sampled = [](const char* name) {
    const ImpactCase impact = impact_case(load_scenario(name));
    return set_valued(impact.problem(), {.samples = 1 << 14,
                                         .step = impact.scenario.run.impact.step,
                                         .limit = impact.scenario.run.impact.limit});
  };
  const auto lcps = [](const SetResult& r) {
    return static_cast<double>(r.steps) / static_cast<double>(r.samples);
  };
  const auto ambiguous = [](const SetResult& r) {
    return static_cast<double>(r.ambiguous_samples) / static_cast<double>(r.samples);
  };
  const SetResult block = sampled("rocking-block"), compass = sampled("compass-gait"),
                  box = sampled("box-and-wall"), ramone = sampled("ramone");
  EXPECT_NEAR(lcps(block), 2.45, 0.05);
  EXPECT_NEAR(lcps(compass), 2.2, 0.08);
  EXPECT_NEAR(lcps(box), 1.55, 0.05);
  EXPECT_NEAR(lcps(ramone), 3.0, 0.05);
  EXPECT_EQ(block.ambiguous_steps + box.ambiguous_steps, 0u);
  EXPECT_NEAR(ambiguous(compass), 0.97, 0.03);
  EXPECT_EQ(ambiguous(ramone), 1);
  // RAMone's set is not a point: the foot lifts in some samples and sticks in others
  EXPECT_GT(ramone.c_max[1] - ramone.c_min[1], 1e-4);
  EXPECT_GT(ramone.c_max[3] - ramone.c_min[3], 0.02);
  for (const SetResult* r : {&block, &compass, &box, &ramone}) EXPECT_LT(r->max_residual, 1e-10);
}

TEST(Report, AllHasEveryOutcomeOnce) {
  const ImpactCase impact = impact_case(load_scenario("compass-gait"));
  const ImpactReport all = report_all(impact);
  EXPECT_EQ(all.outcomes.size(), 3u);  // the sequential outcome is one of the simultaneous ones
  const ImpactCase block = impact_case(load_scenario("rocking-block"));
  EXPECT_EQ(report_all(block).outcomes.size(), 3u);
}

TEST(Report, TheVerdictSaysWhatContactsDo) {
  const ImpactCase impact = impact_case(load_scenario("compass-gait"));
  const std::string all = verdict(impact, report_all(impact));
  EXPECT_EQ(all.rfind("NOT unique: 3 outcomes", 0), 0u) << all;
  EXPECT_NE(all.find("B sticks, slides or separates"), std::string::npos) << all;
  EXPECT_NE(all.find("velocities spread over 0.198 m/s"), std::string::npos) << all;
  const std::string in_turn = verdict(impact, report_sequential(impact));
  EXPECT_EQ(in_turn.rfind("unique by the sequential law: one outcome", 0), 0u) << in_turn;
}

TEST(Report, EnergyAndVelocityAgreeWithTheImpulse) {
  const ImpactCase impact = impact_case(load_scenario("ramone"));
  const double before = kinetic_energy(impact.scenario.terms, impact.scenario.v);
  for (const OutcomeRow& row : report_simultaneous(impact).outcomes) {
    EXPECT_LT((impact.reduced.J * row.velocity - row.outcome.c_plus).norm(), 1e-12);
    EXPECT_LT(row.energy, before);
  }
}

TEST(Report, CsvHasOneRowPerOutcomeAndAsManyCellsAsTitles) {
  const ImpactCase impact = impact_case(load_scenario("rocking-block"));
  const std::string csv = to_csv(impact, report_sequential(impact));
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 3);
  const std::string header = csv.substr(0, csv.find('\n'));
  const std::string row =
      csv.substr(header.size() + 1, csv.find('\n', header.size() + 1) - header.size() - 1);
  EXPECT_EQ(std::count(header.begin(), header.end(), ','), std::count(row.begin(), row.end(), ','));
}

TEST(Report, SingleTellsThePath) {
  const ImpactCase impact = impact_case(load_scenario("box-and-wall"));
  const ImpactReport report = report_single(impact, 1);
  ASSERT_EQ(report.outcomes.size(), 1u);
  EXPECT_FALSE(report.outcomes[0].segments.empty());
  EXPECT_TRUE(to_json(impact, report)["outcomes"][0].contains("path"));
}

}  // namespace
}  // namespace routh::io
