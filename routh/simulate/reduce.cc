#include "routh/simulate/reduce.h"

#include <Eigen/Eigenvalues>
#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "routh/linear/decompose.h"
#include "routh/model/coupling.h"

namespace routh {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Each entry is measured by the inertia of its row and column, so that units do not matter.
void check_inertia(const MatrixXd& M, const std::vector<std::vector<int>>& groups, bool joints) {
  if (!M.allFinite()) throw std::invalid_argument("M has an entry that is not finite");
  VectorXd size = M.diagonal().cwiseAbs().cwiseSqrt();
  for (Eigen::Index i = 0; i < M.rows(); ++i) {
    for (Eigen::Index j = 0; j < i; ++j) {
      if (std::abs(M(i, j) - M(j, i)) > 1e-9 * size[i] * size[j] &&
          std::abs(M(i, j) - M(j, i)) > 1e-9 * std::abs(M(i, j) + M(j, i)))
        throw std::invalid_argument("M is not symmetric; an inertia matrix must be");
    }
  }
  const VectorXd unit = size.unaryExpr([](double x) { return x > 0 ? 1 / x : 1; });
  double least = HUGE_VAL;
  for (const std::vector<int>& group : groups) {
    const VectorXd own = unit(group);
    const MatrixXd scaled = own.asDiagonal() * M(group, group) * own.asDiagonal();
    least = std::min(least, linear::symmetric_eigenvalues(scaled).minCoeff());
  }
  if (least < -1e-10 || (!joints && least <= 1e-14)) {
    throw std::invalid_argument("M is not positive definite: its smallest eigenvalue is " +
                                std::to_string(least) + " of its diagonal");
  }
}

/// Indices of the rows that know one of these columns.
std::vector<int> rows_knowing(const MatrixXd& rows, const std::vector<int>& columns) {
  std::vector<int> known;
  for (int r = 0; r < rows.rows(); ++r) {
    for (const int k : columns) {
      if (rows(r, k) == 0) continue;
      known.push_back(r);
      break;
    }
  }
  return known;
}

/// M†, W and G, group by group of velocities that are not coupled.
void respond(const Terms& terms, const std::vector<std::vector<int>>& groups,
             ReducedImpact& reduced) {
  const Eigen::Index nv = terms.M.rows(), rows = reduced.J.rows();
  reduced.Mdag.setZero(nv, nv);
  reduced.W.setZero(nv, rows);
  reduced.problem.G.setZero(rows, rows);
  for (const std::vector<int>& group : groups) {
    const MatrixXd M = terms.M(group, group);
    const MatrixXd A = terms.A(rows_knowing(terms.A, group), group);
    const Mobility mobility(M, A);
    reduced.Mdag(group, group) = mobility.Mdag();
    const std::vector<int> moved = rows_knowing(reduced.J, group);
    if (moved.empty()) continue;
    const MatrixXd free = mobility.free_part(reduced.J(moved, group));
    reduced.problem.G(moved, moved) += mobility.delassus(free);
    reduced.W(group, moved) = mobility.response(free);
  }
}

/// How many tangents the contacts with friction have; the others may have any number.
int tangents_of(const Terms& terms, const std::vector<int>& contacts) {
  const Contact* first = nullptr;
  for (const int i : contacts) {
    const Contact& contact = terms.contacts[i];
    if (contact.mu == 0) continue;
    if (!first) first = &contact;
    if (contact.Jt.rows() != first->Jt.rows() || contact.Jt.rows() < 1 || contact.Jt.rows() > 2) {
      throw std::invalid_argument(
          "contact " + contact.name + " has " + std::to_string(contact.Jt.rows()) +
          " tangent rows (Jt) and contact " + first->name + " has " +
          std::to_string(first->Jt.rows()) + "; give all one row or all two");
    }
  }
  const Contact& one = first ? *first : terms.contacts[contacts.front()];
  return static_cast<int>(std::clamp<Eigen::Index>(one.Jt.rows(), 1, 2));
}

}  // namespace

VectorXd restitutions(const Terms& terms, const std::vector<int>& contacts) {
  VectorXd e(contacts.size());
  for (std::size_t k = 0; k < contacts.size(); ++k) e[k] = terms.contacts[contacts[k]].e;
  return (e.array() == 0).all() ? VectorXd() : e;
}

ReducedImpact reduce(const Terms& terms, const VectorXd& v, double touching) {
  return reduce(terms, v, touching_contacts(terms, touching));
}

std::vector<int> touching_contacts(const Terms& terms, double touching) {
  std::vector<int> contacts;
  const Contact* deepest = nullptr;
  for (std::size_t i = 0; i < terms.contacts.size(); ++i) {
    const Contact& contact = terms.contacts[i];
    if (contact.phi < -touching && (!deepest || contact.phi < deepest->phi)) deepest = &contact;
    if (contact.phi <= touching) contacts.push_back(static_cast<int>(i));
  }
  if (deepest) {
    throw std::invalid_argument("contact " + deepest->name + " penetrates by " +
                                std::to_string(-deepest->phi) + " m at the start");
  }
  return contacts;
}

