#include "routh/simulate/space_stepper.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace routh::stepping {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

constexpr double kClosed = 1e-9;  // gaps and overlaps below this need no correction [m]
constexpr double kSolved = 1e-6;  // residual of a step; rows that nearly depend on each other make
                                  // smaller ones expensive
constexpr int kPasses = 3;        // of the correction
constexpr double kSlow = 0.1;     // a contact may come nearer by this beyond what is seen [m/s]

/// 0 ≤ y ⊥ c + G y ≥ 0 by sweeps, as well as a correction of positions needs it.
VectorXd push_out(const MatrixXd& G, const VectorXd& c) {
  VectorXd y = VectorXd::Zero(c.size()), now = c;
  for (int sweep = 0; sweep < 200; ++sweep) {
    double moved = 0;
    for (Eigen::Index i = 0; i < c.size(); ++i) {
      if (!(G(i, i) > 0)) continue;
      const double step = std::max(-y[i], -now[i] / G(i, i));
      y[i] += step;
      now += G.col(i) * step;
      moved = std::max(moved, std::abs(step) * G(i, i));
    }
    if (moved <= 0.1 * kClosed) break;
  }
  return y;
}

void check_tangents(const Contact& contact) {
  if (contact.mu > 0 && contact.Jt.rows() != 2) {
    throw std::invalid_argument("contact " + contact.name + " has " +
                                std::to_string(contact.Jt.rows()) +
                                " tangent rows (Jt); in space friction needs two");
  }
}

}  // namespace

SpaceStepper::SpaceStepper(const System& sys, const State& start,
                           const TimeSteppingOptions& options)
    : system(sys), o(options) {
  const auto refuse = [](bool given, const std::string& what) {
    if (given) throw std::invalid_argument(what + "; leave it out");
  };
  refuse(o.alpha.value_or(1) != 1, "alpha: systems in space are stepped with alpha = 1");
  refuse(o.gamma.value_or(1) != 1, "gamma: systems in space are stepped with gamma = 1");
  refuse(o.jacobians == Jacobians::kMidpoint,
         "jacobians: in space rows are taken at the start of a step");
  refuse(!o.detection, "detection: in space collisions are not looked for inside a step");
  refuse(o.impulses, "impulses: in space impulses between records are not kept");
  refuse(o.impacts_per_step != TimeSteppingOptions{}.impacts_per_step,
         "impacts_per_step: in space a step is one problem, impacts included");
  refuse(bool(o.law), "law: in space impacts follow the simultaneous law alone");
  s = start;
  v_weighted = start.v;
  impulses.resize(0);
}

void SpaceStepper::begin() {
  system.evaluate(s.time, s.q, s.v, terms_);
  if (terms_.joint_gap.size() > 0 && terms_.joint_gap.cwiseAbs().maxCoeff() > o.touching) {
    throw std::invalid_argument("the joints are open by " +
                                std::to_string(terms_.joint_gap.cwiseAbs().maxCoeff()) +
                                " m at the start; close them or ask for projection");
  }
  for (const Contact& contact : terms_.contacts) {
    check_tangents(contact);
    if (contact.phi < -o.touching) {
      throw std::invalid_argument("contact " + contact.name + " penetrates by " +
                                  std::to_string(-contact.phi) + " m at the start");
    }
  }
}

void SpaceStepper::set_inertia(const MatrixXd& inertia) {
  llt_.compute(inertia);
  if (llt_.info() != Eigen::Success) {
    throw std::invalid_argument(
        "the inertia with its implicit springs and dampers is not positive definite at t = " +
        std::to_string(s.time) + " s; a smaller step may help");
  }
  if (terms_.A.rows() == 0) return;
  W_At_ = llt_.solve(terms_.A.transpose());
  joints_ = terms_.A * W_At_;
  // rows of the same size, whatever their units, with a trifle for redundant ones
  joint_unit_ = joints_.diagonal().unaryExpr([](double x) { return x > 0 ? 1 / std::sqrt(x) : 1; });
  joints_ = (joint_unit_.asDiagonal() * joints_ * joint_unit_.asDiagonal()).eval();
  joints_.diagonal().array() += 1e-12;
  joints_ldlt_.compute(joints_);
}

