#include "routh/io/selected.h"

#include <gtest/gtest.h>

#include <cmath>

#include "routh/event_selected/integrate.h"
#include "routh/io/document.h"
#include "routh/io/written_system.h"

namespace routh::io {
namespace {

using Eigen::VectorXd;
using event_selected::integrate;

Scenario read(const std::string& text, const Values& values = {}) {
  Scenario scenario;
  read_selected(parse(text, "system.yaml", &values), values, scenario);
  return scenario;
}
WrittenSystem written(const std::string& text, const Values& values = {}) {
  return std::get<WrittenSystem>(read(text, values).selected()->system);
}
std::string failure(const std::string& text, const Values& values = {}) {
  try {
    (void)read(text, values);
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

/// P5 Table 4.1 as a file says it: a guard is 1 where it was crossed.
const char* const kTable = R"yaml(
states: {x: -0.4, y: -0.15, z: 0.3}
field:
  x: "gx ? (gy ? 10*x + 1 : 1 - 2*y) : (gy ? y + 1 : 1 - y)"
  y: "gx ? (gy ? y + 1 : x/2 + 2) : (gy ? 1 - x : x + 1)"
  z: "gz ? 3*z - 1 : -z - 1"
guards:
  gx: {rises: x}
  gy: {rises: y}
  gz: {rises: -z}
)yaml";

TEST(WrittenSystem, Table41FromAFileMovesAsTheBuiltInOne) {
  WrittenSystem ours = written(kTable);
  event_selected::OrderTest theirs;
  const event_selected::Options options{
      .exact = true, .t_end = 0.5, .step = {.rtol = 1e-12, .atol = 1e-12}};
  const VectorXd start = theirs.start();
  const auto a = integrate(ours, start, options);
  const auto b = integrate(theirs, theirs.start(), options);
  ASSERT_TRUE(a.finished());
  EXPECT_EQ(a.events.size(), b.events.size());
  EXPECT_LT((a.x - b.x).norm(), 1e-9);
}

TEST(WrittenSystem, RatesOfGuardsAreTheirDerivatives) {
  WrittenSystem s = written(
      "{states: {a: 1, b: 2}, field: {a: 1, b: 1}, guards: {g: {rises: "
      "a^2*b - 3}, linear: {rises: 2*a - b}}}");
  VectorXd hdot;
  s.rates(Eigen::Vector2d(1, 2), Eigen::Vector2d(3, -1), hdot);
  EXPECT_NEAR(hdot[0], 2 * 1 * 2 * 3 - 1, 1e-9);
  EXPECT_NEAR(hdot[1], 7, 1e-10);
  s.rates(Eigen::Vector2d(1e-9, 0), Eigen::Vector2d(3e9, 0), hdot);
  EXPECT_NEAR(hdot[1] / 6e9, 1, 1e-9);
}

TEST(WrittenSystem, ThePreloadedHopperKeepsItsEnergy) {
  // flight from 0.3 m above touchdown; stance about z = 1 + (20 - 9.81)/100 with √100 rad/s
  WrittenSystem hopper =
      std::get<WrittenSystem>(load_scenario("preloaded-hopper").selected()->system);
  const auto s = integrate(
      hopper, VectorXd(Eigen::Vector2d(1.3, 0)),
      {.exact = true, .t_end = 2, .reset = hopper.reset(), .step = {.rtol = 1e-11, .atol = 1e-12}});
  ASSERT_TRUE(s.finished());
  ASSERT_GE(s.events.size(), 2u);
  const double speed = std::sqrt(2 * 9.81 * 0.3);
  EXPECT_NEAR(s.events[0].time, speed / 9.81, 1e-9);
  EXPECT_NEAR(s.events[0].x[1], -speed, 1e-9);
  EXPECT_NEAR(s.events[1].x[1], speed, 1e-8);  // what goes in comes out
  // z - z* = A sin(10 t + p) with A sin p = 1 - z*, 10 A cos p = -speed
  const double below = -(20 - 9.81) / 100;  // of touchdown from the equilibrium of stance
  const double stance = 2 * (M_PI / 2 - std::atan2(-below, speed / 10)) / 10;
  EXPECT_NEAR(s.events[1].time - s.events[0].time, stance, 1e-8);
}

TEST(WrittenSystem, MistakesAreNamed) {
  const auto says = [&](const std::string& text, const std::string& what, const Values& v = {}) {
    EXPECT_NE(failure(text, v).find(what), std::string::npos) << failure(text, v);
  };
  says("{states: {}, field: {}}", "states: must name at least one state");
  says("{states: {x: 0}, field: {y: 1}}", "field.y: unknown field");
  says("{states: {x: 0, y: 0}, field: {x: 1}}", "field");
  says("{states: {x: 0}, field: {x: 1 +}}", "cannot evaluate");
  says("{states: {x: 0}, field: {x: speed}}", "cannot evaluate 'speed'");
  says("{states: {x: 0}, field: {x: 1}, guards: {x: {rises: x}}}",
       "is the name of a state as well");
  says("{states: {g: 0}, field: {g: 1}}", "is the name of a parameter as well", {{"g", 9.81}});
  says("{states: {x: 0}, field: {x: 1}, guards: {a: {rises: x, rearms: [b]}}}",
       "there is no guard 'b'; known are a");
  says("{states: {x: 0}, field: {x: 1}, guards: {a: {falls: x}}}", "unknown field");
  says("{states: {x: 0}, field: {x: 1}, guards: {a: {rises: b}, b: {rises: x}}}",
       "cannot evaluate 'b'");  // a guard is no state
}

}  // namespace
}  // namespace routh::io
