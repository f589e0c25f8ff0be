#include "routh/simulate/spring_contacts.h"

#include <cmath>
#include <stdexcept>
#include <string>

#include "routh/model/kkt.h"
#include "routh/simulate/selected_motion.h"

namespace routh {
namespace {

using Eigen::VectorXd;

/// One value for all contacts, or one each.
VectorXd spread(const VectorXd& values, Eigen::Index contacts, const std::string& name) {
  if (values.size() != 1 && values.size() != contacts)
    throw std::invalid_argument(name + " must have one value, or one for each of the " +
                                std::to_string(contacts) + " contacts");
  return values.size() == contacts ? values : VectorXd::Constant(contacts, values[0]);
}

}  // namespace

SpringContacts::SpringContacts(const System& system, const SpringContactOptions& options)
    : system_(system) {
  if (system.nq() != system.nv() || system.contacts_vary())
    throw std::invalid_argument(
        "spring contacts need a system with as many coordinates as velocities, and contacts that "
        "are always the same");
  system.gaps(VectorXd::Zero(system.nq()), gap_, joint_gap_);
  k_ = spread(options.stiffness, gap_.size(), "stiffness");
  b_ = spread(options.damping, gap_.size(), "damping");
  if (!(k_.array() > 0).all() || !k_.allFinite())
    throw std::invalid_argument("stiffness of contacts must be positive");
  if (!(b_.array() >= 0).all() || !b_.allFinite())
    throw std::invalid_argument("damping of contacts must not be negative");
}

SpringContacts::State SpringContacts::state(const routh::State& at) const {
  if (at.q.size() != system_.nq() || at.v.size() != system_.nv())
    throw std::invalid_argument("start: q and v must have " + std::to_string(system_.nv()) +
                                " entries");
  State x(2 * system_.nv() + 1);
  x << at.q, at.v, at.time;
  return x;
}

void SpringContacts::evaluate(const State& x) {
  const int nv = system_.nv();
  q_ = x.head(nv), v_ = x.segment(nv, nv);
  system_.evaluate(x[2 * nv], q_, v_, terms_);
}

void SpringContacts::field(const State& x, const event_selected::Crossed& crossed, State& dx) {
  const bool moves = moves_at(x, trouble_, [&] {
    evaluate(x);
    accelerate(crossed, dx);
  });
  if (!moves) dx.setConstant(NAN);
}

void SpringContacts::accelerate(const event_selected::Crossed& crossed, State& dx) {
  const int nv = system_.nv();
  require_motion(system_, terms_, terms_.A.rows() > 0);
  force_ = terms_.forces;
  for (int i = 0; i < contacts(); ++i) {
    if (!crossed[i]) continue;
    const Contact& contact = terms_.contacts[i];
    force_ -= contact.Jn.transpose() * (k_[i] * contact.phi + b_[i] * contact.Jn.dot(v_));
  }
  dx.head(nv) = v_;
  dx.segment(nv, nv) = Mobility(terms_.M, terms_.A).acceleration(force_, terms_.joint_bias);
  dx[2 * nv] = 1;
}

void SpringContacts::guards(const State& x, VectorXd& h) {
  q_ = x.head(system_.nv());
  system_.gaps(q_, gap_, joint_gap_);
  h.resize(2 * gap_.size());
  h << -gap_, gap_;
}

void SpringContacts::rates(const State& x, const State& dx, VectorXd& hdot) {
  const int nv = system_.nv(), m = contacts();
  evaluate(x);
  for (int i = 0; i < m; ++i) {
    hdot[i] = -terms_.contacts[i].Jn.dot(dx.head(nv));
    hdot[m + i] = -hdot[i];
  }
}

double SpringContacts::energy(const State& x) {
  evaluate(x);
  double e = 0.5 * v_.dot(terms_.M * v_) + system_.potential_energy(q_);
  for (int i = 0; i < contacts(); ++i)
    e += 0.5 * k_[i] * std::pow(std::min(0.0, terms_.contacts[i].phi), 2);
  return e;
}

Trajectory simulate(const System& system, const State& start, const SpringContactOptions& options) {
  SpringContacts springs(system, options);
  event_selected::Options integration = options.integration;
  integration.t_start = start.time;
  integration.reset = springs.reset();
  integration.crossed = {};
  const VectorXd x0 = springs.state(start);
  const int nv = system.nv();
  VectorXd h;
  const SelectedView<VectorXd> view{
      .q = [nv](const VectorXd& x) -> VectorXd { return x.head(nv); },
      .v = [nv](const VectorXd& x, const auto&) -> VectorXd { return x.segment(nv, nv); },
      .energy = [&](const VectorXd& x) { return springs.energy(x); },
      .penetration =
          [&](const VectorXd& x) {
            springs.guards(x, h);
            return h.size() > 0 ? h.head(springs.contacts()).maxCoeff() : 0.0;
          },
      .contacts = springs.contacts()};

  // a start that does not move is refused, with the reason
  VectorXd dx(x0.size());
  if (x0.allFinite()) {
    springs.field(x0, event_selected::Crossed::Constant(2 * springs.contacts(), false), dx);
    if (!dx.allFinite()) throw std::invalid_argument(springs.trouble());
  }
  Trajectory t = simulate_selected(springs, x0, integration, view);
  if (t.status == SimulationStatus::kInvalid && !springs.trouble().empty())
    t.message = Recorder::timed(springs.trouble(), t.final.time);
  return t;
}

}  // namespace routh
