#include "routh/lcp/enumerate.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "routh/lcp/polyhedron.h"
#include "routh/lcp/square_system.h"

namespace routh::lcp {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Index of the solution with this image, inserted if it is new.
std::size_t insert_distinct(Solutions& solutions, Solution candidate, double same) {
  const auto known =
      std::find_if(solutions.all.begin(), solutions.all.end(), [&](const Solution& s) {
        const double size =
            std::max(s.image.lpNorm<Eigen::Infinity>(), candidate.image.lpNorm<Eigen::Infinity>());
        return (s.image - candidate.image).lpNorm<Eigen::Infinity>() <= same * (1 + size);
      });
  if (known != solutions.all.end()) {
    if (candidate.residual < known->residual) *known = std::move(candidate);
    return known - solutions.all.begin();
  }
  solutions.all.push_back(std::move(candidate));
  return solutions.all.size() - 1;
}

}  // namespace

Solutions enumerate(const Problem& problem, const EnumerateOptions& options) {
  validate(problem);
  const int n = problem.size();
  const int most = std::min(options.max_size, kMostEnumerated);
  if (n > most) {
    throw std::invalid_argument("lcp::enumerate: " + std::to_string(n) + " variables, at most " +
                                std::to_string(most) + " (max_size, up to " +
                                std::to_string(kMostEnumerated) + ")");
  }
  const auto image_of = [&](const VectorXd& z) { return options.image ? options.image(z) : z; };
  Solutions solutions;

  const auto accept = [&](const VectorXd& z) -> std::ptrdiff_t {
    const double r = residual(problem, z);
    if (r > options.tolerance) return -1;
    return static_cast<std::ptrdiff_t>(
        insert_distinct(solutions, {z, image_of(z), r}, options.same));
  };

  std::vector<int> in, out;
  for (unsigned support = 0; support < (1u << n); ++support) {
    if (options.stop && options.stop()) {
      solutions.complete = false;
      break;
    }
    in.clear(), out.clear();
    for (int i = 0; i < n; ++i) (support >> i & 1 ? in : out).push_back(i);
    const MatrixXd block = problem.W(in, in);
    const VectorXd rhs = -problem.w(in);
    const SquareSystem system(block);

    // a regular support has one candidate
    if (system.pivot() > kSingular) {
      VectorXd z = VectorXd::Zero(n);
      z(in) = system.solve(rhs);
      accept(z);
      continue;
    }

    // a singular one has a polyhedron of them: z_α ≥ 0 and (W z + w)_β ≥ 0
    const auto [u, kernel, defect] = system.solve_singular(
        rhs, VectorXd::Constant(rhs.size(), problem.w.lpNorm<Eigen::Infinity>()));
    if (defect > kConsistent) continue;
    const int k = static_cast<int>(in.size());
    MatrixXd F(n, k);
    VectorXd f = VectorXd::Zero(n);
    F.topRows(k).setIdentity();
    F.bottomRows(n - k) = problem.W(out, in);
    f.tail(n - k) = problem.w(out);
    const Corners piece = corners(u, kernel, F, f, options.tolerance);
    if (piece.x.empty()) continue;

    Continuum continuum;
    for (const VectorXd& corner : piece.x) {
      VectorXd z = VectorXd::Zero(n);
      z(in) = corner;
      if (const std::ptrdiff_t i = accept(z); i >= 0) continuum.corners.push_back(i);
    }
    for (const VectorXd& ray : piece.rays) {
      VectorXd z = VectorXd::Zero(n);
      z(in) = ray;
      const VectorXd direction = image_of(z) - image_of(VectorXd::Zero(n));
      if (direction.lpNorm<Eigen::Infinity>() > options.same) continuum.rays.push_back(direction);
    }
    if (piece.x.size() > 1 || !piece.rays.empty()) solutions.impulse_not_unique = true;
    std::sort(continuum.corners.begin(), continuum.corners.end());
    continuum.corners.erase(std::unique(continuum.corners.begin(), continuum.corners.end()),
                            continuum.corners.end());
    if (continuum.corners.size() > 1 || !continuum.rays.empty())
      solutions.continua.push_back(std::move(continuum));
  }
  return solutions;
}

}  // namespace routh::lcp
