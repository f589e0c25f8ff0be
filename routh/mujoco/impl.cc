#include "routh/mujoco/impl.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace routh::mujoco {
namespace {

/// The contact after the last, in memory that is kept.
Contact& next_of(std::vector<Contact>& contacts, int& count) {
  if (static_cast<std::size_t>(count) == contacts.size()) contacts.emplace_back();
  return contacts[count++];
}

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using RowMatrixXd = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr double kBallReach = 0.05;  // limits of ball joints [rad]

std::string listed(const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
  return all.empty() ? "none" : all;
}

}  // namespace

std::shared_ptr<const Loaded> prepare(const mjModel& original, double reach, std::string warning) {
  const auto loaded = std::make_shared<Loaded>();
  loaded->original.reset(mj_copyModel(nullptr, &original));
  loaded->wide.reset(mj_copyModel(nullptr, &original));
  loaded->reach = reach;
  mjModel& m = *loaded->wide;

  // list what is near, as it is
  std::fill_n(m.geom_margin, m.ngeom, reach);
  std::fill_n(m.geom_gap, m.ngeom, 0);
  std::fill_n(m.pair_margin, m.npair, reach);
  std::fill_n(m.pair_gap, m.npair, 0);
  std::fill_n(m.tendon_margin, m.ntendon, reach);
  for (int j = 0; j < m.njnt; ++j) m.jnt_margin[j] = m.jnt_type[j] == mjJNT_BALL ? kBallReach : 0;
  m.opt.enableflags &= ~mjENBL_OVERRIDE;
  m.opt.enableflags |= mjENBL_ENERGY;
  m.opt.disableflags |= mjDSBL_FRICTIONLOSS;
  m.opt.jacobian = mjJAC_DENSE;
  m.opt.solver = mjSOL_NEWTON;
#if mjVERSION_HEADER < 320
  m.opt.mpr_tolerance = std::min(m.opt.mpr_tolerance, 1e-9);
  m.opt.mpr_iterations = std::max(m.opt.mpr_iterations, 200);
#endif

  // room for every contact, and for rows of joints alone
#if mjVERSION_HEADER < 230
  const long pairs = static_cast<long>(m.ngeom) * (m.ngeom - 1) / 2;
  m.nconmax = std::max(m.nconmax, static_cast<int>(std::clamp(8 * pairs, 100L, 10000L)));
  m.njmax = m.nemax + m.nv + 2 * m.njnt + 3 * m.ntendon + 8;
#endif
  loaded->smooth = m;
  loaded->smooth.opt.disableflags |= mjDSBL_CONTACT;

  loaded->notes = departures(original);
  if (!warning.empty()) loaded->notes.push_back("MuJoCo: " + warning);
  loaded->warning = std::move(warning);
  for (int j = 0; j < m.njnt; ++j) loaded->joints.push_back(joint_name(m, j));
  for (int g = 0; g < m.ngeom; ++g) loaded->geoms.push_back(geom_name(m, g));
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
  put(q, data->qpos);
  put(system.inputs.control, data->ctrl);
  put(system.inputs.activation, data->act);
  put(system.inputs.mocap_pos, data->mocap_pos);
  put(system.inputs.mocap_quat, data->mocap_quat);
}

void System::Impl::Workspace::fill_forces(double t, const VectorXd& v, Terms& terms) {
  const mjModel& m = smooth();
  data->time = t;
  std::copy(v.begin(), v.end(), data->qvel);
  mj_fwdPosition(&m, data.get());
  mj_fwdVelocity(&m, data.get());
  mj_fwdActuation(&m, data.get());
  mj_fwdAcceleration(&m, data.get());

  terms.M.resize(m.nv, m.nv);
  if (m.nv > 0) mj_fullM(&m, terms.M.data(), data->qM);
  terms.forces = vector(data->qfrc_smooth, m.nv);
}

// Of springs, damping and servos: what an implicit integrator needs most.
void System::Impl::Workspace::fill_stiffness(Terms& terms) {
  const mjModel& m = smooth();
  terms.Kq.setZero(m.nv, m.nv);
  terms.Kv.setZero(m.nv, m.nv);
  const bool passive = !(m.opt.disableflags & mjDSBL_PASSIVE);
  if (passive) {
    terms.Kv.diagonal() -= vector(m.dof_damping, m.nv);
    for (int j = 0; j < m.njnt; ++j) {
      const int dof = m.jnt_dofadr[j];
      if (m.jnt_type[j] == mjJNT_SLIDE || m.jnt_type[j] == mjJNT_HINGE)
        terms.Kq(dof, dof) -= m.jnt_stiffness[j];
    }
  }

#if mjVERSION_HEADER < 300
  // force = gain ctrl + b0 + b1 length + b2 velocity, through the moment arms
  if (m.opt.disableflags & mjDSBL_ACTUATION) return;
  const Eigen::Map<const RowMatrixXd> moments(data->actuator_moment, m.nu, m.nv);
  for (int i = 0; i < m.nu; ++i) {
    if (m.actuator_biastype[i] != mjBIAS_AFFINE) continue;
    const mjtNum* range = m.actuator_forcerange + 2 * i;
    const double force = data->actuator_force[i];
    if (m.actuator_forcelimited[i] && (force <= range[0] || force >= range[1])) continue;
    const mjtNum* bias = m.actuator_biasprm + mjNBIAS * i;
    if (bias[1] != 0) terms.Kq += bias[1] * moments.row(i).transpose() * moments.row(i);
    if (bias[2] != 0) terms.Kv += bias[2] * moments.row(i).transpose() * moments.row(i);
  }
#endif
}

