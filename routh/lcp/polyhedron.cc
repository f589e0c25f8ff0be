#include "routh/lcp/polyhedron.h"

#include <Eigen/Dense>
#include <numeric>
#include <optional>

namespace routh::lcp {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kRounding = 1e-14;  // of a sum, relative to its terms

/// False: it is known, entry by entry.
bool insert_distinct(std::vector<VectorXd>& list, const VectorXd& x, double tolerance) {
  for (const VectorXd& known : list) {
    if (((known - x).array().abs() <= tolerance * (1 + x.array().abs())).all()) return false;
  }
  list.push_back(x);
  return true;
}

/// Calls visit(chosen) for every subset of `size` out of 0..count-1.
template <class Visit>
void for_each_subset(int count, int size, Visit visit) {
  if (size > count) return;
  std::vector<int> chosen(size);
  std::iota(chosen.begin(), chosen.end(), 0);
  while (true) {
    visit(chosen);
    int i = size - 1;
    while (i >= 0 && chosen[i] == count - size + i) --i;
    if (i < 0) return;
    ++chosen[i];
    for (int j = i + 1; j < size; ++j) chosen[j] = chosen[j - 1] + 1;
  }
}

}  // namespace

double count_subsets(Eigen::Index count, Eigen::Index size) {
  double subsets = 1;
  for (Eigen::Index i = 0; i < size; ++i)
    subsets *= static_cast<double>(count - i) / static_cast<double>(i + 1);
  return subsets;
}

Corners corners(const VectorXd& x0, const MatrixXd& N, const MatrixXd& F, const VectorXd& f,
                double tolerance) {
  Corners result;
  const int d = static_cast<int>(N.cols());
  // inequalities over t; those that no direction changes are not tight anywhere
  MatrixXd H = F * N;
  H = (H.array().abs() > 1e-13 * (F.cwiseAbs() * N.cwiseAbs()).array()).select(H, 0);
  const VectorXd g = F * x0 + f;
  std::vector<int> varying;
  for (int r = 0; r < H.rows(); ++r) {
    if (!H.row(r).isZero(0)) varying.push_back(r);
  }

  const double data = 1e-300 + (f.size() ? f.lpNorm<Eigen::Infinity>() : 0.0);
  const auto feasible = [&](const VectorXd& t) {
    const VectorXd x = x0 + N * t, slack = H * t + g;
    const VectorXd terms = F.cwiseAbs() * x.cwiseAbs();
    const VectorXd rounding = F.cwiseAbs() * VectorXd(x0.cwiseAbs() + N.cwiseAbs() * t.cwiseAbs());
    return ((slack + tolerance * terms + kRounding * rounding).array() >= -tolerance * data).all();
  };
  if (d == 0) {
    if (feasible(VectorXd(0))) result.x.push_back(x0), result.tight.emplace_back();
    return result;
  }

  // corners: d independent inequalities hold with equality
  const MatrixXd faces = H(varying, Eigen::all);
  const VectorXd offsets = g(varying);
  const int count = static_cast<int>(varying.size());
  for_each_subset(count, d, [&](const std::vector<int>& tight) {
    Eigen::FullPivLU<MatrixXd> lu(faces(tight, Eigen::all));
    lu.setThreshold(1e-11);
    if (!lu.isInvertible()) return;
    const VectorXd t = lu.solve(-offsets(tight));
    if (!feasible(t) || !insert_distinct(result.x, x0 + N * t, 1e3 * tolerance)) return;
    result.tight.emplace_back();
    for (const int k : tight) result.tight.back().push_back(varying[k]);
  });

  // extreme directions: d - 1 tight, the rest not decreasing
  if (result.x.empty()) return result;
  for_each_subset(count, d - 1, [&](const std::vector<int>& tight) {
    Eigen::FullPivLU<MatrixXd> lu(d > 1 ? MatrixXd(faces(tight, Eigen::all))
                                        : MatrixXd::Zero(1, 1));
    lu.setThreshold(1e-11);
    if (lu.dimensionOfKernel() != 1) return;
    const VectorXd direction = lu.kernel().col(0).normalized();
    for (const double sign : {1.0, -1.0}) {
      const VectorXd slack = H * (sign * direction);
      const double size = std::max(1e-300, H.cwiseAbs().maxCoeff());
      if (slack.size() == 0 || slack.minCoeff() >= -tolerance * size)
        insert_distinct(result.rays, (N * (sign * direction)).normalized(), 1e3 * tolerance);
    }
  });
  return result;
}

}  // namespace routh::lcp
