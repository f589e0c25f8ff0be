#pragma once

#include <Eigen/Core>
#include <vector>

namespace routh {

/// A shape in space as polygons, for drawings.
struct Surface {
  std::vector<Eigen::Vector3d> vertices;  ///< world coordinates [m]
  std::vector<std::vector<int>> faces;    ///< convex, counter-clockwise from outside
  Eigen::Vector3d colour{0.5, 0.5, 0.5};  ///< red, green, blue from 0 to 1
  bool fixed = false;                     ///< part of the static world
  bool ground = false;                    ///< one face that stands for a whole plane
};

}  // namespace routh
