// Hybrid executions off the beaten path: they finish, they say which way they went, and they agree
// with time-stepping.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>

#include "random_mechanism.h"
#include "routh/io/document.h"
#include "routh/io/mode_graph.h"
#include "routh/io/scenario.h"
#include "routh/simulate/ensemble.h"
#include "routh/simulate/shared_forces.h"
#include "soak.h"

namespace routh {
namespace {

using Eigen::Vector2d;
using Eigen::VectorXd;

bool ambiguous(const Trajectory& t) {
  return std::any_of(t.events.begin(), t.events.end(),
                     [](const Event& e) { return e.outcomes > 1; });
}

TEST(Executions, OfRandomMechanismsFinishWithoutEnergyOrPenetration) {
  int stopped = 0;
  const int tried = test::trials(150);
  for (int k = 0; k < tried; ++k) {
    const auto [mechanism, start] = test::random_mechanism(k);
    const Trajectory t = simulate(mechanism, start, HybridOptions{.end = 0.5, .rtol = 1e-8});
    if (t.stopped()) {
      ++stopped;
      std::printf("mechanism %d: %s\n", k, t.message.c_str());
      continue;
    }
    EXPECT_LT(t.max_penetration, 1e-6) << k;
    // loops that lie flat on the floor are closed again by hundredths of a millimetre
    for (std::size_t i = 1; i < t.energy.size(); ++i) {
      EXPECT_LE(t.energy[i], t.energy[i - 1] + 3e-5 * (1 + std::abs(t.energy[0]))) << k;
      if (testing::Test::HasFailure()) break;
    }
  }
  EXPECT_LE(stopped, tried / 100);
}

TEST(Executions, OfRandomMechanismsAgreeWithTimeStepping) {
  int compared = 0;
  for (int k = 0; k < 24; ++k) {
    const auto [mechanism, start] = test::random_mechanism(k);
    const Trajectory exact = simulate(mechanism, start, HybridOptions{.end = 0.2, .rtol = 1e-8});
    if (exact.stopped() || ambiguous(exact)) continue;
    double error[2];
    for (const int i : {0, 1}) {
      const Trajectory t =
          simulate(mechanism, start, TimeSteppingOptions{.h = i == 0 ? 1e-3 : 1e-4, .end = 0.2});
      error[i] = (t.final.q - exact.final.q).norm();
    }
    EXPECT_TRUE(error[1] < 1e-4 || error[1] < 0.3 * error[0])
        << k << ": " << error[0] << " " << error[1];
    ++compared;
  }
  EXPECT_GE(compared, 12);
}

// Forces that contacts share: a block on two corners, pushed along the floor, is four forces in
// three equations. Some within the cones hold it up to the push mu m g, whatever each corner bears.
TEST(SharedForces, HoldABlockUpToItsFriction) {
  for (const double mass : {1e-6, 1.0, 1e6}) {
    const double mu = 0.5, g = 10;
    PlanarMechanism m;
    m.gravity = {0, -g};
    const int b = m.add(Body{.name = "block", .mass = mass, .inertia = 0.3 * mass});
    for (const double side : {-1.0, 1.0})
      m.add(ContactPair{side < 0 ? "l" : "r", {b, {side, 0}, 0}, Edge{}, mu});
    const VectorXd zero = VectorXd::Zero(3);
    const Mode stuck(2, Grip::kStick), none(2, Grip::kOpen);
    for (const double part : {0.0, 0.5, 0.999, 1.0, 1.001, 2.0}) {
      Terms terms = m.terms(zero, zero);
      terms.forces[0] = part * mu * mass * g;
      double scale = 0;
      const double spare = spare_force(terms, zero, stuck, none, scale);
      if (part == 1) {
        EXPECT_NEAR(spare, 0, 1e-9 * scale);
      } else {
        EXPECT_EQ(spare > 0, part < 1) << part;
      }
      // one corner alone cannot carry the moment, but with the other beside it
      const Mode left{Grip::kStick, Grip::kOpen}, right{Grip::kOpen, Grip::kStick};
      EXPECT_FALSE(spare_force(terms, zero, left, none, scale) >= 0) << part;
      if (part < 1) {
        EXPECT_GE(spare_force(terms, zero, left, right, scale), -1e-9 * scale) << part;
      }
    }
  }
}

// Boxes that lean on each other: what each contact bears is not known, that they rest is.
TEST(Executions, OfDominoesAndStacksComeToRest) {
  struct Row {
    const char* name;
    double n, end;
    std::size_t events;
  };
  for (const Row& row : {Row{"domino-row", 3, 2, 400}, Row{"box-stack", 10, 1, 100}}) {
    const io::Scenario s = io::load_scenario(row.name, {{"n", row.n}});
    const Trajectory t =
        simulate(*s.mechanism(), {0, s.q, s.v}, HybridOptions{.end = row.end, .every = row.end});
    EXPECT_EQ(t.status, SimulationStatus::kDone) << row.name << ": " << t.message;
    EXPECT_LT(t.events.size(), row.events) << row.name;
    EXPECT_LT(t.final.v.lpNorm<Eigen::Infinity>(), 1e-9) << row.name;
    EXPECT_LT(t.max_penetration, 1e-9) << row.name;
    // time-stepping rests as high
    const Trajectory steps =
        simulate(*s.mechanism(), {0, s.q, s.v}, TimeSteppingOptions{.h = 1e-3, .end = row.end});
    EXPECT_NEAR(t.energy.back(), steps.energy.back(), 0.02 * t.energy.front()) << row.name;
  }
}

// A corner of the body slides off the end of a face: there the normal turns from one instant to the
// next.
TEST(Executions, GoOverCorners) {
  const std::vector<io::Override> variants[] = {{{"mass", 6.3032},
                                                 {"inertia", 0.107336},
                                                 {"leg", 0.214632},
                                                 {"hips", 0.211939},
                                                 {"middle_deg", 39.1402},
                                                 {"rear_deg", 49.5726},
                                                 {"stall", 39.4062},
                                                 {"limit", 28.4715},
                                                 {"no_load", 27.9097},
                                                 {"t2", -0.0345966},
                                                 {"retract", 12.7951},
                                                 {"ledge", 0.187763},
                                                 {"distance", 0.40854},
                                                 {"friction", 1.58639},
                                                 {"friction_rear", 2.6543}},
                                                {{"mass", 7.61258},
                                                 {"inertia", 0.0959548},
                                                 {"leg", 0.183135},
                                                 {"hips", 0.165651},
                                                 {"middle_deg", 33.0728},
                                                 {"rear_deg", 35.7073},
                                                 {"stall", 53.0966},
                                                 {"limit", 23.818},
                                                 {"no_load", 28.241},
                                                 {"t2", -0.0425401},
                                                 {"retract", 15.059},
                                                 {"ledge", 0.186979},
                                                 {"distance", 0.405115},
                                                 {"friction", 2.00619},
                                                 {"friction_rear", 2.27461}}};
  for (const std::vector<io::Override>& set : variants) {
    const io::Scenario s = io::load_scenario("rhex-ledge", set);
    const Trajectory t = simulate(*s.mechanism(), {0, s.q, s.v},
                                  HybridOptions{.end = 1, .every = 0.01, .limbs = s.limbs()});
    EXPECT_EQ(t.status, SimulationStatus::kDone) << t.message;
    EXPECT_LT(t.steps, 20'000);
  }
}

// Controllers that read contact.

TEST(Feedback, AHopperGainsHeightUntilItsStancesLoseWhatTheyBring) {
  const io::Scenario s = io::load_scenario("spring-hopper");
  const Trajectory t =
      simulate(*s.mechanism(), {0, s.q, s.v}, HybridOptions{.end = 3, .every = 1e-3});
  ASSERT_EQ(t.status, SimulationStatus::kDone) << t.message;
  const auto hops = std::count_if(t.events.begin(), t.events.end(),
                                  [](const Event& e) { return e.kind == EventKind::kLiftOff; });
  EXPECT_GE(hops, 3);
  const Trajectory passive = [&] {
    const io::Scenario none = io::load_scenario("spring-hopper", {{"thrust", 0}});
    return simulate(*none.mechanism(), {0, none.q, none.v}, HybridOptions{.end = 3, .every = 1e-3});
  }();
  EXPECT_GT(t.final.q[0] * 9.81 + 0.5 * t.final.v[0] * t.final.v[0],
            passive.final.q[0] * 9.81 + 0.5 * passive.final.v[0] * passive.final.v[0]);
  // time-stepping reads the same contact from its gaps
  double last = HUGE_VAL;
  for (const double h : {4e-4, 1e-4}) {
    const Trajectory steps =
        simulate(*s.mechanism(), {0, s.q, s.v}, TimeSteppingOptions{.h = h, .end = 0.5});
    const Trajectory exact = simulate(*s.mechanism(), {0, s.q, s.v}, HybridOptions{.end = 0.5});
    const double error = (steps.final.q - exact.final.q).norm();
    EXPECT_LT(error, 0.5 * last);
    last = error;
  }
  EXPECT_LT(last, 1e-2);
}

/// A block on the ground that is pushed up with so many times its weight, but only while it
/// touches.
Trajectory pushed_while_it_touches(double times) {
  PlanarMechanism m;
  const int b = m.add(Body{.name = "block", .mass = 1, .inertia = 0.1});
  m.add(ContactPair{"foot", {b, {0, 0}, 0}, Edge{}, 0});
  Force jet{.name = "jet"};
  jet.feedback = [times](const Sensed& s, VectorXd& forces) {
    if (s.closed[0]) forces[1] += times * 9.81;
  };
  m.add(std::move(jet));
  return simulate(m, {0, VectorXd::Zero(3), VectorXd::Zero(3)}, HybridOptions{.end = 0.5});
}

TEST(Feedback, ModesThatAlternateForEverAreFoundAndSaid) {
  EXPECT_EQ(pushed_while_it_touches(0.5).status, SimulationStatus::kDone);
  const Trajectory t = pushed_while_it_touches(2);
  EXPECT_EQ(t.status, SimulationStatus::kEventStorm);
  EXPECT_NE(t.message.find("do not depend on contact"), std::string::npos) << t.message;
}

TEST(Feedback, NamesThatAreNoWordsCanBeRead) {
  const std::string path = ::testing::TempDir() + "routh-2nd-leg.yaml";
  std::ofstream(path) << R"(
title: names
mechanism:
  bodies:
    - {name: 2nd leg, mass: 1, inertia: 1, q: [0, 1, 0], shapes: {tip: {point: [0, 0]}}}
  planes: {ground: {point: [0, 0], normal: [0, 1]}}
  contacts: [{name: "über 1-2", between: [2nd leg.tip, ground], friction: 0}]
  forces:
    - {name: a, coordinate: 2nd leg.x, force: "3*_2nd_leg.y - _2nd_leg.x.rate + 5*closed.__ber_1_2"}
    - {name: b, body: 2nd leg, force: ["0", "_2nd_leg.y"]}
)";
  const io::Scenario s = io::load_scenario(path);
  EXPECT_NEAR(s.terms.forces[0], 3, 1e-12);
  EXPECT_NEAR(s.terms.forces[1], -9.81 + 1, 1e-12);
  VectorXd q = s.q;
  q[1] = 0;
  EXPECT_NEAR(s.mechanism()->terms(q, s.v).forces[0], 5, 1e-12);
  const std::vector<char> open{0};
  Terms told;
  s.mechanism()->evaluate(0, q, s.v, told, {.closed = &open});
  EXPECT_NEAR(told.forces[0], 0, 1e-12);
}

// Inputs with a set of values, P1's U(x).

std::string with_gust(const std::string& bounds) {
  const std::string path = ::testing::TempDir() + "routh-gust.yaml";
  std::ofstream(path) << R"(
title: gust
mechanism:
  gravity: [0, 0]
  bodies: [{name: box, mass: 2, inertia: 1}]
  forces:
    - {name: gust, body: box, force: [{between: )" +
                             bounds + R"(}, 0]}
    - {name: turn, coordinate: box.angle, force: {between: ["-t", "2*t"]}}
)";
  return path;
}

TEST(Inputs, EveryMotionKeepsOneOfTheirValues) {
  const std::string path = with_gust("[-2, 3]");
  double before = 0;
  for (const std::uint64_t seed : {1, 2, 3}) {
    io::Scenario s = io::load_scenario(path), again = s;
    ASSERT_TRUE(io::has_inputs(s));
    EXPECT_EQ(s.terms.forces[0], 0.5);  // the middle, until they are drawn
    io::draw_inputs(s, seed);
    io::draw_inputs(again, seed);
    const double force = s.terms.forces[0], w = s.mechanism()->input_values()[1];
    EXPECT_EQ(force, again.terms.forces[0]);
    EXPECT_NE(force, before);
    before = force;
    EXPECT_EQ(force, -2 + 5 * s.mechanism()->input_values()[0]);
    // x = F t²/2m, angle = (3 w - 1) t³/6
    const Trajectory t = simulate(*s.mechanism(), {0, s.q, s.v}, HybridOptions{.end = 2});
    EXPECT_NEAR(t.final.q[0], force, 1e-8);
    EXPECT_NEAR(t.final.q[2], (3 * w - 1) * 8 / 6, 1e-8);
    const Trajectory steps =
        simulate(*s.mechanism(), {0, s.q, s.v}, TimeSteppingOptions{.h = 1e-3, .end = 2});
    EXPECT_NEAR(steps.final.q[0], force, 1e-2);
  }
}

TEST(Inputs, EnsemblesFillTheirSet) {
  const io::Scenario s = io::load_scenario(with_gust("[-2, 3]"));
  const EnsembleResult r =
      ensemble(*s.mechanism(), {0, s.q, s.v}, HybridOptions{.end = 2, .every = 1}, {.runs = 400});
  double sum = 0, least = HUGE_VAL, most = -HUGE_VAL;
  for (const EnsembleRun& run : r.runs) {
    const double x = run.final.q[0];
    sum += x, least = std::min(least, x), most = std::max(most, x);
  }
  EXPECT_GE(least, -2);
  EXPECT_LE(most, 3);
  EXPECT_LT(least, -1.9);
  EXPECT_GT(most, 2.9);
  EXPECT_NEAR(sum / 400, 0.5, 3 * 5 / std::sqrt(12 * 400.0));
}

TEST(Inputs, BoundsThatMakeNoSetAreRefused) {
  EXPECT_THROW((void)io::load_scenario(with_gust("[3, -2]")), io::InputError);
  EXPECT_THROW((void)io::load_scenario(with_gust("[1, 2, 3]")), io::InputError);
  EXPECT_THROW((void)io::load_scenario(with_gust("4")), io::InputError);
}

// Ways on, followed.

TEST(Ways, BranchesFollowEveryContinuationOfPainleve) {
  const io::Scenario s = io::load_scenario("painleve-rod", {{"rate", -8}});
  const BranchTree tree =
      branch(*s.mechanism(), {0, s.q, s.v}, HybridOptions{.end = 0.1, .every = 0.05}, 1);
  ASSERT_EQ(tree.branches.size(), 4u);
  EXPECT_EQ(tree.branches[0].outcomes, 3);
  EXPECT_EQ(tree.branches[1].way, "goes on {tip:slip}");
  EXPECT_EQ(tree.branches[2].way, "lifts off {}");
  EXPECT_EQ(tree.branches[3].way, "impact without collision {tip}");
  // sliding and lifting off begin with the same velocity, the impact with another
  EXPECT_EQ(tree.branches[2].state.v, s.v);
  EXPECT_GT((tree.branches[3].state.v - s.v).norm(), 0.1);
  // in flight there is gravity alone
  const double t = tree.branches[2].final.time;
  const VectorXd flown = tree.branches[2].final.q - s.q;
  EXPECT_NEAR(flown[0], s.v[0] * t, 1e-9);
  EXPECT_NEAR(flown[2], s.v[2] * t, 1e-9);
}

TEST(Ways, EnsemblesDrawEachContinuation) {
  const io::Scenario s = io::load_scenario("painleve-rod", {{"rate", -8}});
  const EnsembleResult r =
      ensemble(*s.mechanism(), {0, s.q, s.v}, HybridOptions{.end = 0.002, .every = 0.001},
               {.runs = 96, .graph = true});
  EXPECT_EQ(r.early, 0u);
  std::map<std::string, int> modes;
  for (const EnsembleGroup& g : r.modes) modes[g.name] = static_cast<int>(g.count);
  for (const char* mode : {"{tip:slip}", "{}", "{tip}"}) {
    EXPECT_GT(modes[mode], 16) << mode;
    EXPECT_LT(modes[mode], 48) << mode;
  }
  EXPECT_EQ(r.graph.motions, 96u);
}

// The graph of modes, P4 Fig. 6.

TEST(Modes, TheGraphCountsTheWordAndItsTimes) {
  const io::Scenario s = io::load_scenario("rocking-block-p4");
  const Trajectory t = simulate(*s.mechanism(), {0, s.q, s.v},
                                HybridOptions{.end = 0.6, .every = 0.01, .dt_pseudo = 0.03});
  // {l} {r} {l} {l, r}
  ModeGraph graph;
  graph.add(t, s.terms.contacts);
  ASSERT_EQ(graph.nodes.size(), 3u);
  EXPECT_EQ(graph.nodes[0].name, "{l}");
  EXPECT_EQ(graph.nodes[0].visits, 2u);
  EXPECT_EQ(graph.nodes[0].starts, 1u);
  EXPECT_EQ(graph.nodes[1].visits, 1u);
  EXPECT_EQ(graph.nodes[2].ends, 1u);
  EXPECT_NEAR(graph.nodes[2].time, 0.6 - t.events.back().time, 1e-12);
  EXPECT_NEAR(graph.nodes[0].time + graph.nodes[1].time + graph.nodes[2].time, 0.6, 1e-12);
  ASSERT_EQ(graph.edges.size(), 3u);
  for (const ModeGraph::Edge& e : graph.edges) EXPECT_EQ(e.count, 1u);
  // twice the same: twice the counts
  ModeGraph twice = graph;
  twice.add(graph);
  EXPECT_EQ(twice.motions, 2u);
  EXPECT_EQ(twice.nodes[0].visits, 4u);
  EXPECT_EQ(twice.edges.size(), 3u);
  const std::string svg = io::to_svg(graph, "a < b & c");
  EXPECT_NE(svg.find("a &lt; b &amp; c"), std::string::npos);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
}

}  // namespace
}  // namespace routh
