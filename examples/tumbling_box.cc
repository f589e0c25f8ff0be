// Through time: a box falls on a corner, tumbles and comes to rest.

#include <cstdio>

#include "routh/model/planar.h"
#include "routh/simulate/time_stepping.h"

int main() {
  routh::PlanarMechanism world;
  const int box =
      world.add(routh::Body{.name = "box", .mass = 1, .inertia = routh::box_inertia(1, 0.4, 0.2)});
  const routh::Edge floor;  // the half-plane y < 0
  for (const double x : {-0.2, 0.2}) {
    for (const double y : {-0.1, 0.1})
      world.add(routh::ContactPair{"corner", routh::Round{box, {x, y}}, floor, 0.6});
  }
  const routh::State start{0, Eigen::Vector3d(0, 0.5, 0.8), Eigen::Vector3d(1, 0, -3)};
  const routh::Trajectory t = simulate(world, start, {.h = 1e-3, .alpha = 0.5, .end = 2});
  for (const routh::Event& e : t.events)
    std::printf("%.4f s  %s\n", e.time, std::string(to_string(e.kind)).c_str());
  std::printf("rests at x = %.4f m, height %.4f m\n", t.final.q[0], t.final.q[1]);
  return t.final.v.norm() < 1e-9 && t.energy.back() < t.energy.front() ? 0 : 1;
}
