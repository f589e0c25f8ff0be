#include "routh/mujoco/measured.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "routh/mujoco/dialect.h"
#include "routh/mujoco/model.h"

namespace routh::mujoco {
namespace {

using Eigen::Vector3d;
using Eigen::VectorXd;

enum Parameter { kFriction, kTimeConstant, kDampRatio, kSoftness, kImpratio };

/// A body with so many spheres over a plane.
ModelPtr body_over_floor(std::size_t spheres) {
  std::string text =
      "<mujoco><worldbody><geom type='plane' size='0 0 1'/><body><freejoint/>"
      "<inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/>";
  // not at the origin, or MuJoCo would never look where they are
  for (std::size_t i = 0; i < spheres; ++i) text += "<geom type='sphere' size='1' pos='1 1 1'/>";
  std::string warning;
  return load_text(text + "</body></worldbody></mujoco>", "measured.xml", {}, warning);
}

/// Without forces of its own, with contacts of these parameters.
void prepare(mjModel& model, const VectorXd& parameters) {
  std::fill_n(model.opt.gravity, 3, 0);
  model.opt.disableflags |= mjDSBL_GRAVITY | kNoPassiveForces | mjDSBL_ACTUATION |
                            mjDSBL_FRICTIONLOSS | mjDSBL_REFSAFE | kNoTrees;
  model.opt.enableflags &= ~kSleep;
  model.opt.cone = mjCONE_ELLIPTIC;
  model.opt.impratio = parameters[kImpratio];
  const double time_constant = parameters[kTimeConstant], damp_ratio = parameters[kDampRatio];
  model.opt.timestep =
      std::clamp(0.05 * M_PI * time_constant * std::min(1.0, damp_ratio), 1e-5, 5e-4);
  const double impedance = 1 - parameters[kSoftness];
  for (int i = 0; i < model.ngeom; ++i) {
    model.geom_friction[3 * i] = parameters[kFriction];
    mjtNum* const solref = model.geom_solref + mjNREF * i;
    solref[0] = time_constant, solref[1] = damp_ratio;
    mjtNum* const solimp = model.geom_solimp + mjNIMP * i;
    solimp[0] = solimp[1] = impedance;
  }
}

/// The body where it was measured, its lowest corner on the floor.
void put(mjModel& model, mjData& data, const MeasuredPose& pose) {
  const Eigen::Matrix3d R = pose.orientation.toRotationMatrix();
  double lowest = HUGE_VAL;
  for (std::size_t i = 0; i < pose.corners.size(); ++i) {
    const auto geom = static_cast<int>(i) + 1;  // the first is the floor
    Eigen::Map<Vector3d>(model.geom_pos + 3 * geom) = pose.corners[i];
    model.geom_size[3 * geom] = model.geom_rbound[geom] = pose.radius;
    lowest = std::min(lowest, R.row(2).dot(pose.corners[i]) - pose.radius);
  }
  Eigen::Map<Vector3d>(model.body_inertia + 3) = pose.gyration;
  mj_setConst(&model, &data);  // the softness of contacts is relative to inertia
  mj_resetData(&model, &data);
  data.qpos[2] = -lowest;
  const Eigen::Quaterniond& q = pose.orientation;
  data.qpos[3] = q.w(), data.qpos[4] = q.x(), data.qpos[5] = q.y(), data.qpos[6] = q.z();
}

bool broken(const mjData& data) {
  for (const int warning :
       {mjWARN_CONTACTFULL, mjWARN_CNSTRFULL, mjWARN_BADQPOS, mjWARN_BADQVEL, mjWARN_BADQACC}) {
    if (data.warning[warning].number > 0) return true;
  }
  return false;
}

bool pushes(const mjData& data) {
  return std::any_of(data.efc_force, data.efc_force + data.nefc,
                     [](mjtNum force) { return force != 0; });
}

/// Does a sphere reach the floor within kQuiet?
bool returns(const mjModel& model, const mjData& data) {
  for (int geom = 1; geom < model.ngeom; ++geom) {
    const Vector3d arm = Eigen::Map<const Vector3d>(data.geom_xpos + 3 * geom) -
                         Eigen::Map<const Vector3d>(data.qpos);
    const Eigen::Map<const Eigen::Matrix<mjtNum, 3, 3, Eigen::RowMajor>> R(data.xmat + 9);
    const Vector3d spin = R * Eigen::Map<const Vector3d>(data.qvel + 3);
    const double height = data.geom_xpos[3 * geom + 2] - model.geom_size[3 * geom];
    if (height + kQuiet * (data.qvel[2] + spin.cross(arm).z()) < 0) return true;
  }
  return false;
}

}  // namespace

MeasuredPeer measured_peer(std::shared_ptr<const System> system) {
  struct Simulation {
    std::shared_ptr<const System> system;
    ModelPtr model;
    DataPtr data;
  };
  const auto simulation = std::make_shared<Simulation>();
  if (system) {
    simulation->model = ModelPtr(mj_copyModel(nullptr, system->model()));
    simulation->data = make_data(*simulation->model);
    simulation->system = std::move(system);
  }
  MeasuredPeer peer{.name = "mujoco", .parameters = {}, .predict = {}};
  peer.parameters = {{"friction", {0.1, 0.2, 0.5}, 1e-4, 5},
                     {"timeconst", {2e-3, 1e-2}, 2e-4, 0.1},
                     {"dampratio", {0.2, 0.7}, 1e-3, 5},
                     {"1 - impedance", {0.1, 0.9}, 1e-4, 0.9999},
                     {"impratio", {1}, 1e-2, 1e3}};
  peer.predict = [simulation](const MeasuredImpact& impact, const VectorXd& parameters) {
    if (!simulation->system) {
      if (!impact.pose)
        throw std::invalid_argument("mujoco: impact " + impact.name +
                                    " has no pose of a body; give a model");
      if (!simulation->model ||
          simulation->model->ngeom != static_cast<int>(impact.pose->corners.size()) + 1) {
        simulation->model = body_over_floor(impact.pose->corners.size());
        simulation->data = make_data(*simulation->model);
      }
    }
    mjModel& model = *simulation->model;
    mjData& data = *simulation->data;
    prepare(model, parameters);
    VectorXd v = impact.v_minus;
    if (simulation->system) {
      if (impact.q.size() != model.nq || v.size() != model.nv)
        throw std::invalid_argument("mujoco: impact " + impact.name +
                                    ": q and v must have nq and nv entries");
      mj_resetData(&model, &data);
      Eigen::Map<VectorXd>(data.qpos, model.nq) = impact.q;
    } else {
      put(model, data, *impact.pose);
      v = impact.pose->from_space.transpose() * v;
    }
    Eigen::Map<VectorXd>(data.qvel, model.nv) = v;
    double quiet = 0;
    bool pushed = false;
    while (data.time < kImpactEnds && quiet < kQuiet) {
      mj_step(&model, &data);
      if (broken(data)) return VectorXd();
      const bool now = pushes(data);
      quiet = now ? 0 : quiet + model.opt.timestep;
      if (pushed && !now && !simulation->system && !returns(model, data)) break;
      pushed = pushed || now;
    }
    v = Eigen::Map<const VectorXd>(data.qvel, model.nv);
    return simulation->system ? v : VectorXd(impact.pose->from_space * v);
  };
  return peer;
}

}  // namespace routh::mujoco
