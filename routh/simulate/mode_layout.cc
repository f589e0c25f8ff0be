#include <Eigen/LU>
#include <Eigen/QR>
#include <cmath>
#include <stdexcept>

#include "routh/linear/decompose.h"
#include "routh/simulate/mode_kernel.h"

/// Which rows a mode has, which of them depend on others, and what its modes are called.
namespace routh {

using Eigen::MatrixXd;
using Eigen::RowVectorXd;
using Eigen::VectorXd;

namespace {

constexpr double kParallel = 1e-9;  // a tangent this close to another pushes as that does

}  // namespace

/// Of the velocities; those without mass by what holds them, joints or contacts.
VectorXd ModeKernel::scales() const {
  const Eigen::Index joints = terms_.A.rows(), nv = terms_.M.rows();
  const bool massless = nv > 0 && !(terms_.M.diagonal().minCoeff() > 0);
  const auto contacts = static_cast<Eigen::Index>(massless ? terms_.contacts.size() : 0);
  MatrixXd rows(joints + 2 * contacts, nv);
  rows.topRows(joints) = terms_.A;
  for (Eigen::Index k = 0; k < contacts; ++k) {
    rows.row(joints + 2 * k) = terms_.contacts[k].Jn;
    rows.row(joints + 2 * k + 1) = terms_.contacts[k].Jt.row(0);
  }
  Measures measures;
  measures.take(terms_.M.diagonal(), rows);
  return measures.coordinate;
}

ModeKernel::Layout ModeKernel::layout(const Mode& mode) const {
  Layout result{.mode = mode};
  const int contacts = static_cast<int>(mode.size());

  // limbs no closed contact moves with
  for (int l = 0; l < static_cast<int>(limbs_.size()); ++l) {
    bool held = false;
    for (int k = 0; k < contacts; ++k) held = held || (closed(mode[k]) && limb_moves(limbs_[l], k));
    if (!held) result.in_air.push_back(l);
  }

  result.skims = skims(result);

  // which rows depend on those before them
  IndependentRows rows(scales());
  for (Eigen::Index i = 0; i < terms_.A.rows(); ++i) (void)rows.add(terms_.A.row(i));
  const auto alignment = [&](const RowVectorXd& a, const RowVectorXd& b) {
    return std::abs(rows.measured(a).normalized().dot(rows.measured(b).normalized()));
  };
  for (int k = 0; k < contacts; ++k) {
    if (!closed(mode[k])) continue;
    const RowVectorXd& row = terms_.contacts[k].Jn;
    if (!rows.add(row) && result.regular()) {
      result.dependent = k;
      for (const int other : result.normals) {
        if (result.on < 0 || alignment(row, terms_.contacts[other].Jn) >
                                 alignment(row, terms_.contacts[result.on].Jn))
          result.on = other;
      }
    }
    result.normals.push_back(k);
  }
  // what joints and normals leave of a row
  MatrixXd held;
  const auto rest = [&](const RowVectorXd& row) -> VectorXd {
    if (held.size() == 0) {
      const auto joints = terms_.A.rows();
      held.resize(row.size(), joints + static_cast<Eigen::Index>(result.normals.size()));
      for (Eigen::Index i = 0; i < joints; ++i) held.col(i) = rows.measured(terms_.A.row(i));
      for (std::size_t i = 0; i < result.normals.size(); ++i)
        held.col(joints + static_cast<Eigen::Index>(i)) =
            rows.measured(terms_.contacts[result.normals[i]].Jn);
    }
    const VectorXd whole = rows.measured(row);
    return whole - held * linear::least_squares(held, whole);
  };
  for (int k = 0; k < contacts; ++k) {
    if (mode[k] != Grip::kStick) continue;
    const RowVectorXd row = terms_.contacts[k].Jt.row(0);
    if (rows.add(row)) {
      result.tangents.push_back(k);
      continue;
    }
    Layout::Dropped dropped{k, -1, 0};
    for (const int other : result.tangents) {
      // parallel as far as joints and normals leave them free: the ends of one rod on the floor
      const VectorXd kept = rest(terms_.contacts[other].Jt.row(0)), gone = rest(row);
      const double ratio = gone.dot(kept) / kept.squaredNorm();
      if ((gone - ratio * kept).norm() <= kParallel * rows.measured(row).norm() &&
          gone.norm() > kParallel * rows.measured(row).norm())
        dropped.kept = other, dropped.ratio = std::abs(ratio);
    }
    result.dropped.push_back(dropped);
  }
  return result;
}

void ModeKernel::explain_singular(const Layout& layout) const {
  const auto name = [&](int k) {
    return std::string("'").append(terms_.contacts[k].name).append("'");
  };
  if (!layout.regular()) {
    throw std::invalid_argument(
        "contact " + name(layout.dependent) + " depends on " +
        (layout.on >= 0 ? "contact " + name(layout.on) : std::string("the joints")) +
        ": the constraints of a mode must be independent (P4 A2); remove one of them or use "
        "time-stepping");
  }
  // the motion that neither mass nor constraint determines
  const Eigen::Index nv = terms_.M.rows();
  MatrixXd rows(nv + terms_.A.rows() +
                    static_cast<Eigen::Index>(layout.normals.size() + layout.tangents.size()),
                nv);
  rows.topRows(nv) = terms_.M;
  for (const int l : layout.in_air) rows(limbs_[l].coordinate, limbs_[l].coordinate) = 1;
  rows.middleRows(nv, terms_.A.rows()) = terms_.A;
  Eigen::Index r = nv + terms_.A.rows();
  for (const int k : layout.normals) rows.row(r++) = terms_.contacts[k].Jn;
  for (const int k : layout.tangents) rows.row(r++) = terms_.contacts[k].Jt.row(0);
  const VectorXd unit = scales();
  rows = (rows * unit.asDiagonal()).eval();
  rows.topRows(nv) = (unit.asDiagonal() * rows.topRows(nv)).eval();
  for (Eigen::Index i = nv; i < rows.rows(); ++i) {
    if (!rows.row(i).isZero(0)) rows.row(i).normalize();
  }
  Eigen::FullPivLU<MatrixXd> lu(rows);
  lu.setThreshold(1e-10);
  const std::vector<std::string> names = system_.coordinate_names();
  if (lu.dimensionOfKernel() > 0) {
    const VectorXd free = lu.kernel().col(0);
    Eigen::Index worst = 0;
    free.cwiseAbs().maxCoeff(&worst);
    std::string what = "coordinate '" + names[worst] + "'";
    for (const Limb& limb : limbs_) {
      if (limb.coordinate == worst) what = "limb '" + limb.name + "'";
    }
    throw std::invalid_argument(
        what + ": neither mass nor a constraint determines its motion in mode " +
        to_string(layout.mode, terms_.contacts) +
        " (P4 A5); give it mass, friction at its contact, or a law in the air under 'limbs'");
  }
  throw std::invalid_argument("the equations of mode " + to_string(layout.mode, terms_.contacts) +
                              " are singular: friction jams its sliding contacts");
}

std::vector<std::string> mode_names(const Mode& mode, const std::vector<Contact>& contacts) {
  std::vector<std::string> names;
  for (std::size_t k = 0; k < mode.size(); ++k) {
    if (!closed(mode[k])) continue;
    const bool slips = mode[k] != Grip::kStick && contacts[k].mu > 0;
    names.push_back(contacts[k].name + (slips ? ":slip" : ""));
  }
  return names;
}

std::string to_string(const Continuation& continuation, const Mode& before,
                      const std::vector<Contact>& contacts) {
  const Mode& after = continuation.mode;
  bool lifts = false;
  for (std::size_t k = 0; k < after.size() && k < before.size(); ++k)
    lifts = lifts || (closed(before[k]) && !closed(after[k]));
  const char* how = continuation.impact ? "impact without collision "
                    : after == before   ? "goes on "
                    : lifts             ? "lifts off "
                                        : "changes to ";
  return how + to_string(after, contacts);
}

std::string to_string(const Mode& mode, const std::vector<Contact>& contacts) {
  std::string text;
  for (const std::string& name : mode_names(mode, contacts))
    text.append(text.empty() ? "{" : ", ").append(name);
  return text.empty() ? "{}" : text.append("}");
}

}  // namespace routh
