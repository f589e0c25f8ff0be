#include "routh/impact/one_circular.h"

#include <Eigen/Dense>
#include <array>
#include <cmath>
#include <complex>

#include "routh/linear/decompose.h"

namespace routh {
namespace {

using Complex = std::complex<double>;
using Eigen::Vector2d;
using Eigen::Vector3d;

constexpr double kTouches = 1e-9;  // a normal velocity that is none
constexpr double kHeld = 1e-9;     // conditions of G beyond one over this
constexpr double kNearly = 1e-4;   // imaginary parts that rounding of a double root may make
constexpr double kUnclear = 1e-6;  // .. and those that leave a root in doubt

/// e × ct⁺ times the denominator of λn, with e = (cos θ, sin θ): Im(A z̄ + B z̄²) + C, z = exp iθ.
struct Turn {
  Complex A, B;
  double C;

  double size() const { return std::abs(A) + std::abs(B) + std::abs(C); }
  double operator()(double angle) const {
    const Complex z = std::polar(1.0, -angle);
    return std::imag(A * z + B * z * z) + C;
  }
};

/// The angles where it vanishes; nothing where that is not clear.
std::optional<std::vector<double>> zeros(const Turn& turn) {
  // t = tan((θ - first)/2), whose infinity lies where the polynomial is far from zero
  constexpr int kGrid = 16;
  double far = 0;
  for (int k = 1; k < kGrid; ++k) {
    if (const double at = 2 * M_PI * k / kGrid; std::abs(turn(at)) > std::abs(turn(far))) far = at;
  }
  if (!(std::abs(turn(far)) > 1e-9 * turn.size())) return {};
  const double first = far - M_PI;
  const Complex A = turn.A * std::polar(1.0, -first), B = turn.B * std::polar(1.0, -2 * first);
  const std::array<double, 5> p{A.imag() + B.imag() + turn.C, -2 * A.real() - 4 * B.real(),
                                -6 * B.imag() + 2 * turn.C, -2 * A.real() + 4 * B.real(),
                                -A.imag() + B.imag() + turn.C};
  Eigen::MatrixXd companion = Eigen::MatrixXd::Zero(4, 4);
  for (int k = 0; k < 4; ++k) {
    companion(k, 3) = -p[k] / p[4];
    if (k > 0) companion(k, k - 1) = 1;
  }
  std::vector<double> angles;
  const Eigen::VectorXcd roots = linear::eigenvalues(companion);
  for (const Complex& root : roots) {
    const double size = 1 + std::norm(root), beside = std::abs(root.imag());
    if (beside > kNearly * size) continue;
    double t = root.real();
    for (int k = 0; k < 4; ++k) {
      const double value = (((p[4] * t + p[3]) * t + p[2]) * t + p[1]) * t + p[0];
      const double slope = ((4 * p[4] * t + 3 * p[3]) * t + 2 * p[2]) * t + p[1];
      if (slope != 0) t -= value / slope;
    }
    if (std::abs(t - root.real()) <= kNearly * size) {
      angles.push_back(first + 2 * std::atan(t));
    }
    // two that are nearly one: are there two, or none?
    if (beside > 0 && beside <= kUnclear * size) return {};
  }
  return angles;
}

}  // namespace

std::optional<std::vector<Outcome>> outcomes_of_one(const ImpactProblem& given, double tolerance) {
  const Normalised units(given);
  const ImpactProblem& p = units.problem;
  const double mu = p.mu[0], cn = p.c[0], Gnn = p.G(0, 0);
  const Eigen::Matrix3d G = p.G;
  const Eigen::VectorXd moved = linear::symmetric_eigenvalues(G);
  if (std::abs(cn) <= kTouches || !(moved[0] > kHeld * moved[2])) return {};

  const Complex w(p.c[1], p.c[2]), g(G(1, 0), G(2, 0));
  const Complex q(0.5 * (G(1, 1) - G(2, 2)), G(1, 2));  // Gtt e = tr Gtt / 2 z + q z̄
  const Turn turn{Gnn * w - cn * g, mu * (cn * q - 0.5 * w * g),
                  -0.5 * mu * std::imag(w * std::conj(g))};
  const std::optional<std::vector<double>> slides = zeros(turn);
  if (!slides) return {};

  std::vector<Outcome> outcomes;
  const auto consider = [&](const Vector3d& impulse, int rests) {
    Outcome outcome{.impulse = impulse, .c_plus = p.c + G * impulse};
    outcome.residual = residual(p, impulse);
    if (!(outcome.residual <= tolerance)) return;
    outcome.c_plus.head(rests).setZero();
    insert_distinct(given, outcomes, denormalised(units, std::move(outcome)));
  };
  if (cn > 0) consider(Vector3d::Zero(), 0);
  consider(-G.llt().solve(p.c), 3);
  for (const double angle : *slides) {
    const Vector2d e(std::cos(angle), std::sin(angle));
    const double load = -cn / (Gnn - mu * G.block<2, 1>(1, 0).dot(e));
    if (load > 0 && std::isfinite(load)) consider({load, -mu * load * e[0], -mu * load * e[1]}, 1);
  }
  return outcomes;
}

}  // namespace routh
