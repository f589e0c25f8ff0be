#include "routh/mujoco/impl.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <atomic>
#include <cmath>
#include <stdexcept>

#include "routh/linear/decompose.h"
#include "routh/mujoco/dialect.h"

namespace routh::mujoco {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

Eigen::Matrix3d cross(const Vector3d& w) {
  Eigen::Matrix3d by;
  by << 0, -w.z(), w.y(), w.z(), 0, -w.x(), -w.y(), w.x(), 0;
  return by;
}

constexpr double kBallReach = 0.05;  // limits of ball joints [rad]
// Limits nearer than this are listed whatever the velocities [rad, m]: impacts may change them.
constexpr double kLimitReach = 0.1;

std::vector<int> groups_of(const mjModel& m) {
  // an actuator that pulls at a tendon or a site may couple what moves apart
  for (int i = 0; i < actuators(m); ++i) {
    if (m.actuator_trntype[i] != mjTRN_JOINT && m.actuator_trntype[i] != mjTRN_JOINTINPARENT)
      return {0};
  }
  std::vector<int> starts;
  for (int i = 0; i < m.nv; ++i) {
    if (m.dof_parentid[i] < 0) starts.push_back(i);
  }
  return starts;
}

std::string listed(const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
  return all.empty() ? "none" : all;
}

}  // namespace

std::shared_ptr<const Loaded> prepare(std::shared_ptr<const mjModel> original, double reach,
                                      std::string warning) {
  const auto loaded = std::make_shared<Loaded>();
  loaded->wide = *original;
  loaded->original = std::move(original);
  loaded->reach = reach;
  mjModel& m = loaded->wide;
  const auto own = [](std::vector<mjtNum>& values, mjtNum*& of_model, int count) {
    values.assign(of_model, of_model + count);
    of_model = values.data();
  };
  own(loaded->geom_margin, m.geom_margin, m.ngeom);
  own(loaded->pair_margin, m.pair_margin, m.npair);
  own(loaded->tendon_margin, m.tendon_margin, m.ntendon);
  own(loaded->joint_margin, m.jnt_margin, m.njnt);
  mjtNum** of_bodies = body_margins(m);
  if (of_bodies) own(loaded->body_margin, *of_bodies, m.nbody);

  // list what is near, beyond the model's own margins
  if (m.opt.enableflags & mjENBL_OVERRIDE) {
    std::fill_n(m.geom_margin, m.ngeom, kMarginOfEach * m.opt.o_margin);
    std::fill_n(m.pair_margin, m.npair, m.opt.o_margin);
  }
  for (int g = 0; g < m.ngeom; ++g) m.geom_margin[g] += kMarginOfEach * reach;
  // those of bodies cover those of their geometries
  for (int g = 0; of_bodies && g < m.ngeom; ++g) {
    mjtNum& margin = (*of_bodies)[m.geom_bodyid[g]];
    margin = std::max(margin, m.geom_margin[g] + m.geom_gap[g]);
  }
  for (int p = 0; p < m.npair; ++p) m.pair_margin[p] += reach;
  for (int t = 0; t < m.ntendon; ++t) m.tendon_margin[t] += reach;
  for (int j = 0; j < m.njnt; ++j) {
    if (m.jnt_type[j] == mjJNT_BALL) m.jnt_margin[j] += kBallReach;
  }
  m.opt.enableflags &= ~(mjENBL_OVERRIDE | kSleep);
  m.opt.enableflags |= mjENBL_ENERGY;
  m.opt.disableflags |= mjDSBL_FRICTIONLOSS;
  m.opt.jacobian = mjJAC_DENSE;
  m.opt.solver = mjSOL_NEWTON;
#if mjVERSION_HEADER < 320
  m.opt.mpr_tolerance = std::min(m.opt.mpr_tolerance, 1e-9);
  m.opt.mpr_iterations = std::max(m.opt.mpr_iterations, 200);
#else
  m.opt.ccd_tolerance = std::min(m.opt.ccd_tolerance, 1e-9);
  m.opt.ccd_iterations = std::max(m.opt.ccd_iterations, 200);
#endif

  // room for every contact, and for rows of joints alone
#if mjVERSION_HEADER < 230
  const long pairs = static_cast<long>(m.ngeom) * (m.ngeom - 1) / 2;
  m.nconmax = std::max(m.nconmax, static_cast<int>(std::clamp(8 * pairs, 100L, 10000L)));
  m.njmax = m.nemax + m.nv + 2 * m.njnt + 3 * m.ntendon + 8;
#endif
  loaded->smooth = m;
  loaded->smooth.opt.disableflags |= mjDSBL_CONTACT;
  loaded->smooth.opt.enableflags &= ~mjENBL_ENERGY;

  loaded->notes = departures(*loaded->original);
  if (!warning.empty()) loaded->notes.push_back("MuJoCo: " + warning);
  loaded->warning = std::move(warning);
  for (int j = 0; j < m.njnt; ++j) loaded->joints.push_back(joint_name(m, j));
  for (int g = 0; g < m.ngeom; ++g) loaded->geoms.push_back(geom_name(m, g));
  static std::atomic<std::uint64_t> count = 0;
  loaded->number = ++count;
  loaded->groups = groups_of(m);
  loaded->groups.push_back(m.nv);
  // of the tree of each body
  for (int b = 0; b < m.nbody; ++b) {
    int from = 0, to = 0;
    for (int i = 0; i < m.nv; ++i) {
      if (m.body_rootid[m.dof_bodyid[i]] != m.body_rootid[b] || b == 0) continue;
      if (to == 0) from = i;
      to = i + 1;
    }
    loaded->trees.emplace_back(from, to);
  }
  return loaded;
}

