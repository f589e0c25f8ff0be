#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <unordered_map>

#include "routh/mujoco/impl.h"

namespace routh::mujoco {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using Eigen::VectorXd;

constexpr int kShownGroups = 3;   // MuJoCo's viewer shows groups 0 to 2
constexpr double kPlane = 50;     // half of an infinite plane [m]
constexpr int kHeightField = 40;  // most cells along one side of a height field
constexpr int kPlain = 1000;      // most faces of a mesh that is drawn as it is
constexpr double kFinest = 700;   // parts of a model's extent that a picture shows
constexpr double kPi = std::numbers::pi;

Surface box(const Vector3d& half) {
  Surface s;
  for (int k = 0; k < 8; ++k)
    s.vertices.emplace_back(k & 1 ? half.x() : -half.x(), k & 2 ? half.y() : -half.y(),
                            k & 4 ? half.z() : -half.z());
  s.faces = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
  return s;
}

/// A profile (radius, z), from the lowest to the highest, turned about z. A first or last radius of
/// zero is a tip, any other is closed by a flat face.
Surface revolution(const std::vector<std::pair<double, double>>& profile, int segments) {
  Surface s;
  std::vector<int> below;
  for (std::size_t k = 0; k < profile.size(); ++k) {
    const auto [radius, z] = profile[k];
    std::vector<int> ring;
    for (int i = 0; i < (radius > 0 ? segments : 1); ++i) {
      const double angle = 2 * kPi * i / segments;
      ring.push_back(static_cast<int>(s.vertices.size()));
      s.vertices.emplace_back(radius * std::cos(angle), radius * std::sin(angle), z);
    }
    if (k == 0 && radius > 0) s.faces.emplace_back(ring.rbegin(), ring.rend());
    for (int i = 0; k > 0 && i < segments; ++i) {
      const int next = (i + 1) % segments;
      if (below.size() == 1)
        s.faces.push_back({below[0], ring[next], ring[i]});
      else if (ring.size() == 1)
        s.faces.push_back({below[i], below[next], ring[0]});
      else
        s.faces.push_back({below[i], below[next], ring[next], ring[i]});
    }
    if (k + 1 == profile.size() && radius > 0) s.faces.push_back(ring);
    below = std::move(ring);
  }
  return s;
}

/// A sphere pulled apart by 2 `half`; faces are about as long as wide, so that they sort well.
Surface capsule(double radius, double half, int segments) {
  std::vector<std::pair<double, double>> profile;
  const int rings = std::max(2, segments / 4);
  for (int k = 0; k <= rings; ++k) {
    const double angle = 0.5 * kPi * (k - rings) / rings;
    profile.emplace_back(k ? radius * std::cos(angle) : 0, radius * std::sin(angle) - half);
  }
  const int lengths = half > 0 ? std::clamp(static_cast<int>(half / radius), 1, 12) : 0;
  for (int k = 1; k < lengths; ++k) profile.emplace_back(radius, (2.0 * k / lengths - 1) * half);
  for (int k = half > 0 ? 0 : 1; k <= rings; ++k) {
    const double angle = 0.5 * kPi * k / rings;
    profile.emplace_back(k < rings ? radius * std::cos(angle) : 0, radius * std::sin(angle) + half);
  }
  return revolution(profile, segments);
}

Surface cylinder(double radius, double half, int segments) {
  const int lengths = std::clamp(static_cast<int>(half / radius), 1, 12);
  std::vector<std::pair<double, double>> profile;
  for (int k = 0; k <= lengths; ++k) profile.emplace_back(radius, (2.0 * k / lengths - 1) * half);
  return revolution(profile, segments);
}

Surface plane(double x, double y) {
  Surface s;
  x = x > 0 ? x : kPlane, y = y > 0 ? y : kPlane;
  s.vertices = {{-x, -y, 0}, {x, -y, 0}, {x, y, 0}, {-x, y, 0}};
  s.faces = {{0, 1, 2, 3}};
  s.ground = true;
  return s;
}

/// A mesh whose vertices in one cell of a grid are one, without the faces that this closes.
Surface mesh(const mjModel& m, int id, double cell) {
  Surface s;
  const float* vertex = m.mesh_vert + 3 * m.mesh_vertadr[id];
  const int* face = m.mesh_face + 3 * m.mesh_faceadr[id];
  std::vector<int> to(m.mesh_vertnum[id]), count;
  std::unordered_map<std::uint64_t, int> cells;
  for (int k = 0; k < m.mesh_vertnum[id]; ++k) {
    const Vector3d p(vertex[3 * k], vertex[3 * k + 1], vertex[3 * k + 2]);
    to[k] = static_cast<int>(s.vertices.size());
    if (cell > 0) {
      std::uint64_t key = 0;
      for (int axis = 0; axis < 3; ++axis)
        key = key << 21 | (static_cast<std::uint64_t>(std::llround(p[axis] / cell)) & 0x1fffff);
      to[k] = cells.try_emplace(key, to[k]).first->second;
    }
    if (to[k] == static_cast<int>(s.vertices.size())) {
      s.vertices.push_back(p), count.push_back(1);
    } else {
      s.vertices[to[k]] += p, ++count[to[k]];
    }
  }
  for (std::size_t k = 0; k < s.vertices.size(); ++k) s.vertices[k] /= count[k];
  for (int k = 0; k < m.mesh_facenum[id]; ++k) {
    const int a = to[face[3 * k]], b = to[face[3 * k + 1]], c = to[face[3 * k + 2]];
    if (a != b && b != c && c != a) s.faces.push_back({a, b, c});
  }
  return s;
}

Surface height_field(const mjModel& m, int id) {
  Surface s;
  const int rows = m.hfield_nrow[id], columns = m.hfield_ncol[id];
  const mjtNum* size = m.hfield_size + 4 * id;
  const float* data = m.hfield_data + m.hfield_adr[id];
  const int nr = std::min(rows - 1, kHeightField), nc = std::min(columns - 1, kHeightField);
  for (int r = 0; r <= nr; ++r) {
    for (int c = 0; c <= nc; ++c) {
      const int row = r * (rows - 1) / nr, column = c * (columns - 1) / nc;
      s.vertices.emplace_back(size[0] * (2.0 * column / (columns - 1) - 1),
                              size[1] * (2.0 * row / (rows - 1) - 1),
                              size[2] * data[row * columns + column]);
    }
  }
  for (int r = 0; r < nr; ++r) {
    for (int c = 0; c < nc; ++c) {
      const int at = r * (nc + 1) + c, above = at + nc + 1;
      s.faces.push_back({at, at + 1, above + 1});
      s.faces.push_back({at, above + 1, above});
    }
  }
  return s;
}

Surface shape(const mjModel& m, int geom, int segments) {
  const mjtNum* size = m.geom_size + 3 * geom;
  switch (m.geom_type[geom]) {
    case mjGEOM_PLANE:
      return plane(size[0], size[1]);
    case mjGEOM_HFIELD:
      return height_field(m, m.geom_dataid[geom]);
    case mjGEOM_SPHERE:
      return capsule(size[0], 0, segments);
    case mjGEOM_CAPSULE:
      return capsule(size[0], size[1], segments);
    case mjGEOM_CYLINDER:
      return cylinder(size[0], size[1], segments);
    case mjGEOM_ELLIPSOID: {
      Surface s = capsule(1, 0, segments);
      for (Vector3d& p : s.vertices) p = p.cwiseProduct(Vector3d(size[0], size[1], size[2]));
      return s;
    }
    case mjGEOM_BOX:
      return box({size[0], size[1], size[2]});
    default:
      return {};
  }
}

/// As MuJoCo's viewer: the geometry's own colour, unless that is the default and there is a
/// material.
const float* colour(const mjModel& m, int geom) {
  const float* own = m.geom_rgba + 4 * geom;
  const bool plain = own[0] == 0.5f && own[1] == 0.5f && own[2] == 0.5f && own[3] == 1;
  return plain && m.geom_matid[geom] >= 0 ? m.mat_rgba + 4 * m.geom_matid[geom] : own;
}

}  // namespace

