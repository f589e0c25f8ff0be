#include "routh/io/methods_selected.h"

#include <fmt/format.h>

#include "routh/event_selected/derivative.h"
#include "routh/event_selected/integrate.h"
#include "routh/event_selected/systems.h"
#include "routh/io/document.h"
#include "routh/simulate/selected_motion.h"
#include "routh/simulate/spring_contacts.h"

namespace routh::io {
namespace {

using namespace event_selected;
using Eigen::VectorXd;

constexpr double kStiffness = 1e4;  // of a mechanism's contacts [N/m]

Trajectory move(OrderTest system, const VectorXd& start, const Options& options) {
  return simulate_selected(
      system, OrderTest::State(start), options,
      SelectedView<OrderTest::State>{.q = [](const OrderTest::State& x) { return VectorXd(x); },
                                     .v =
                                         [&](const OrderTest::State& x, const Crossed& crossed) {
                                           OrderTest::State dx;
                                           system.field(x, crossed, dx);
                                           return VectorXd(dx);
                                         }});
}

Trajectory move(Hopper hopper, const VectorXd& start, Options options) {
  options.reset = Hopper::reset();
  return simulate_selected(
      hopper, Hopper::State(start), options,
      SelectedView<Hopper::State>{
          .q = [](const Hopper::State& x) { return VectorXd(x.head<1>()); },
          .v = [](const Hopper::State& x, const Crossed&) { return VectorXd(x.tail<1>()); },
          .energy = [&](const Hopper::State& x) { return hopper.energy(x); },
          .contacts = 1});
}

Trajectory move(Plate plate, const VectorXd& start, Options options) {
  options.reset = plate.reset();
  VectorXd h;
  return simulate_selected(
      plate, Plate::State(start), options,
      SelectedView<Plate::State>{
          .q = [](const Plate::State& x) { return VectorXd(x.head<3>()); },
          .v = [](const Plate::State& x, const Crossed&) { return VectorXd(x.tail<3>()); },
          .energy =
              [&](const Plate::State& x) {
                plate.guards(x, h);
                return plate.energy(x, h.array() >= 0);
              },
          .contacts = plate.parameters().springs});
}

Trajectory move(const WrittenSystem& written, const VectorXd& start, Options options) {
  WrittenSystem system = written;
  options.reset = system.reset();
  return simulate_selected(
      system, start, options,
      SelectedView<VectorXd>{.q = [](const VectorXd& x) { return x; },
                             .v =
                                 [&](const VectorXd& x, const Crossed& crossed) {
                                   VectorXd dx;
                                   system.field(x, crossed, dx);
                                   return dx;
                                 }});
}

/// Guards k and k + contacts are touch and lift-off of contact k; 0: guards are guards.
template <class System>
MotionDerivative derivative_of(System system, const VectorXd& start, Options options,
                               const Reset& reset, int contacts) {
  options.reset = reset;
  const typename System::State x0 = start;
  const auto found = orbital_derivative(system, x0, options);
  MotionDerivative derivative{
      .D = found.D, .differentiable = found.differentiable, .end = found.solution.time};
  if (!found.differentiable)
    derivative.message = "guards are crossed at one point: columns are one-sided";
  if (found.status != Status::kFinished) {
    derivative.differentiable = false;
    derivative.message = found.solution.finished() ? "a perturbed trajectory does not cross"
                                                   : describe(found.solution, options);
  }
  for (const Jump& jump : found.jumps) {
    const bool guard = contacts == 0;
    MotionJump made{.time = jump.time,
                    .kind = guard                            ? EventKind::kCrossing
                            : jump.guards.front() < contacts ? EventKind::kTouchdown
                                                             : EventKind::kLiftOff,
                    .matrix = jump.matrix};
    for (const int k : jump.guards) made.contacts.push_back(guard ? k : k % contacts);
    derivative.jumps.push_back(std::move(made));
  }
  return derivative;
}

struct DerivativeOf {
  const VectorXd& start;
  const Options& options;

  MotionDerivative operator()(const OrderTest& system) const {
    return derivative_of(system, start, options, {}, 0);
  }
  MotionDerivative operator()(const Hopper& system) const {
    return derivative_of(system, start, options, Hopper::reset(), 1);
  }
  MotionDerivative operator()(const Plate& system) const {
    return derivative_of(system, start, options, system.reset(), system.parameters().springs);
  }
  MotionDerivative operator()(const WrittenSystem& system) const {
    return derivative_of(system, start, options, system.reset(), 0);
  }
};

}  // namespace

Simulated simulate_event_selected(const Scenario& scenario, const Course& course) {
  const double end = course.end != 0 ? course.end : scenario.run.simulation.end;
  const double eps = course.eps != 0 ? course.eps : scenario.run.simulation.eps;
  const double stiffness = course.stiffness != 0 ? course.stiffness : kStiffness;
  const Options options{
      .eps = eps,
      .exact = course.exact,
      .t_end = end,
      .sample_every = course.every > 0 ? course.every : usual_every(scenario, end, 500)};
  Simulated done;
  if (const SelectedSystem* selected = scenario.selected()) {
    const auto moves = [&](const auto& system) { return move(system, selected->start, options); };
    done.trajectory = std::visit(moves, selected->system);
    if (course.derivative)
      done.derivative = std::visit(DerivativeOf{selected->start, options}, selected->system);
  } else {
    if (scenario.terms.contacts.empty())
      throw InputError(
          fmt::format("--method event-selected: {} has no contacts, so nothing happens to it that "
                      "could select events; use another method",
                      scenario.name));
    const SpringContactOptions springs{.stiffness = VectorXd::Constant(1, stiffness),
                                       .damping = VectorXd::Constant(1, course.contact_damping),
                                       .integration = options};
    const State start{0, scenario.q, scenario.v};
    done.trajectory = routh::simulate(*scenario.moving(), start, springs);
    if (course.derivative) {
      const SpringContacts system(*scenario.moving(), springs);
      done.derivative =
          derivative_of(system, system.state(start), options, system.reset(), system.contacts());
    }
  }
  done.options = {{"exact", course.exact}, {"end", end}, {"every", course.every}};
  if (!course.exact) done.options["eps"] = eps;
  if (!scenario.selected()) {
    done.options["stiffness"] = stiffness;
    done.options["contact_damping"] = course.contact_damping;
  }
  return done;
}

}  // namespace routh::io