System::Impl::Impl(std::shared_ptr<const Loaded> prepared) : loaded(std::move(prepared)) {
  const mjModel& m = wide();
  DataPtr data = make_data(m);
  inputs = {vector(data->ctrl, m.nu), vector(data->act, m.na),
            vector(data->mocap_pos, 3 * m.nmocap), vector(data->mocap_quat, 4 * m.nmocap)};
  idle_.push_back(std::unique_ptr<Workspace>(new Workspace{*this, std::move(data)}));
}

System::Impl::Borrowed System::Impl::borrow() const {
  {
    const std::lock_guard lock(guard_);
    if (!idle_.empty()) {
      Workspace* idle = idle_.back().release();
      idle_.pop_back();
      return {idle, {this}};
    }
  }
  return {new Workspace{*this, make_data(wide())}, {this}};
}

void System::Impl::forget() const {
  const std::lock_guard lock(guard_);
  for (const auto& idle : idle_) idle->forget();
}

void System::Impl::GiveBack::operator()(Workspace* workspace) const {
  std::unique_ptr<Workspace> idle(workspace);
  const std::lock_guard lock(to->guard_);
  to->idle_.push_back(std::move(idle));
}

void System::Impl::Workspace::place(const VectorXd& q) {
  if (q.size() != wide().nq)
    throw std::invalid_argument("q has " + std::to_string(q.size()) +
                                " entries, but the model has " + std::to_string(wide().nq) +
                                " coordinates (nq)");
  if (!q.allFinite()) throw std::invalid_argument("q has an entry that is not finite");
  const auto put = [](const VectorXd& from, mjtNum* to) {
    std::copy(from.begin(), from.end(), to);
  };
  const auto same = [](const VectorXd& given, const mjtNum* now) {
    return std::equal(given.begin(), given.end(), now);
  };
  put(system.inputs.control, data->ctrl);
  put(system.inputs.activation, data->act);
  if (placed.size() == q.size() && q == placed && same(system.inputs.mocap_pos, data->mocap_pos) &&
      same(system.inputs.mocap_quat, data->mocap_quat))
    return;
  moved = collided = false;
  placed = q;
  put(q, data->qpos);
  put(system.inputs.mocap_pos, data->mocap_pos);
  put(system.inputs.mocap_quat, data->mocap_quat);
}

void System::Impl::Workspace::move() {
  if (moved) return;
  const mjModel& m = smooth();
  mj_kinematics(&m, data.get());
  mj_comPos(&m, data.get());
  mj_tendon(&m, data.get());
  moved = true;
}

