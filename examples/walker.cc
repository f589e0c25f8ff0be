// A mechanism from the C++ builder: a compass-gait walker takes a step, and its trailing foot may
// do three things.

#include <cstdio>
#include <numbers>

#include "routh/impact/simultaneous.h"
#include "routh/model/planar.h"
#include "routh/simulate/reduce.h"

int main() {
  const double pitch = 78 * std::numbers::pi / 180, rate = 0.25;
  routh::PlanarMechanism walker;
  const int trailing = walker.add(routh::Body{.name = "trailing", .mass = 1, .centre = {0, -0.5}});
  const int leading = walker.add(routh::Body{.name = "leading",
                                             .parent = trailing,
                                             .joint = routh::Joint::kRevolute,
                                             .mass = 1,
                                             .centre = {0, -0.5}});
  const routh::Edge ground;  // the half-plane y < 0
  walker.add(routh::ContactPair{"A", routh::Round{leading, {0, -1}}, ground, 5});
  walker.add(routh::ContactPair{"B", routh::Round{trailing, {0, -1}}, ground, 5});

  // the hip turns about the trailing foot, legs stiff
  const Eigen::Vector4d q(0, std::cos(pitch), pitch, -2 * pitch);
  const Eigen::Vector4d v(-rate * std::cos(pitch), -rate * std::sin(pitch), rate, 0);
  const routh::ReducedImpact impact = routh::reduce(walker.terms(q, v), v);
  const auto outcomes = routh::simultaneous(impact.problem).outcomes;
  for (const routh::Outcome& o : outcomes) {
    const auto states = routh::contact_states(impact.problem, o.c_plus);
    std::printf("trailing foot %s\n", std::string(routh::to_string(states[1])).c_str());
  }
  return outcomes.size() == 3 ? 0 : 1;
}