std::vector<int> extreme_points(const Terms& terms, const std::vector<int>& contacts) {
  // patches: the same shapes, the same plane
  std::vector<std::vector<int>> patches;
  for (const int i : contacts) {
    const Contact& c = terms.contacts[i];
    const auto together = [&](const std::vector<int>& patch) {
      const Contact& other = terms.contacts[patch.front()];
      return c.pair >= 0 && c.pair == other.pair && c.normal.dot(other.normal) > 1 - 1e-9 &&
             std::abs(c.normal.dot(c.point - other.point)) < 1e-6;
    };
    const auto known = std::find_if(patches.begin(), patches.end(), together);
    if (known == patches.end()) {
      patches.push_back({i});
    } else {
      known->push_back(i);
    }
  }
  std::vector<int> kept;
  for (const std::vector<int>& patch : patches) {
    const Eigen::Vector3d n = terms.contacts[patch.front()].normal;
    const Eigen::Vector3d x = n.unitOrthogonal(), y = n.cross(x);
    const auto place = [&](int i) {
      const Eigen::Vector3d& p = terms.contacts[i].point;
      return Eigen::Vector2d(x.dot(p), y.dot(p));
    };
    double size = 0;
    for (const int i : patch) size = std::max(size, (place(i) - place(patch.front())).norm());
    // a corner of the hull is extreme in some direction; many directions find all that matter
    constexpr int kDirections = 360;
    std::vector<char> extreme(patch.size(), 0);
    for (int k = 0; k < kDirections && size > 0; ++k) {
      const double angle = 2 * M_PI * (k + 0.5) / kDirections;
      const Eigen::Vector2d direction(std::cos(angle), std::sin(angle));
      std::size_t best = 0;
      for (std::size_t j = 1; j < patch.size(); ++j) {
        if ((place(patch[j]) - place(patch[best])).dot(direction) > 1e-9 * size) best = j;
      }
      extreme[best] = 1;
    }
    for (std::size_t j = 0; j < patch.size(); ++j) {
      if (extreme[j] || (size == 0 && j == 0)) kept.push_back(patch[j]);
    }
  }
  std::sort(kept.begin(), kept.end());
  return kept;
}

ReducedImpact reduce(const Terms& terms, const VectorXd& v, std::vector<int> contacts) {
  const int nv = static_cast<int>(v.size());
  ReducedImpact reduced;
  const std::vector<std::vector<int>> groups = uncoupled(terms.M, terms.A);
  check_inertia(terms.M, groups, terms.A.rows() > 0);
  reduced.contacts = std::move(contacts);

  // rows: all normals, then the tangents contact by contact
  const int m = static_cast<int>(reduced.contacts.size());
  const int tangents = m ? tangents_of(terms, reduced.contacts) : 1;
  ImpactProblem& p = reduced.problem;
  p.tangents = tangents;
  p.mu.resize(m);
  reduced.J.resize((1 + tangents) * m, nv);
  for (int k = 0; k < m; ++k) {
    const Contact& contact = terms.contacts[reduced.contacts[k]];
    reduced.J.row(k) = contact.Jn;
    auto Jt = reduced.J.middleRows(m + k * tangents, tangents);
    if (contact.Jt.rows() == tangents)
      Jt = contact.Jt;
    else
      Jt.setZero();
    p.mu[k] = contact.mu;
  }
  p.e = restitutions(terms, reduced.contacts);
  try {
    respond(terms, groups, reduced);
  } catch (const std::invalid_argument&) {
    const Mobility whole(terms.M, terms.A);  // says which of all velocities is at fault
    throw;
  }
  p.c = reduced.J * v;

  // what the rows could amount to without cancellation tells which velocities are rounding
  const VectorXd terms_of_c = reduced.J.cwiseAbs() * v.cwiseAbs();
  for (int i = 0; i < p.c.size(); ++i) {
    if (std::isfinite(terms_of_c[i]) && std::abs(p.c[i]) <= 1e-12 * terms_of_c[i]) p.c[i] = 0;
  }
  return reduced;
}

Eigen::VectorXd in_turn(const ImpactProblem& problem, const Eigen::VectorXd& impulse,
                        int tangents) {
  const int t = tangents;
  Eigen::VectorXd turned((1 + t) * problem.contacts());
  for (int i = 0; i < problem.contacts(); ++i) {
    turned[(1 + t) * i] = impulse[i];
    turned.segment((1 + t) * i + 1, t) = impulse.segment(problem.tangent(i), t);
  }
  return turned;
}

void require_one_tangent(const Terms& terms, const std::string& method) {
  for (const Contact& contact : terms.contacts) {
    if (contact.Jt.rows() < 1 || (contact.mu > 0 && contact.Jt.rows() != 1)) {
      throw std::invalid_argument(method + " needs one tangent for each contact, but contact " +
                                  contact.name + " has " + std::to_string(contact.Jt.rows()) +
                                  " (Jt); time-stepping takes two");
    }
  }
}

double kinetic_energy(const Terms& terms, const VectorXd& v) {
  double twice = 0;  // column by column: a product would allocate
  for (Eigen::Index j = 0; j < v.size(); ++j) twice += v[j] * terms.M.col(j).dot(v);
  return 0.5 * twice;
}

}  // namespace routh