void System::Impl::Workspace::find_constraints(double reach_of_limits) {
  move();
  if (!collided) {
    mj_collision(&wide(), data.get());
    find_touches(wide(), *data,
                 {.reach = system.loaded->reach, .left_out = &system.inputs.left_out}, touches);
    mj_makeConstraint(&smooth(), data.get());
    collided = true;
  }
  find_limits(reach_of_limits);
}

double System::Impl::limit_reach(const VectorXd& v, double horizon) {
  return horizon < HUGE_VAL ? kLimitReach + 4 * horizon * v.lpNorm<Eigen::Infinity>() : HUGE_VAL;
}

void System::Impl::Workspace::find_joints() {
  move();
  mj_makeConstraint(&smooth(), data.get());
}

void System::Impl::Workspace::fill_forces(double t, const VectorXd& v, Terms& terms) {
  const mjModel& m = smooth();
  data->time = t;
  std::copy(v.begin(), v.end(), data->qvel);
  make_inertia(m, *data);
  mj_transmission(&m, data.get());
  mj_fwdVelocity(&m, data.get());
  mj_fwdActuation(&m, data.get());

  // bodies that no joint connects share no entry: what is zero stays so
  const bool same = terms.zeros_of == system.loaded->number && terms.M.rows() == m.nv;
  if (!same) {
    for (MatrixXd* matrix : {&terms.M, &terms.Kq, &terms.Kv}) matrix->setZero(m.nv, m.nv);
    terms.zeros_of = system.loaded->number;
  }
  if (m.nv > 0) full_inertia(m, *data, terms.M.data());
  const auto of = [&](const mjtNum* values) { return Eigen::Map<const VectorXd>(values, m.nv); };
  terms.forces = of(data->qfrc_passive) - of(data->qfrc_bias) + of(data->qfrc_actuator);
}

// Of springs, damping and servos: what an implicit integrator needs most.
void System::Impl::Workspace::fill_stiffness(Terms& terms) {
  const mjModel& m = smooth();
  const std::vector<int>& starts = system.loaded->groups;
  for (std::size_t g = 0; g + 1 < starts.size(); ++g) {
    const int size = starts[g + 1] - starts[g];
    for (MatrixXd* matrix : {&terms.Kq, &terms.Kv})
      matrix->block(starts[g], starts[g], size, size).setZero();
  }
  if (!(m.opt.disableflags & kNoPassiveForces)) {
    terms.Kv.diagonal() -= Eigen::Map<const VectorXd>(m.dof_damping, m.nv);
    for (int j = 0; j < m.njnt; ++j) {
      const int dof = m.jnt_dofadr[j];
      if (m.jnt_type[j] == mjJNT_SLIDE || m.jnt_type[j] == mjJNT_HINGE)
        terms.Kq(dof, dof) -= m.jnt_stiffness[j];
    }
  }

  // force = gain ctrl + b0 + b1 length + b2 velocity, through the moment arms
  if (m.opt.disableflags & mjDSBL_ACTUATION) return;
  for (int i = 0; i < actuators(m); ++i) {
    const int output = output_of(m, i);
    if (m.actuator_biastype[i] != mjBIAS_AFFINE || output < 0) continue;
    const mjtNum* range = m.actuator_forcerange + 2 * i;
    const double force = data->actuator_force[output];
    if (m.actuator_forcelimited[i] && (force <= range[0] || force >= range[1])) continue;
    const mjtNum* bias = m.actuator_biasprm + mjNBIAS * i;
    if (bias[1] == 0 && bias[2] == 0) continue;
    moment_arms(m, *data, i, output, [&](int j, double arm) {
      moment_arms(m, *data, i, output, [&](int k, double other) {
        terms.Kq(j, k) += bias[1] * arm * other;
        terms.Kv(j, k) += bias[2] * arm * other;
      });
    });
  }
}

void System::Impl::Workspace::add_spin_terms(const VectorXd& v, Terms& terms) {
  const mjModel& m = smooth();
  for (int j = 0; j < m.njnt; ++j) {
    const int body = m.jnt_bodyid[j], dof = m.jnt_dofadr[j] + 3;
    if (m.jnt_type[j] != mjJNT_FREE || m.body_subtreemass[body] != m.body_mass[body]) continue;
    const Vector3d w = v.segment<3>(dof);
    const Eigen::Matrix3d inertia = terms.M.block<3, 3>(dof, dof);
    terms.Kv.block<3, 3>(dof, dof) += cross(inertia * w) - cross(w) * inertia;
  }
}

