#include "routh/mujoco/settle.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "routh/model/kkt.h"
#include "routh/mujoco/model.h"

namespace routh::mujoco {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

double worst(const Terms& terms) {
  double most = terms.joint_gap.size() ? terms.joint_gap.cwiseAbs().maxCoeff() : 0;
  for (const Contact& c : terms.contacts) most = std::max(most, -c.phi);
  return most;
}

double merit(const Terms& terms) {
  double sum = terms.joint_gap.squaredNorm();
  for (const Contact& c : terms.contacts) sum += std::pow(std::min(c.phi, 0.0), 2);
  return sum;
}

// 0 ≤ z ⊥ G z + w ≥ 0 for G = J D⁻¹ Jᵀ by Hildreth's method: contacts that contradict each other
// leave a compromise that the next step of Newton's method begins at.
VectorXd pushes(const MatrixXd& G, const VectorXd& w) {
  VectorXd z = VectorXd::Zero(w.size()), y = w;
  for (int sweep = 0; sweep < 1000; ++sweep) {
    double change = 0;
    for (Eigen::Index i = 0; i < w.size(); ++i) {
      if (G(i, i) <= 0) continue;
      const double next = std::max(0.0, z[i] - y[i] / G(i, i)), by = next - z[i];
      if (by == 0) continue;
      y += by * G.col(i);
      z[i] = next;
      change = std::max(change, std::abs(by * G(i, i)));
    }
    if (change < 1e-14) break;
  }
  return z;
}

// Which velocities belong to free joints.
std::vector<char> free_velocities(const mjModel& m) {
  std::vector<char> free(m.nv, 0);
  for (int j = 0; j < m.njnt; ++j) {
    if (m.jnt_type[j] == mjJNT_FREE) std::fill_n(free.begin() + m.jnt_dofadr[j], 6, 1);
  }
  return free;
}

// δ of bodies on free joints alone, or of all.
VectorXd least_motion(const Terms& terms, const std::vector<char>& free, bool all) {
  const auto nv = terms.M.rows();
  MatrixXd J(terms.contacts.size(), nv);
  VectorXd phi(J.rows());
  for (Eigen::Index i = 0; i < J.rows(); ++i) {
    J.row(i) = terms.contacts[i].Jn;
    phi[i] = terms.contacts[i].phi;
  }
  VectorXd D = terms.M.diagonal();
  if (all) {
    const Mobility mobility(D.asDiagonal(), terms.A);
    VectorXd motion = VectorXd::Zero(nv);
    if (terms.A.rows() > 0) motion = mobility.moving(-terms.joint_gap);
    const MatrixXd part = mobility.free_part(J);
    return motion + mobility.response(part) * pushes(mobility.delassus(part), phi + J * motion);
  }
  // a contact within a tree has rows of rounding here
  VectorXd ease = D.cwiseInverse();
  for (Eigen::Index k = 0; k < nv; ++k) {
    if (!free[k]) J.col(k).setZero(), ease[k] = 0;
  }
  for (Eigen::Index i = 0; i < J.rows(); ++i) {
    if (J.row(i).norm() < 1e-9) J.row(i).setZero();
  }
  const MatrixXd response = ease.asDiagonal() * J.transpose();
  return response * pushes(J * response, phi);
}

}  // namespace

Settled settle(const System& system, State start, const SettleOptions& options) {
  const mjModel& m = *system.model();
  const VectorXd rest = VectorXd::Zero(m.nv);
  Terms terms = system.terms(start.q, rest);
  Settled settled{.state = std::move(start)};
  std::set<std::int64_t> overlapped;
  for (const Contact& c : terms.contacts) {
    if (c.phi < 0) overlapped.insert(c.id);
    if (-c.phi > settled.deepest) settled.deepest = -c.phi, settled.where = c.name;
  }
  if (terms.joint_gap.size()) settled.open = terms.joint_gap.cwiseAbs().maxCoeff();

  VectorXd& q = settled.state.q;
  const VectorXd before = q;
  const std::vector<char> free = free_velocities(m);
  for (const bool all : {false, true}) {
    for (int i = 0; i < options.iterations && worst(terms) > options.tolerance; ++i) {
      const VectorXd motion = least_motion(terms, free, all);
      if (!motion.allFinite() || motion.cwiseAbs().maxCoeff() < 1e-13) break;
      // as much of it as helps
      bool better = false;
      for (double part = 1; part > 1e-4 && !better; part /= 2) {
        VectorXd there = q;
        system.integrate(there, motion, part);
        Terms then = system.terms(there, rest);
        better = merit(then) < merit(terms);
        if (better) q = there, terms = std::move(then), settled.moved = true;
      }
      if (!better) break;
    }
  }
  settled.reached = worst(terms) <= options.tolerance;
  for (const Contact& c : terms.contacts) {
    if (overlapped.contains(c.id)) settled.left_open = std::max(settled.left_open, c.phi);
    if (c.phi >= -options.tolerance || c.pair < 0) continue;
    const auto root = [&](int geom) { return m.body_rootid[m.geom_bodyid[geom]]; };
    const int ngeom = static_cast<int>(m.ngeom);
    if (root(c.pair / ngeom) == root(c.pair % ngeom)) settled.stuck.push_back(c);
  }
  for (int j = 0; j < m.njnt; ++j) {
    const int at = m.jnt_qposadr[j], size = m.jnt_type[j] == mjJNT_BALL ? 4 : 1;
    if (m.jnt_type[j] == mjJNT_FREE) continue;
    settled.joint_move = std::max(
        settled.joint_move, (q.segment(at, size) - before.segment(at, size)).cwiseAbs().maxCoeff());
  }
  return settled;
}

}  // namespace routh::mujoco
