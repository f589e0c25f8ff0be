#include "routh/mujoco/contacts.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <tuple>

#include "routh/mujoco/dialect.h"

namespace routh::mujoco {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using RowMatrix3d = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;

struct Placed {
  Vector3d centre, half;
  Matrix3d axes;  // columns
};

Placed placed(const mjModel& model, const mjData& data, int geom) {
  return {Eigen::Map<const Vector3d>(data.geom_xpos + 3 * geom),
          Eigen::Map<const Vector3d>(model.geom_size + 3 * geom),
          Eigen::Map<const RowMatrix3d>(data.geom_xmat + 9 * geom)};
}

// The axis of the box along n, or -1.
int face_along(const Placed& box, const Vector3d& n) {
  int axis = 0;
  (box.axes.transpose() * n).cwiseAbs().maxCoeff(&axis);
  return box.axes.col(axis).cross(n).norm() < 1e-9 ? axis : -1;
}

// MuJoCo's point lies halfway between the surfaces, so that a face tells the whole gap.
double box_gap(const Placed& first, const Placed& second, const Touch& touch) {
  const Vector3d n = touch.frame.row(0).transpose();
  if (const int k = face_along(second, n); k >= 0)
    return 2 * (n.dot(touch.point - second.centre) - second.half[k]);
  if (const int k = face_along(first, n); k >= 0)
    return 2 * (n.dot(first.centre - touch.point) - first.half[k]);
  return touch.phi;
}

// How far the boxes are apart along n, or overlap: no contact lies deeper.
double apart_along(const Placed& first, const Placed& second, const Vector3d& n) {
  const auto reach = [&](const Placed& box) {
    return box.half.dot((box.axes.transpose() * n).cwiseAbs());
  };
  return n.dot(first.centre - second.centre) - reach(first) - reach(second);
}

bool near_box(const Placed& box, const Touch& touch) {
  const Vector3d local = box.axes.transpose() * (touch.point - box.centre);
  return ((local.cwiseAbs() - box.half).array() <= std::abs(touch.phi) + 1e-6).all();
}

// Does MuJoCo find this pair by iteration, with errors that grow with the margin? It does for
// height fields and for what its general routine for convex shapes collides.
bool iterated(const mjModel& model, int g1, int g2) {
  const int type1 = model.geom_type[g1], type2 = model.geom_type[g2];
  return type1 == mjGEOM_HFIELD ||
         mjCOLLISIONFUNC[type1][type2] == mjCOLLISIONFUNC[mjGEOM_ELLIPSOID][mjGEOM_ELLIPSOID];
}

Matrix3d frame_along(const Vector3d& n) {
  const Vector3d t = n.cross(Vector3d::Unit(std::abs(n.y()) < 0.5 ? 1 : 2)).normalized();
  Matrix3d frame;
  frame << n.transpose(), n.cross(t).transpose(), t.transpose();
  return frame;
}

constexpr double kOverlap = 1e-4;  // of what MuJoCo saw apart [m]

// Moves the first geometry into the other along the normal and asks without a margin, each time
// less deep: overlaps are what MuJoCo measures well. But 3.12 now and then gives the distance of
// two shapes that are apart as an overlap of that depth, where it is asked without a margin. False
// when there is no contact after all.
bool refine(const mjModel& model, mjData& data, double reach, Touch& touch) {
  const mjfCollision collide =
      mjCOLLISIONFUNC[model.geom_type[touch.second]][model.geom_type[touch.first]];
  Eigen::Map<Vector3d> place(data.geom_xpos + 3 * touch.first);
  const Vector3d home = place;
  std::array<Found, mjMAXCONPAIR> found;
  Vector3d n = touch.frame.row(0).transpose();
  const Touch seen = touch;
  double depth = reach;  // of the move
  bool touches = false;
  for (int i = 0; i < 4; ++i) {
    place = home - depth * n;
    const int count = collide(&model, &data, found.data(), touch.second, touch.first, 0);
    const Found* nearest = nullptr;
    double distance = 0;
    for (const Found* c = found.data(); c < found.data() + count; ++c) {
      const double d = (Eigen::Map<const Vector3d>(c->pos) - touch.point).norm();
      if (!nearest || d < distance) nearest = c, distance = d;
    }
    if (!nearest) {
      depth = 2 * depth + 1e-6;
      continue;
    }
    const Vector3d normal = Eigen::Map<const Vector3d>(normal_of(*nearest));
    if (normal.norm() < 0.5) {  // not deep enough to have one
      depth += 1e-5;
      continue;
    }
    touches = true;
    touch.phi = nearest->dist + depth * normal.dot(n);
    touch.point = Eigen::Map<const Vector3d>(nearest->pos) + depth / 2 * n;
    touch.frame = frame_along(normal);
    n = normal;
    depth = std::max(touch.phi, 0.0) + 1e-5;
  }
  place = home;
  if (kKnowsDistances && seen.phi > 0 && touches && touch.phi < -kOverlap) touch = seen;
  return touches && touch.phi <= reach;
}

// Contacts by iteration come in clusters.
bool repeats(const Touch& a, const Touch& b, bool by_iteration) {
  return a.first == b.first && a.second == b.second &&
         (a.point - b.point).norm() < (by_iteration ? 1e-3 : 1e-9) &&
         (a.frame.row(0) - b.frame.row(0)).norm() < (by_iteration ? 0.02 : 1e-9);
}

/// Where on the first geometry: which corner, edge or face of a box, which end of a capsule. Round
/// ones look alike everywhere.
constexpr int kRegions = 27, kMostInRegion = 8;
int region_of(const mjModel& model, const Placed& first, const Touch& touch) {
  const int type = model.geom_type[touch.first];
  const bool angular = type == mjGEOM_BOX || type == mjGEOM_MESH;
  const bool long_one = type == mjGEOM_CAPSULE || type == mjGEOM_CYLINDER;
  const Vector3d local = first.axes.transpose() * (touch.point - first.centre);
  int region = 0;
  for (int axis = angular ? 0 : long_one ? 2 : 3; axis < 3; ++axis) {
    const double half = 0.5 * (long_one ? first.half[1] : first.half[axis]);
    region = 3 * region + (local[axis] > half ? 2 : local[axis] < -half ? 0 : 1);
  }
  return region;
}

}  // namespace