void System::Impl::Workspace::add_inertial_terms(const VectorXd& v, Terms& terms) {
  terms.zeros_of = 0;
  // they are quadratic in v, so that central differences are exact, whatever their width
  const mjModel& m = smooth();
  const double width = v.cwiseAbs().maxCoeff();
  if (width == 0) return;
  VectorXd ahead(m.nv), behind(m.nv);
  const auto bias = [&](int j, double at, VectorXd& out) {
    data->qvel[j] = at;
    mj_comVel(&m, data.get());
    mj_rne(&m, data.get(), 0, out.data());
  };
  for (int j = 0; j < m.nv; ++j) {
    bias(j, v[j] + width, ahead);
    bias(j, v[j] - width, behind);
    data->qvel[j] = v[j];
    terms.Kv.col(j) -= (ahead - behind) / (2 * width);
  }
  mj_comVel(&m, data.get());
}

int System::Impl::Workspace::joint_rows() const {
  return static_cast<int>(
      std::count(data->efc_type, data->efc_type + data->nefc, mjCNSTR_EQUALITY));
}

void System::Impl::Workspace::fill_joints(Terms& terms) {
  const int nv = smooth().nv, na = joint_rows();
  terms.A.resize(na, nv);
  terms.joint_gap.resize(na);
  terms.joint_bias.setZero(na);
  joint_rows([&](int row, int efc) {
    terms.A.row(row) = Eigen::Map<const Eigen::RowVectorXd>(data->efc_J + efc * nv, nv);
    terms.joint_gap[row] = data->efc_pos[efc];
  });
}

void System::Impl::Workspace::fill_joint_bias(const VectorXd& q, const VectorXd& v, Terms& terms) {
  if (terms.A.rows() == 0 || v.isZero(0)) return;
  // d/dt(A) v by central differences along v
  const mjModel& m = smooth();
  const double dt = 1e-5 / std::max(1.0, v.cwiseAbs().maxCoeff());
  for (const double sign : {1.0, -1.0}) {
    std::copy(q.begin(), q.end(), data->qpos);
    mj_integratePos(&m, data->qpos, v.data(), sign * dt);
    forget();
    move();
    mj_makeConstraint(&m, data.get());
    joint_rows([&](int row, int efc) {
      const Eigen::Map<const VectorXd> J(data->efc_J + efc * m.nv, m.nv);
      terms.joint_bias[row] += sign * J.dot(v) / (2 * dt);
    });
  }
}

static std::int64_t id_of(Limit::Kind kind, std::int64_t object, int nth = 0) {
  return kind << 56 | object << 8 | nth;
}
std::int64_t Limit::id() const { return id_of(kind, object); }
static int pair_of(const mjModel& m, const Touch& touch) {
  return touch.first * static_cast<int>(m.ngeom) + touch.second;
}
std::int64_t id_of(const mjModel& m, const Touch& touch) {
  return id_of(Limit::kTouch, pair_of(m, touch), touch.place);
}

