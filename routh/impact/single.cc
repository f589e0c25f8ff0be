#include "routh/impact/single.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace routh {

SingleResult single(const ImpactProblem& problem, int contact) {
  if (problem.tangents != 1)
    throw std::invalid_argument("single: only planar problems (tangents = 1)");
  if (contact < 0 || contact >= problem.contacts())
    throw std::invalid_argument("single: there is no contact " + std::to_string(contact));

  const int n = contact, t = problem.tangent(contact);
  const double Gnn = problem.G(n, n), Gnt = problem.G(n, t), Gtt = problem.G(t, t);
  const double mu = problem.mu[contact];
  const double zero = velocity_tolerance(problem);
  double cn = problem.c[n], ct = problem.c[t];
  if (std::abs(ct) <= 1e-3 * zero) ct = 0;

  SingleResult result{.impulse = Eigen::VectorXd::Zero(problem.c.size()), .c_plus = problem.c};
  const bool can_stick = std::abs(Gnt) <= mu * Gtt;
  const double small = 1e-13 * Gnn;
  // one slip and one more piece is the longest path; the loop's bound is for safety
  for (int pieces = 0; cn < 0 && pieces < 4; ++pieces) {
    // direction of sliding and the impulse per unit of normal impulse
    const bool sticks = ct == 0 && can_stick;
    const double sigma = sticks ? 0 : ct != 0 ? std::copysign(1, ct) : std::copysign(1, Gnt);
    const double ratio = sticks ? (Gtt > 0 ? -Gnt / Gtt : 0) : -mu * sigma;
    const double rate_n = Gnn + ratio * Gnt;
    const double rate_t = sticks ? 0 : Gnt + ratio * Gtt;

    // to the end of the impact or of the slip, whichever is first
    double s = rate_n > small ? -cn / rate_n : std::numeric_limits<double>::infinity();
    bool ends = true;
    if (ct * rate_t < 0 && -ct / rate_t < s) s = -ct / rate_t, ends = false;
    if (!std::isfinite(s)) return result;  // jammed: no impulse here lifts the contact

    cn = ends ? 0 : cn + s * rate_n;
    ct = ends ? ct + s * rate_t : 0;
    result.impulse[n] += s;
    result.impulse[t] += ratio * s;
    result.path.push_back({sticks      ? ContactState::kSticking
                           : sigma > 0 ? ContactState::kSlidingPositive
                                       : ContactState::kSlidingNegative,
                           s});
  }
  result.finished = cn >= 0;
  result.c_plus = problem.c + problem.G * result.impulse;
  const double excess = std::abs(result.impulse[t]) - mu * result.impulse[n];
  const double scale = problem.c.lpNorm<Eigen::Infinity>();
  result.residual = std::max({0.0, excess, result.path.empty() ? 0 : std::abs(result.c_plus[n])});
  if (scale > 0) result.residual /= scale;
  if (!result.path.empty() && result.finished) {
    result.c_plus[n] = 0;
    if (ct == 0) result.c_plus[t] = 0;
  }
  return result;
}

}  // namespace routh