void System::Impl::Workspace::add_inertial_terms(const VectorXd& v, Terms& terms) {
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

// Equality constraints, from the rows that fill_forces() left.
void System::Impl::Workspace::fill_joints(const VectorXd& q, const VectorXd& v, Terms& terms) {
  const mjModel& m = smooth();
  const int na = joint_rows();
  terms.A.resize(na, m.nv);
  terms.joint_gap.resize(na);
  terms.joint_bias.setZero(na);
  const auto rows = [&](const auto& visit) {
    for (int i = 0, row = 0; i < data->nefc; ++i) {
      if (data->efc_type[i] == mjCNSTR_EQUALITY)
        visit(row++, Eigen::Map<const VectorXd>(data->efc_J + i * m.nv, m.nv), data->efc_pos[i]);
    }
  };
  rows([&](int row, const auto& J, double gap) {
    terms.A.row(row) = J.transpose();
    terms.joint_gap[row] = gap;
  });
  if (na == 0 || v.isZero(0)) return;

  // d/dt(A) v by central differences along v
  const double dt = 1e-5 / std::max(1.0, v.cwiseAbs().maxCoeff());
  for (const double sign : {1.0, -1.0}) {
    std::copy(q.begin(), q.end(), data->qpos);
    mj_integratePos(&m, data->qpos, v.data(), sign * dt);
    mj_fwdPosition(&m, data.get());
    rows([&](int row, const auto& J, double) {
      terms.joint_bias[row] += sign * J.dot(v) / (2 * dt);
    });
  }
  std::copy(q.begin(), q.end(), data->qpos);
  mj_fwdPosition(&m, data.get());
}

/// Contacts are numbered by what they are contacts of.
enum Kind : std::int64_t { kTouch, kLowerEnd, kUpperEnd, kBallEnd, kTendonLower, kTendonUpper };
static std::int64_t id_of(Kind kind, std::int64_t object, int nth = 0) {
  return kind << 56 | object << 8 | nth;
}
static int pair_of(const mjModel& m, const Touch& touch) {
  return touch.first * static_cast<int>(m.ngeom) + touch.second;
}
std::int64_t id_of(const mjModel& m, const Touch& touch) {
  return id_of(kTouch, pair_of(m, touch), touch.place);
}

int System::Impl::Workspace::fill_limits(std::vector<Contact>& contacts) const {
  const mjModel& m = smooth();
  int count = 0;
  if (m.opt.disableflags & (mjDSBL_LIMIT | mjDSBL_CONSTRAINT)) return count;
  const auto add = [&](std::int64_t id, double phi, const Vector3d& point, const Vector3d& axis) {
    Contact& limit = next_of(contacts, count);
    limit.id = id;
    limit.phi = phi;
    limit.Jt.setZero(2, m.nv);
    limit.mu = 0;
    limit.point = point;
    limit.normal = axis;
    limit.pair = -1;
    return &limit;
  };

  // both ends of hinges and slides, always
  for (int j = 0; j < m.njnt; ++j) {
    if (!m.jnt_limited[j]) continue;
    if (m.jnt_type[j] != mjJNT_SLIDE && m.jnt_type[j] != mjJNT_HINGE) continue;
    const double q = data->qpos[m.jnt_qposadr[j]];
    const Eigen::Map<const Vector3d> point(data->xanchor + 3 * j), axis(data->xaxis + 3 * j);
    for (const bool upper : {false, true}) {
      const double* range = m.jnt_range + 2 * j;
      Contact& end =
          *add(id_of(upper ? kUpperEnd : kLowerEnd, j), upper ? range[1] - q : q - range[0], point,
               upper ? Vector3d(-axis) : Vector3d(axis));
      end.name.assign(system.loaded->joints[j]).append(upper ? ".upper" : ".lower");
      end.Jn.setZero(m.nv);
      end.Jn[m.jnt_dofadr[j]] = upper ? -1 : 1;
    }
  }

  // ball joints and tendons when near; the lower end of a tendon comes first
  int last = -1;
  for (int i = 0; i < data->nefc; ++i) {
    const int type = data->efc_type[i], id = data->efc_id[i];
    const double phi = data->efc_pos[i];
    Contact* end = nullptr;
    if (type == mjCNSTR_LIMIT_JOINT && m.jnt_type[id] == mjJNT_BALL) {
      end = add(id_of(kBallEnd, id), phi, vector(data->xanchor + 3 * id, 3),
                vector(data->xaxis + 3 * id, 3));
      end->name = system.loaded->joints[id] + ".limit";
    } else if (type == mjCNSTR_LIMIT_TENDON) {
      const double above = data->ten_length[id] - m.tendon_range[2 * id];
      const bool lower = last != id && std::abs(above - phi) < 1e-12;
      last = id;
      end = add(id_of(lower ? kTendonLower : kTendonUpper, id), phi, Vector3d::Zero(),
                Vector3d::UnitZ());
      const char* name = mj_id2name(&m, mjOBJ_TENDON, id);
      end->name =
          (name && *name ? name : "tendon" + std::to_string(id)) + (lower ? ".lower" : ".upper");
    }
    if (end) end->Jn = Eigen::Map<const VectorXd>(data->efc_J + i * m.nv, m.nv).transpose();
  }
  return count;
}

void System::Impl::Workspace::fill_contacts(Terms& terms) {
  const mjModel& m = wide();
  const int nv = m.nv;
  const int limits = fill_limits(ends);  // before MuJoCo drops its rows

  mj_collision(&m, data.get());
  find_touches(m, *data, touches);
  rows_of_first.resize(3, nv);
  rows_of_second.resize(3, nv);
  int count = 0;
  for (const Touch& touch : touches) {
    mj_jac(&m, data.get(), rows_of_first.data(), nullptr, touch.point.data(),
           m.geom_bodyid[touch.first]);
    mj_jac(&m, data.get(), rows_of_second.data(), nullptr, touch.point.data(),
           m.geom_bodyid[touch.second]);
    rows_of_first -= rows_of_second;
    Contact& contact = next_of(terms.contacts, count);
    contact.name.assign(system.loaded->geoms[touch.first])
        .append("/")
        .append(system.loaded->geoms[touch.second]);
    if (touch.count > 1) contact.name.append(":").append(std::to_string(touch.nth + 1));
    contact.phi = touch.phi;
    contact.Jn.noalias() = touch.frame.row(0) * rows_of_first;
    contact.Jt.noalias() = touch.frame.bottomRows<2>() * rows_of_first;
    contact.mu = touch.mu;
    contact.point = touch.point;
    contact.normal = touch.frame.row(0).transpose();
    contact.pair = pair_of(m, touch);
    contact.id = id_of(m, touch);
  }
  for (int i = 0; i < limits; ++i) next_of(terms.contacts, count) = ends[i];
  terms.contacts.resize(count);
}

std::vector<int> System::Impl::groups() const {
  const mjModel& m = smooth();
  // an actuator that pulls at a tendon or a site may couple what moves apart
  for (int i = 0; i < m.nu; ++i) {
    if (m.actuator_trntype[i] != mjTRN_JOINT && m.actuator_trntype[i] != mjTRN_JOINTINPARENT)
      return {0};
  }
  std::vector<int> starts;
  for (int i = 0; i < m.nv; ++i) {
    if (m.dof_parentid[i] < 0) starts.push_back(i);
  }
  return starts;
}

// MuJoCo refuses most models with massless bodies by itself.
void System::Impl::check_inertia() const {
  const mjModel& m = smooth();
  if (m.nv == 0)
    throw std::invalid_argument("the model has no joints: nothing in it can move (nv is 0)");
  const Borrowed work = borrow();
  work->place(vector(m.qpos0, m.nq));
  mj_fwdPosition(&m, work->data.get());
  MatrixXd M(m.nv, m.nv);
  mj_fullM(&m, M.data(), work->data->qM);
  for (int i = 0; i < m.nv; ++i) {
    if (M(i, i) > 1e-14) continue;
    throw std::invalid_argument("body " + body_name(m, m.dof_bodyid[i]) +
                                " moves but has no mass or inertia along its joint " +
                                joint_name(m, m.dof_jntid[i]));
  }
  // scaled by its diagonal, so that small bodies beside large ones pass
  const VectorXd scale = M.diagonal().cwiseSqrt().cwiseInverse();
  const MatrixXd scaled = scale.asDiagonal() * M * scale.asDiagonal();
  const double least =
      Eigen::SelfAdjointEigenSolver<MatrixXd>(scaled, Eigen::EigenvaluesOnly).eigenvalues()[0];
  if (least < 1e-13)
    throw std::invalid_argument(
        "the model's inertia matrix is singular at its reference configuration: a moving body has "
        "no mass, or joints of one body repeat each other");
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