void System::Impl::Workspace::find_limits(double reach) {
  const mjModel& m = smooth();
  limits.clear();
  if (m.opt.disableflags & (mjDSBL_LIMIT | mjDSBL_CONSTRAINT)) return;
  // both ends of hinges and slides
  for (int j = 0; j < m.njnt; ++j) {
    if (!m.jnt_limited[j]) continue;
    if (m.jnt_type[j] != mjJNT_SLIDE && m.jnt_type[j] != mjJNT_HINGE) continue;
    const double q = data->qpos[m.jnt_qposadr[j]];
    const double lower = q - m.jnt_range[2 * j] - m.jnt_margin[j],
                 upper = m.jnt_range[2 * j + 1] - q - m.jnt_margin[j];
    if (lower <= reach) limits.push_back({Limit::kLowerEnd, j, lower});
    if (upper <= reach) limits.push_back({Limit::kUpperEnd, j, upper});
  }
  // ball joints and tendons when near; the lower end of a tendon comes first
  int last = -1;
  for (int i = 0; i < data->nefc; ++i) {
    const int type = data->efc_type[i], id = data->efc_id[i];
    if (type != mjCNSTR_LIMIT_JOINT && type != mjCNSTR_LIMIT_TENDON) continue;
    const bool of_tendon = type == mjCNSTR_LIMIT_TENDON;
    const double pos = data->efc_pos[i];
    const double phi = pos - (of_tendon ? m.tendon_margin[id] - system.loaded->reach
                                        : m.jnt_margin[id] - kBallReach);
    if (type == mjCNSTR_LIMIT_JOINT && m.jnt_type[id] == mjJNT_BALL) {
      limits.push_back({Limit::kBallEnd, id, phi, i});
    } else if (of_tendon) {
      const double above = data->ten_length[id] - m.tendon_range[2 * id];
      const bool lower = last != id && std::abs(above - pos) < 1e-12;
      last = id;
      limits.push_back({lower ? Limit::kTendonLower : Limit::kTendonUpper, id, phi, i});
    }
  }
}

/// Zero rows, of a contact that had others.
static void clear_rows(int nv, Contact& contact) {
  if (contact.Jn.size() != nv || contact.Jt.rows() != 2 || contact.spans.empty()) {
    contact.Jn.setZero(nv);
    contact.Jt.setZero(2, nv);
    contact.spans.clear();
  }
  for (const auto& [from, to] : contact.spans) {
    contact.Jn.segment(from, to - from).setZero();
    contact.Jt.middleCols(from, to - from).setZero();
  }
  contact.spans.clear();
}

/// The velocity of a body at the contact, times a sign, by the velocities of the joints under it.
void System::Impl::Workspace::add_rows(int body, const Touch& touch, double sign,
                                       Contact& contact) const {
  const mjModel& m = wide();
  while (body > 0 && m.body_dofnum[body] == 0) body = m.body_parentid[body];
  if (body == 0) return;
  const Vector3d arm =
      touch.point - Eigen::Map<const Vector3d>(data->subtree_com + 3 * m.body_rootid[body]);
  const Eigen::Matrix3d frame = sign * touch.frame;
  for (int i = m.body_dofadr[body] + m.body_dofnum[body] - 1; i >= 0; i = m.dof_parentid[i]) {
    const double* axis = data->cdof + 6 * i;  // turns, then moves
    const Vector3d turn(axis[0], axis[1], axis[2]), move(axis[3], axis[4], axis[5]);
    const Vector3d rate = frame * (move + turn.cross(arm));
    contact.Jn[i] += rate[0];
    contact.Jt(0, i) += rate[1];
    contact.Jt(1, i) += rate[2];
  }
}

void System::Impl::Workspace::fill_limit(const Limit& limit, Contact& contact) const {
  const mjModel& m = smooth();
  const bool of_joint = limit.kind <= Limit::kBallEnd;
  const bool upper = limit.kind == Limit::kUpperEnd || limit.kind == Limit::kTendonUpper;
  contact.id = limit.id();
  contact.phi = limit.phi;
  clear_rows(m.nv, contact);
  contact.mu = 0;
  contact.pair = -1;
  contact.point.setZero(), contact.normal = Vector3d::UnitZ();
  if (of_joint) {
    contact.name = system.loaded->joints[limit.object];
    contact.point = Eigen::Map<const Vector3d>(data->xanchor + 3 * limit.object);
    contact.normal = Eigen::Map<const Vector3d>(data->xaxis + 3 * limit.object);
    if (upper) contact.normal = -contact.normal;
  } else {
    const char* name = mj_id2name(&m, mjOBJ_TENDON, limit.object);
    contact.name = name && *name ? name : "tendon" + std::to_string(limit.object);
  }
  contact.name.append(limit.kind == Limit::kBallEnd ? ".limit" : upper ? ".upper" : ".lower");
  if (of_joint && limit.kind != Limit::kBallEnd) {
    const int dof = m.jnt_dofadr[limit.object];
    contact.Jn[dof] = upper ? -1 : 1;
    contact.spans.emplace_back(dof, dof + 1);
  } else {
    contact.spans.emplace_back(0, m.nv);
    contact.Jn = Eigen::Map<const Eigen::RowVectorXd>(data->efc_J + limit.efc * m.nv, m.nv);
  }
}

