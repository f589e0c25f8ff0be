// A ball between two spring walls: any field f, guards h and Jacobian Dh. Prints the crossings, and
// how the end depends on the start.

#include <cstdio>

#include "routh/event_selected/derivative.h"

int main() {
  using namespace routh::event_selected;
  using Eigen::Matrix2d, Eigen::Vector2d, Eigen::Vector4d;

  // x = (position, velocity); walls at -1 and 1 of stiffness 50 per unit of mass
  const auto f = [](const Vector2d& x, const Crossed& crossed) {
    double acceleration = 0;
    if (crossed[0]) acceleration -= 50 * (x[0] - 1);
    if (crossed[1]) acceleration -= 50 * (x[0] + 1);
    return Vector2d(x[1], acceleration);
  };
  // guards: into the right and the left wall, and out of them again
  const auto h = [](const Vector2d& x) {
    return Vector4d(x[0] - 1, -x[0] - 1, 1 - x[0], x[0] + 1);
  };
  const auto Dh = [](const Vector2d&) {
    return (Eigen::Matrix<double, 4, 2>() << 1, 0, -1, 0, -1, 0, 1, 0).finished();
  };

  const Options options{.eps = 1e-3, .t_end = 4, .reset = alternate(2)};
  const auto motion = integrate(f, h, Dh, Vector2d(0, 2), options);
  for (const auto& event : motion.events)
    std::printf("guard %d at t = %.6f\n", event.guard, event.time);
  std::printf("%s: x = %.6f, v = %.6f\n", describe(motion, options).c_str(), motion.x[0],
              motion.x[1]);

  // d x(t_end) / d x(0), column by column
  const auto derivative = orbital_derivative(f, h, Dh, Vector2d(0, 2), options);
  std::printf("%9.5f %9.5f\n%9.5f %9.5f\n", derivative.D(0, 0), derivative.D(0, 1),
              derivative.D(1, 0), derivative.D(1, 1));
  return motion.finished() ? 0 : 1;
}
