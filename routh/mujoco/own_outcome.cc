#include "routh/mujoco/own_outcome.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "routh/mujoco/dialect.h"
#include "routh/mujoco/model.h"

namespace routh::mujoco {
namespace {

using Eigen::VectorXd;

// The fastest approach [m/s] of contacts that MuJoCo takes as closed, positive or zero.
double approach(const System& system, const VectorXd& q, const VectorXd& v, double touching,
                double& deepest) {
  double fastest = 0;
  for (const Contact& contact : system.terms(q, v).contacts) {
    if (contact.phi > touching) continue;
    fastest = std::max(fastest, -contact.Jn.dot(v));
    deepest = std::max(deepest, -contact.phi);
  }
  return fastest;
}

// Of contacts and limits [N], a sum that is zero when none pushes.
double pushing(const mjData& data) {
  double force = 0;
  for (int i = 0; i < data.nefc; ++i) {
    const int type = data.efc_type[i];
    const bool joint =
        type == mjCNSTR_EQUALITY || type == mjCNSTR_FRICTION_DOF || type == mjCNSTR_FRICTION_TENDON;
    if (!joint) force += std::abs(data.efc_force[i]);
  }
  return force;
}

void check(const mjData& data) {
  if (data.warning[mjWARN_CONTACTFULL].number || data.warning[mjWARN_CNSTRFULL].number)
    throw std::runtime_error(
        "MuJoCo dropped contacts while it stepped through the impact; raise nconmax and njmax in "
        "the model's <size>");
  if (data.warning[mjWARN_BADQPOS].number || data.warning[mjWARN_BADQVEL].number ||
      data.warning[mjWARN_BADQACC].number)
    throw std::runtime_error(
        "MuJoCo's simulation of the impact became unstable; try a smaller step");
}

}  // namespace

OwnOutcome own_outcome(const System& system, const State& state, const OwnOutcomeOptions& options) {
  if (!(options.step > 0)) throw std::invalid_argument("step must be positive");
  if (!(options.limit > 0)) throw std::invalid_argument("limit must be positive");
  if (!(options.touching >= 0)) throw std::invalid_argument("touching must not be negative");

  // the model as it was read, with a small step and only the forces asked for
  ModelPtr model(mj_copyModel(nullptr, system.model()));
  model->opt.timestep = options.step;
  model->opt.enableflags &= ~kSleep;
  if (!options.forces) {
    std::fill_n(model->opt.gravity, 3, 0);
    model->opt.disableflags |=
        mjDSBL_GRAVITY | kNoPassiveForces | mjDSBL_ACTUATION | mjDSBL_FRICTIONLOSS;
  }
  if (options.time_constant) {
    if (!(*options.time_constant >= 2 * options.step))
      throw std::invalid_argument("time_constant must be at least twice the step");
    const auto soften = [&](mjtNum* solref, int count) {
      for (int i = 0; i < count; ++i) {
        solref[mjNREF * i] = *options.time_constant;
        if (solref[mjNREF * i + 1] <= 0) solref[mjNREF * i + 1] = 1;
      }
    };
    soften(model->geom_solref, model->ngeom);
    soften(model->pair_solref, model->npair);
    soften(model->jnt_solref, model->njnt);
    soften(model->eq_solref, model->neq);
    soften(model->tendon_solref_lim, model->ntendon);
  }
  const DataPtr data = make_data(*model);
  if (state.q.size() != model->nq || state.v.size() != model->nv)
    throw std::invalid_argument("the state needs q with nq and v with nv entries");
  const auto put = [](const VectorXd& from, mjtNum* to) {
    std::copy(from.begin(), from.end(), to);
  };
  put(state.q, data->qpos);
  put(state.v, data->qvel);
  put(system.control(), data->ctrl);
  put(system.activation(), data->act);
  put(system.mocap_positions(), data->mocap_pos);
  put(system.mocap_orientations(), data->mocap_quat);

  OwnOutcome outcome{.v_stop = state.v, .q_stop = state.q, .v_plus = state.v, .q_plus = state.q};
  double deepest = 0;
  const double fastest = approach(system, state.q, state.v, options.touching, deepest);
  if (fastest <= 0) {
    outcome.reached = true;
    return outcome;
  }

  // until nothing approaches nor pushes for some steps; gaps that are open close as bodies move
  constexpr int kHold = 20;
  bool stopped = false;
  double peak = 0;
  for (int quiet = 0; outcome.duration < options.limit && quiet < kHold; ++outcome.steps) {
    mj_step(model.get(), data.get());
    check(*data);
    outcome.duration += options.step;
    outcome.q_plus = Eigen::Map<const VectorXd>(data->qpos, model->nq);
    outcome.v_plus = Eigen::Map<const VectorXd>(data->qvel, model->nv);
    const double force = pushing(*data);
    peak = std::max(peak, force);

    const double now =
        approach(system, outcome.q_plus, outcome.v_plus, options.touching, outcome.penetration);
    outcome.reached = now <= options.tolerance * fastest;
    if (!stopped) {
      outcome.v_stop = outcome.v_plus;
      outcome.q_stop = outcome.q_plus;
      outcome.stop_time = outcome.duration;
      stopped = outcome.reached && peak > 0;
    }
    quiet = outcome.reached && peak > 0 && force <= 1e-9 * peak ? quiet + 1 : 0;
  }
  return outcome;
}

std::string version() { return mj_versionString(); }

}  // namespace routh::mujoco
