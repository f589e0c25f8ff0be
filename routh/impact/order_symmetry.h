#pragma once

#include <vector>

#include "routh/impact/orders.h"

namespace routh {

/// A renumbering of contacts, with tangents turned round where `turned` says so, that leaves a
/// planar impact as it is, up to rounding. It carries paths to paths.
struct OrderSymmetry {
  std::vector<int> contact;  ///< [contact]: which it becomes
  std::vector<char> turned;  ///< [contact]
  std::vector<int> edge;     ///< [edge of OrderSpace]: which it becomes
  std::vector<int> form;     ///< [form]

  /// The order and the basis of a path, mirrored: what OrderProgram begins with. Amounts and
  /// breakpoints are left out.
  OrderPath image(const OrderSpace& space, const OrderPath& path) const;
  /// Gains per edge whose images these are: the target that is reached by the image of a path.
  Eigen::VectorXd image(const Eigen::VectorXd& gain) const;
};

/// All but the identity, as far as a search of few steps finds them; none in space.
std::vector<OrderSymmetry> symmetries(const OrderSpace& space, const ImpactProblem& problem);

}  // namespace routh
