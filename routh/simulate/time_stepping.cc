#include "routh/simulate/time_stepping.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "routh/model/kkt.h"
#include "routh/simulate/motion_derivative.h"
#include "routh/simulate/step_derivative.h"
#include "routh/simulate/stepper.h"

namespace routh {
namespace {

using Eigen::VectorXd;

void validate(const System& system, const State& start, const TimeSteppingOptions& o) {
  const auto fail = [](const std::string& what) { throw std::invalid_argument(what); };
  if (!(o.h > 0) || !std::isfinite(o.h)) fail("step h must be a positive number of seconds");
  if (o.alpha && !(*o.alpha > 0 && *o.alpha <= 1)) fail("alpha must be above 0 and at most 1");
  if (o.gamma && !(*o.gamma >= 0 && *o.gamma <= 1)) fail("gamma must be between 0 and 1");
  if (!(o.every >= 0)) fail("every must not be negative");
  if (o.law && !o.detection.value_or(true))
    fail("law: without detection a step resolves its impacts by itself; leave out one of the two");
  if (system.bounces() && !o.detection.value_or(true))
    fail(
        "detection: contacts bounce at the instant of an impact; leave it on, or set their "
        "restitution to 0");
  if (!(o.end > start.time)) {
    fail("end (" + std::to_string(o.end) + " s) must be after the start (" +
         std::to_string(start.time) + " s)");
  }
  if (start.q.size() != system.nq() || start.v.size() != system.nv()) {
    fail("the start must have " + std::to_string(system.nq()) + " coordinates and " +
         std::to_string(system.nv()) + " velocities");
  }
  if (!start.q.allFinite() || !start.v.allFinite())
    fail("the start has a number that is not finite");
}

}  // namespace

TimeSteppingOptions completed(const System& system, TimeSteppingOptions o) {
  const bool vary = system.contacts_vary();
  o.alpha = o.alpha.value_or(vary ? 1 : 0.5);
  o.gamma = o.gamma.value_or(*o.alpha);
  if (o.jacobians == Jacobians::kDefault)
    o.jacobians = *o.alpha == 0.5 ? Jacobians::kMidpoint : Jacobians::kStart;
  o.detection = o.detection.value_or(!vary || *o.alpha < 1 || o.law || system.bounces());
  return o;
}

TimeStepper::TimeStepper(const System& system, const State& start,
                         const TimeSteppingOptions& options) {
  validate(system, start, options);
  stepper_ = std::make_unique<stepping::Stepper>(system, start, options, false);
  h_ = options.h;
  stepper_->begin();
}
TimeStepper::~TimeStepper() = default;
TimeStepper::TimeStepper(TimeStepper&&) noexcept = default;

void TimeStepper::step() { stepper_->advance(stepper_->s.time + h_); }
void TimeStepper::forces_changed() { stepper_->forget(); }
double TimeStepper::time() const { return stepper_->s.time; }
const VectorXd& TimeStepper::q() const { return stepper_->s.q; }
const VectorXd& TimeStepper::v() const { return stepper_->s.v; }
const VectorXd& TimeStepper::v_weighted() const { return stepper_->v_weighted; }
const Trajectory& TimeStepper::log() const { return stepper_->recorder.log; }

static Trajectory moved(const System& system, const State& start,
                        const TimeSteppingOptions& options, stepping::Tangent* tangent) {
  validate(system, start, options);
  stepping::Stepper stepper(system, start, options, true);
  stepper.tangent = tangent;
  Recorder& recorder = stepper.recorder;
  const double h = options.h, &now = stepper.s.time;
  stepper.keep();
  bool on = recorder.moves(now, [&] { stepper.begin(); });
  for (long step = 1; on && options.end - now > 1e-9 * h; ++step) {
    const double grid = start.time + static_cast<double>(step) * h;
    const double target = options.end - grid < 1e-6 * h ? options.end : grid;
    on = recorder.moves(now, [&] { stepper.advance(target); });
    if (on && recorder.due() <= now) stepper.keep();
    on = recorder.goes_on(now);
  }
  if (!recorder.kept(now)) stepper.keep();
  if (!recorder.stopped() && recorder.log.stepping()->inaccurate > 0)
    recorder.log.status = SimulationStatus::kInaccurate;
  return recorder.finish({now, stepper.s.q, stepper.v_weighted});
}

Trajectory simulate(const System& system, const State& start, const TimeSteppingOptions& options) {
  return moved(system, start, options, nullptr);
}

MotionDerivative derivative(const System& system, const State& start,
                            const TimeSteppingOptions& options, const Masses& masses) {
  stepping::Tangent tangent(system, masses);
  const Trajectory t = moved(system, start, options, &tangent);
  if (t.stopped()) tangent.lost(t.message, t.final.time);
  MotionDerivative result = tangent.result();
  result.end = t.final.time;
  return result;
}

State project_joints(const System& system, State state) {
  double before = HUGE_VAL;
  for (int iteration = 0; iteration < 50; ++iteration) {
    const Terms terms = system.terms(state.q, state.v, state.time);
    if (terms.A.rows() == 0) return state;
    const double open = terms.joint_gap.cwiseAbs().maxCoeff();
    const Mobility mobility(terms.M, terms.A);
    // Newton's method converges until rounding holds it up
    if (open == 0 || (open < 1e-9 && open > 0.5 * before)) {
      state.v = mobility.Mdag() * (terms.M * state.v);
      return state;
    }
    system.integrate(state.q, -mobility.moving(terms.joint_gap), 1);
    before = open;
  }
  throw std::invalid_argument(
      "the joints cannot be closed near the start: " + std::to_string(before) + " m remain");
}

}  // namespace routh