std::int64_t pair_key(const mjModel& model, int geom, int other) {
  return static_cast<std::int64_t>(std::min(geom, other)) * model.ngeom + std::max(geom, other);
}

void find_touches(const mjModel& model, mjData& data, const TouchOptions& options,
                  std::vector<Touch>& touches) {
  if (data.warning[mjWARN_CONTACTFULL].number > 0) {
    data.warning[mjWARN_CONTACTFULL].number = 0;
    throw std::runtime_error("MuJoCo found more than " + std::to_string(data.ncon) +
                             " contacts and dropped the others; raise the model's " + kRoom +
                             " or shorten the reach of contacts");
  }

  touches.clear();
  for (int i = 0; i < data.ncon; ++i) {
    const mjContact& contact = data.contact[i];
    if (contact.geom1 < 0 || contact.geom2 < 0) continue;  // of a deformable body
    // MuJoCo's normal points from its first geometry, often the ground, to the other
    Touch touch{.first = contact.geom2, .second = contact.geom1, .phi = contact.dist};
    const int weld_first = model.body_weldid[model.geom_bodyid[touch.first]];
    const int weld_second = model.body_weldid[model.geom_bodyid[touch.second]];
    if (weld_first == weld_second) continue;  // nothing moves
    if (options.lands >= 0) {
      const auto falls = [&](int geom) {
        return model.body_rootid[model.geom_bodyid[geom]] == options.lands;
      };
      if (!(falls(touch.first) && weld_second == 0) && !(falls(touch.second) && weld_first == 0))
        continue;
    }
    if (options.left_out && std::binary_search(options.left_out->begin(), options.left_out->end(),
                                               pair_key(model, touch.first, touch.second)))
      continue;
    touch.mu = contact.dim >= 3 ? std::min(contact.friction[0], contact.friction[1]) : 0;
    touch.point = Eigen::Map<const Vector3d>(contact.pos);
    touch.frame = Eigen::Map<const RowMatrix3d>(contact.frame);
    touch.frame.array() += 0.0;  // no negative zeros

    if (model.geom_type[touch.first] == mjGEOM_BOX && model.geom_type[touch.second] == mjGEOM_BOX) {
      const Placed first = placed(model, data, touch.first),
                   second = placed(model, data, touch.second);
      touch.phi = box_gap(first, second, touch);
      if (!near_box(first, touch) || !near_box(second, touch)) continue;
      const double apart = apart_along(first, second, touch.frame.row(0).transpose());
      if (touch.phi < apart - 1e-6 * (first.half.sum() + second.half.sum())) continue;
    }
    const bool by_iteration = iterated(model, touch.second, touch.first);
    if (by_iteration && !refine(model, data, contact.includemargin, touch)) continue;
    touch.phi -= std::max(0.0, contact.includemargin - options.reach);
    const auto same = std::find_if(touches.begin(), touches.end(), [&](const Touch& other) {
      return repeats(touch, other, by_iteration);
    });
    if (same != touches.end()) {
      if (touch.phi < same->phi) *same = touch;
      continue;
    }
    touches.push_back(touch);
  }

  // by pair, then by place on the first geometry; MuJoCo's order is not far from that
  for (Touch& touch : touches) {
    const Placed first = placed(model, data, touch.first);
    const Vector3d local = first.axes.transpose() * (touch.point - first.centre);
    for (int k = 0; k < 3; ++k) touch.spot[k] = std::lround(1e6 * local[k]);
  }
  const auto key = [](const Touch& t) {
    return std::tuple(t.second, t.first, t.spot[0], t.spot[1], t.spot[2]);
  };
  for (auto next = touches.begin(); next != touches.end(); ++next) {
    const auto place =
        std::upper_bound(touches.begin(), next, *next,
                         [&](const Touch& a, const Touch& b) { return key(a) < key(b); });
    std::rotate(place, next, next + 1);
  }
  for (std::size_t begin = 0; begin < touches.size();) {
    std::size_t end = begin;
    while (end < touches.size() && touches[end].first == touches[begin].first &&
           touches[end].second == touches[begin].second)
      ++end;
    std::array<int, kRegions> taken{};
    for (std::size_t i = begin; i < end; ++i) {
      touches[i].nth = static_cast<int>(i - begin);
      touches[i].count = static_cast<int>(end - begin);
      const int region = region_of(model, placed(model, data, touches[i].first), touches[i]);
      touches[i].place = kMostInRegion * region + std::min(taken[region]++, kMostInRegion - 1);
    }
    begin = end;
  }
}

}  // namespace routh::mujoco