MatrixXd SpaceStepper::joint_impulse(const MatrixXd& rates) const {
  return joint_unit_.asDiagonal() * joints_ldlt_.solve(MatrixXd(joint_unit_.asDiagonal() * rates));
}

void SpaceStepper::assemble(int tangents) {
  const auto m = static_cast<Eigen::Index>(near_.size());
  J_.resize((1 + tangents) * m, system.nv());
  for (Eigen::Index i = 0; i < m; ++i) {
    const Contact& contact = terms_.contacts[near_[i]];
    J_.row(i) = contact.Jn;
    if (!tangents) continue;
    auto Jt = J_.middleRows(m + tangents * i, tangents);
    check_tangents(contact);
    if (contact.Jt.rows() == tangents)
      Jt = contact.Jt;
    else
      Jt.setZero();
  }
  W_Jt_ = llt_.solve(J_.transpose());
  if (terms_.A.rows() > 0) W_Jt_ -= W_At_ * joint_impulse(terms_.A * W_Jt_);
}

void SpaceStepper::choose_near(const VectorXd& v, double dt) {
  // twice the way of the fastest contact, since impulses of others may speed it up
  double fastest = 0;
  for (const Contact& contact : terms_.contacts)
    fastest = std::max(fastest, std::abs(contact.Jn.dot(v)));
  near_.clear();
  for (std::size_t i = 0; i < terms_.contacts.size(); ++i) {
    if (terms_.contacts[i].phi <= dt * (2 * fastest + kSlow)) near_.push_back(static_cast<int>(i));
  }
}

/// Closes joints and pushes contacts out. True when nothing was left to do.
bool SpaceStepper::close_gaps() {
  double worst = terms_.joint_gap.size() > 0 ? terms_.joint_gap.cwiseAbs().maxCoeff() : 0;
  for (const Contact& contact : terms_.contacts) worst = std::max(worst, -contact.phi);
  if (worst <= kClosed) return true;

  set_inertia(terms_.M);
  VectorXd motion = VectorXd::Zero(system.nv());
  if (terms_.A.rows() > 0) motion -= W_At_ * joint_impulse(terms_.joint_gap);
  near_.clear();
  for (std::size_t i = 0; i < terms_.contacts.size(); ++i) {
    if (terms_.contacts[i].phi <= 100 * worst) near_.push_back(static_cast<int>(i));
  }
  if (!near_.empty()) {
    assemble(0);
    VectorXd gap = J_ * motion;
    for (Eigen::Index i = 0; i < gap.size(); ++i) gap[i] += terms_.contacts[near_[i]].phi;
    motion += W_Jt_ * push_out(J_ * W_Jt_, gap);
  }
  // a motion far larger than the gaps comes from rows that contradict each other
  if (!motion.allFinite() || motion.lpNorm<Eigen::Infinity>() > 1000 * worst) return true;
  system.integrate(s.q, motion, 1);
  system.evaluate(s.time, s.q, s.v, terms_);
  return false;
}

