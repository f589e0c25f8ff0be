#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <string>
#include <vector>

#include "routh/mujoco/model.h"

/// The contacts that MuJoCo's collision detection leaves in its data, put right and in order.
namespace routh::mujoco {

struct Touch {
  int first = 0, second = 0;  ///< geometries
  double phi = 0;             ///< gap [m]
  double mu = 0;
  Eigen::Vector3d point = Eigen::Vector3d::Zero();
  Eigen::Matrix3d frame = Eigen::Matrix3d::Identity();  ///< rows: normal from the second to the
                                                        ///< first, two tangents
  int nth = 0, count = 1;                               ///< among those of the same pair
  long spot[3] = {};                                    ///< on the first geometry [μm]
  int place = 0;  ///< which of a pair's, also when others come and go: where on the first geometry
};

struct TouchOptions {
  double reach = 0;  ///< [m]
  int lands = -1;    ///< only between this body's tree and what is fixed; -1: all
  /// Sorted pair_key() of pairs that are not looked at; none: all are.
  const std::vector<std::int64_t>* left_out = nullptr;
};

/// Sorted by pair and by place on the first geometry, so that the order does not change as bodies
/// move a little. MuJoCo 2.2.2 needs four corrections between boxes: it gives half the overlap
/// where a face is involved, lists corners far outside the other box, lists points twice, and lists
/// points as deep as half a box where edges cross that hardly touch. Pairs
/// that it finds by iteration (meshes, ellipsoids, cylinders, height fields) are measured again
/// without a margin, which shifts their points and for height fields also their gaps. Contacts
/// close where MuJoCo's would come to rest, at margin - gap of the pair; the model's margins are
/// theirs widened by `reach`. Throws std::runtime_error when MuJoCo had no room for all contacts.
void find_touches(const mjModel& model, mjData& data, const TouchOptions& options,
                  std::vector<Touch>& touches);

/// Of two geometries in any order.
std::int64_t pair_key(const mjModel& model, int geom, int other);

}  // namespace routh::mujoco
