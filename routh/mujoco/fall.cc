#include "routh/mujoco/fall.h"

#include <Eigen/Cholesky>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "routh/model/kkt.h"
#include "routh/mujoco/model.h"

namespace routh::mujoco {
namespace {

using Eigen::Vector3d;
using Eigen::VectorXd;

// What moves during the flight: velocities from `first`, `count` of them.
struct Free {
  int first = 0, count = 0;
};

VectorXd acceleration(const System& system, const VectorXd& q, const VectorXd& v, Free free,
                      Terms& terms) {
  system.evaluate_flight(q, v, terms);
  VectorXd a = VectorXd::Zero(v.size());
  if (free.count < v.size()) {
    const auto M = terms.M.block(free.first, free.first, free.count, free.count);
    a.segment(free.first, free.count) =
        M.ldlt().solve(terms.forces.segment(free.first, free.count));
  } else {
    a = Mobility(terms.M, terms.A).acceleration(terms.forces, terms.joint_bias);
  }
  return a;
}

// Runge-Kutta's classical step, positions moved on their manifold by mean velocities.
State flown(const System& system, const State& from, double h, Free free, Terms& terms) {
  const auto moved = [&](const VectorXd& v, double dt) {
    VectorXd q = from.q;
    system.integrate(q, v, dt);
    return q;
  };
  const VectorXd a1 = acceleration(system, from.q, from.v, free, terms);
  const VectorXd v2 = from.v + h / 2 * a1;
  const VectorXd a2 = acceleration(system, moved(from.v, h / 2), v2, free, terms);
  const VectorXd v3 = from.v + h / 2 * a2;
  const VectorXd a3 = acceleration(system, moved(v2, h / 2), v3, free, terms);
  const VectorXd v4 = from.v + h * a3;
  const VectorXd a4 = acceleration(system, moved(v3, h), v4, free, terms);
  const VectorXd mean = (from.v + 2 * v2 + 2 * v3 + v4) / 6;
  return {.time = from.time + h,
          .q = moved(mean, h),
          .v = from.v + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)};
}

}  // namespace

State fall(const System& system, State start, double height, const FallOptions& options) {
  const mjModel& model = *system.model();
  if (start.q.size() != system.nq() || start.v.size() != system.nv())
    throw std::invalid_argument("the state needs q with nq and v with nv entries");
  if (!(height >= 0)) throw std::invalid_argument("height must not be negative");
  if (!(options.step > 0)) throw std::invalid_argument("step must be positive");
  int joint = 0;
  const auto falls = [&](int j) {
    return model.jnt_type[j] == mjJNT_FREE &&
           (options.body.empty() || body_name(model, model.jnt_bodyid[j]) == options.body);
  };
  while (joint < model.njnt && !falls(joint)) ++joint;
  if (joint == model.njnt && !options.body.empty())
    throw std::invalid_argument("the model has no body " + options.body + " on a free joint");
  if (joint == model.njnt)
    throw std::invalid_argument("the model has no free joint: nothing can fall");
  const Vector3d gravity = Eigen::Map<const Vector3d>(model.opt.gravity);
  if (gravity.norm() == 0 || (model.opt.disableflags & mjDSBL_GRAVITY))
    throw std::invalid_argument("the model has no gravity: nothing falls");
  const std::string body = body_name(model, model.jnt_bodyid[joint]);

  // the lowest place along gravity that touches nothing, by steps no longer than contacts reach
  const Vector3d up = -gravity.normalized();
  const auto lifted = [&](double by) {
    VectorXd q = start.q;
    q.segment<3>(model.jnt_qposadr[joint]) += by * up;
    return q;
  };
  const auto clearance = [&](double by) { return system.clearance(lifted(by), joint); };
  const double stride = system.reach() / 2, far = 10 * model.stat.extent + 10;
  double high = 0;
  while (clearance(high) <= 0) {
    high += stride;
    if (high > far) throw std::invalid_argument("cannot lift " + body + " out of the static world");
  }
  double low = high;
  while (clearance(low) > 0) {
    high = low;
    low -= stride;
    if (low < -far)
      throw std::invalid_argument("nothing of the static world lies below " + body +
                                  ": it would fall for ever");
  }
  for (int i = 0; i < 100 && low < high; ++i) {
    const double middle = low + (high - low) / 2;
    if (middle == low || middle == high) break;
    (clearance(middle) > 0 ? high : low) = middle;
  }
  State state{.time = start.time, .q = lifted(high + height), .v = start.v};
  const Free free =
      options.hold ? Free{model.jnt_dofadr[joint], 6} : Free{0, static_cast<int>(model.nv)};
  if (options.hold) {
    state.v.setZero();
    state.v.segment<6>(free.first) = start.v.segment<6>(free.first);
  }

  // fly until a step ends below, then find where in the step
  Terms terms;
  for (const double end = state.time + options.limit; state.time < end;) {
    State next = flown(system, state, options.step, free, terms);
    if (system.clearance(next.q, joint) > 0) {
      state = std::move(next);
      continue;
    }
    double before = 0, after = options.step;
    while (true) {
      const double middle = before + (after - before) / 2;
      if (middle == before || middle == after) break;
      State between = flown(system, state, middle, free, terms);
      const double gap = system.clearance(between.q, joint);
      (gap > 0 ? before : after) = middle;
      if (gap <= 0) next = std::move(between);
      if (gap <= 0 && gap > -1e-13) break;
    }
    return next;
  }
  const auto height_of = [&](const State& s) {
    return up.dot(s.q.segment<3>(model.jnt_qposadr[joint]));
  };
  const State from{.q = lifted(high + height)};
  if (model.nu > 0 && height_of(state) >= height_of(from))
    throw std::invalid_argument(body +
                                " does not come down: its actuators hold it up; --ctrl 0 switches "
                                "them off");
  throw std::invalid_argument(body + " touches nothing within " + std::to_string(options.limit) +
                              " s of its fall");
}

}  // namespace routh::mujoco