void System::Impl::Workspace::fill_contacts(Terms& terms) {
  const mjModel& m = wide();
  // contacts that come and go keep their memory
  const std::size_t count = touches.size() + limits.size();
  for (; terms.contacts.size() > count; terms.contacts.pop_back())
    spare.push_back(std::move(terms.contacts.back()));
  for (; terms.contacts.size() < count && !spare.empty(); spare.pop_back())
    terms.contacts.push_back(std::move(spare.back()));
  terms.contacts.resize(count);
  auto next = terms.contacts.begin();
  for (const Touch& touch : touches) {
    Contact& contact = *next++;
    contact.name.assign(system.loaded->geoms[touch.first])
        .append("/")
        .append(system.loaded->geoms[touch.second]);
    if (touch.count > 1) contact.name.append(":").append(std::to_string(touch.nth + 1));
    contact.phi = touch.phi;
    clear_rows(m.nv, contact);
    for (const int geom : {touch.first, touch.second}) {
      const int body = m.geom_bodyid[geom];
      add_rows(body, touch, geom == touch.first ? 1 : -1, contact);
      const std::pair<int, int> tree = system.loaded->trees[body];
      if (tree.first == tree.second || std::count(contact.spans.begin(), contact.spans.end(), tree))
        continue;
      contact.spans.push_back(tree);
    }
    std::sort(contact.spans.begin(), contact.spans.end());
    contact.mu = touch.mu;
    contact.point = touch.point;
    contact.normal = touch.frame.row(0).transpose();
    contact.pair = pair_of(m, touch);
    contact.id = id_of(m, touch);
  }
  for (const Limit& limit : limits) fill_limit(limit, *next++);
}

std::vector<int> System::Impl::groups() const {
  return {loaded->groups.begin(), loaded->groups.end() - 1};
}

// MuJoCo refuses most models with massless bodies by itself.
void System::Impl::check_inertia() const {
  const mjModel& m = smooth();
  if (m.nv == 0)
    throw std::invalid_argument("the model has no joints: nothing in it can move (nv is 0)");
  const Borrowed work = borrow();
  work->place(vector(m.qpos0, m.nq));
  mj_fwdPosition(&m, work->data.get());
  MatrixXd M = MatrixXd::Zero(m.nv, m.nv);
  full_inertia(m, *work->data, M.data());
  for (int i = 0; i < m.nv; ++i) {
    if (M(i, i) > 1e-14) continue;
    throw std::invalid_argument("body " + body_name(m, m.dof_bodyid[i]) +
                                " moves but has no mass or inertia along its joint " +
                                joint_name(m, m.dof_jntid[i]));
  }
  // tree by tree, scaled by its diagonal, so that small bodies beside large ones pass
  for (int i = 0, next = 0; i < m.nv; i = next) {
    for (next = i + 1; next < m.nv && m.dof_parentid[next] >= 0;) ++next;
    const auto tree = M.block(i, i, next - i, next - i);
    const VectorXd scale = tree.diagonal().cwiseSqrt().cwiseInverse();
    const MatrixXd scaled = scale.asDiagonal() * tree * scale.asDiagonal();
    if (linear::symmetric_eigenvalues(scaled)[0] < 1e-13)
      throw std::invalid_argument(
          "the model's inertia matrix is singular at its reference configuration: a moving body "
          "has no mass, or joints of one body repeat each other");
  }
}

int System::Impl::key(const std::string& name) const {
  const mjModel& m = wide();
  const int key = mj_name2id(&m, mjOBJ_KEY, name.c_str());
  if (key >= 0) return key;
  std::vector<std::string> known;
  for (int k = 0; k < m.nkey; ++k) {
    const char* known_name = mj_id2name(&m, mjOBJ_KEY, k);
    known.push_back(known_name && *known_name ? known_name : std::to_string(k));
    if (known.back() == name) return k;
  }
  throw std::invalid_argument("the model has no keyframe " + name + "; it has " + listed(known));
}

}  // namespace routh::mujoco
