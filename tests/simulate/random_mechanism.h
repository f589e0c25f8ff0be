#pragma once

#include <cmath>
#include <numbers>
#include <random>

#include "routh/model/planar.h"
#include "routh/simulate/trajectory.h"

/// Chains and closed loops of rods that fall onto a floor beside a wall.
namespace routh::test {

struct RandomMechanism {
  PlanarMechanism mechanism;
  State start;
};

inline RandomMechanism random_mechanism(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution<>(low, high)(random);
  };
  const int bodies = 1 + static_cast<int>(random() % 6);
  const bool loop = bodies >= 3 && random() % 2 == 0;
  RandomMechanism r;
  PlanarMechanism& m = r.mechanism;
  std::vector<double> q{0, 0, uniform(-3, 3)}, v{uniform(-1, 1), uniform(-1, 0.5), uniform(-3, 3)};
  const double side = uniform(0.2, 0.6);
  double last = 0;  // length of the rod before
  for (int b = 0; b < bodies; ++b) {
    const double length = loop ? side : uniform(0.2, 0.6), mass = uniform(0.5, 2);
    Body body{.name = "rod" + std::to_string(b),
              .mass = mass,
              .inertia = rod_inertia(mass, length),
              .centre = {length / 2, 0}};
    if (b > 0) {
      body.parent = b - 1, body.joint = Joint::kRevolute, body.at = {last, 0};
      q.push_back(loop ? 2 * std::numbers::pi / bodies : uniform(-1.5, 1.5));
      v.push_back(loop ? 0 : uniform(-3, 3));
    }
    m.add(std::move(body));
    last = length;
    const double mu = random() % 4 == 0 ? 0 : uniform(0.1, 1.2);
    if (b == 0) m.add(ContactPair{"heel", {0, {0, 0}, 0}, Edge{}, mu});
    m.add(ContactPair{"toe" + std::to_string(b), {b, {length, 0}, 0}, Edge{}, mu});
  }
  if (loop) m.add(Pin{"pin", bodies - 1, 0, {side, 0}, {0, 0}});
  r.start.q = Eigen::Map<Eigen::VectorXd>(q.data(), m.nv());
  r.start.v = Eigen::Map<Eigen::VectorXd>(v.data(), m.nv());
  // above the floor, and left of the wall
  Eigen::VectorXd gaps, joints;
  m.gaps(r.start.q, gaps, joints);
  r.start.q[1] += uniform(0, 0.2) - gaps.minCoeff();
  m.add(ContactPair{
      "wall", {bodies - 1, {last, 0}, 0}, Edge{kWorld, {4, 0}, {-1, 0}, 0}, uniform(0, 0.8)});
  return r;
}

}  // namespace routh::test