std::vector<Surface> System::shapes(const VectorXd& q, int segments) const {
  const mjModel& m = impl_->wide();
  const Impl::Borrowed work = impl_->borrow();
  work->place(q);
  mj_kinematics(&m, work->data.get());
  // meshes once, no finer than pixels
  const Loaded& loaded = *impl_->loaded;
  std::call_once(loaded.drawn, [&] {
    for (int i = 0; i < m.nmesh; ++i)
      loaded.meshes.push_back(mesh(m, i, m.mesh_facenum[i] > kPlain ? m.stat.extent / kFinest : 0));
  });
  const auto seen = [&](int g) { return colour(m, g)[3] > 0 && m.geom_group[g] < kShownGroups; };
  // bodies whose pictures are left out of the model show what collides
  std::vector<char> bare(m.nbody, 1);
  for (int g = 0; g < m.ngeom; ++g) {
    if (seen(g)) bare[m.geom_bodyid[g]] = 0;
  }
  std::vector<Surface> surfaces;
  for (int g = 0; g < m.ngeom; ++g) {
    const float* rgba = colour(m, g);
    const bool collides = m.geom_contype[g] || m.geom_conaffinity[g];
    if (!seen(g) && !(bare[m.geom_bodyid[g]] && collides)) continue;
    const bool is_mesh = m.geom_type[g] == mjGEOM_MESH && m.geom_dataid[g] >= 0;
    Surface s = is_mesh ? loaded.meshes[m.geom_dataid[g]] : shape(m, g, std::max(4, segments));
    if (s.faces.empty()) continue;
    s.colour = {rgba[0], rgba[1], rgba[2]};
    s.fixed = m.body_weldid[m.geom_bodyid[g]] == 0;
    const Eigen::Map<const Vector3d> at(work->data->geom_xpos + 3 * g);
    const Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>> turned(
        work->data->geom_xmat + 9 * g);
    for (Vector3d& p : s.vertices) p = at + turned * p;
    surfaces.push_back(std::move(s));
  }
  return surfaces;
}

Vector3d System::relative_velocity(const Contact& contact, const VectorXd& q,
                                   const VectorXd& v) const {
  const mjModel& m = impl_->wide();
  if (contact.pair < 0) return Vector3d::Zero();
  const Impl::Borrowed work = impl_->borrow();
  work->place(q);
  mj_kinematics(&m, work->data.get());
  mj_comPos(&m, work->data.get());
  Eigen::Matrix<double, 3, Eigen::Dynamic, Eigen::RowMajor> first(3, m.nv), second(3, m.nv);
  mj_jac(&m, work->data.get(), first.data(), nullptr, contact.point.data(),
         m.geom_bodyid[contact.pair / m.ngeom]);
  mj_jac(&m, work->data.get(), second.data(), nullptr, contact.point.data(),
         m.geom_bodyid[contact.pair % m.ngeom]);
  const Vector3d a = first * v, b = second * v;
  return a.norm() >= b.norm() ? Vector3d(a - b) : Vector3d(b - a);
}

}  // namespace routh::mujoco