void SpaceStepper::step(double dt) {
  // the velocity without contacts
  MatrixXd inertia = terms_.M;
  VectorXd push = dt * terms_.forces;
  if (terms_.Kv.size() > 0) inertia -= dt * terms_.Kv;
  if (terms_.Kq.size() > 0) {
    inertia -= dt * dt * terms_.Kq;
    push += dt * dt * (terms_.Kq * s.v);
  }
  if (!push.allFinite())
    throw std::invalid_argument("the forces are not finite at t = " + std::to_string(s.time) +
                                " s");
  set_inertia(inertia);
  VectorXd v = s.v + llt_.solve(push);
  if (terms_.A.rows() > 0) v -= W_At_ * joint_impulse(terms_.A * v);

  const VectorXd v_minus = s.v;
  VectorXd lambda;
  choose_near(v, dt);
  const int m = static_cast<int>(near_.size());
  if (m > 0) {
    assemble(2);
    ImpactProblem problem{
        .G = J_ * W_Jt_, .c = J_ * v, .mu = VectorXd(m), .tangents = 2, .edges = o.edges};
    problem.G = 0.5 * (problem.G + problem.G.transpose()).eval();
    lambda = VectorXd::Zero(3 * m);
    Modes modes(m, {Normal::kOpen, Tangent::kFree});
    for (int i = 0; i < m; ++i) {
      const Contact& contact = terms_.contacts[near_[i]];
      problem.mu[i] = contact.mu;
      problem.c[i] += std::max(0.0, contact.phi) / dt;
      if (const auto known = last_.find(key(near_[i])); known != last_.end()) {
        lambda[i] = known->second.impulse[0];
        lambda.segment<2>(m + 2 * i) = known->second.impulse.tail<2>();
        modes[i] = known->second.mode;
      }
    }
    std::vector<int> order(m);
    std::iota(order.begin(), order.end(), 0);
    SweepSolver solver(problem);
    solver.start_from(std::move(modes));
    const bool solved =
        solver.solve(problem.c, {}, order, {.tolerance = std::max(o.tolerance, kSolved)}, lambda);
    note_solved(solved, solver.residual());
    v += W_Jt_ * lambda;
    s.v = v;
    note_impact(v_minus, lambda);
    last_.clear();
    for (int i = 0; i < m; ++i) {
      if (lambda[i] <= 0) continue;
      Vector3d impulse(lambda[i], lambda[m + 2 * i], lambda[m + 2 * i + 1]);
      last_[key(near_[i])] = {impulse, solver.modes()[i]};
    }
  }
  s.v = v;
  system.integrate(s.q, s.v, dt);
}

/// Contacts that begin to press while they approach, and faster than a step of free fall would.
void SpaceStepper::note_impact(const VectorXd& v_minus, const VectorXd& lambda) {
  const int m = static_cast<int>(near_.size());
  Event event{.time = s.time, .v_minus = v_minus};
  std::vector<int> rows;
  for (int i = 0; i < m; ++i) {
    const Contact& contact = terms_.contacts[near_[i]];
    const double approach = -contact.Jn.dot(v_minus), change = contact.Jn.dot(s.v - v_minus);
    if (lambda[i] <= 0 || last_.count(key(near_[i])) || approach <= 1e-3 || change <= 1e-3)
      continue;
    event.contacts.push_back(index_of(near_[i]));
    rows.push_back(i);
  }
  if (rows.empty()) return;
  event.v_plus = s.v;
  event.impulse.resize(3 * static_cast<Eigen::Index>(rows.size()));
  for (std::size_t k = 0; k < rows.size(); ++k) {
    event.impulse[3 * k] = lambda[rows[k]];
    event.impulse.segment<2>(3 * k + 1) = lambda.segment<2>(m + 2 * rows[k]);
  }
  log.events.push_back(std::move(event));
}

void SpaceStepper::note_solved(bool solved, double residual) {
  ++log.lcps;
  if (!solved) ++log.inaccurate;
  log.max_residual = std::max(log.max_residual, residual);
}

std::string SpaceStepper::key(int contact) const {
  return system.contacts_vary() ? terms_.contacts[contact].name : std::to_string(contact);
}

int SpaceStepper::index_of(int contact) {
  if (!system.contacts_vary()) return contact;
  const std::string& name = terms_.contacts[contact].name;
  const auto [place, fresh] = known_.try_emplace(name, static_cast<int>(log.contact_names.size()));
  if (fresh) log.contact_names.push_back(name);
  return place->second;
}

void SpaceStepper::advance(double target) {
  step(target - s.time);
  s.time = target;
  v_weighted = s.v;
  system.evaluate(s.time, s.q, s.v, terms_);
  for (int pass = 0; pass < kPasses && o.stabilise; ++pass) {
    if (close_gaps()) break;
  }
  for (const Contact& contact : terms_.contacts)
    log.max_penetration = std::max(log.max_penetration, -contact.phi);
  if (terms_.joint_gap.size() > 0)
    log.max_joint_error = std::max(log.max_joint_error, terms_.joint_gap.cwiseAbs().maxCoeff());
  ++log.steps;
}

}  // namespace routh::stepping
