#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <vector>

#include "routh/lcp/linear_program.h"

/// What the searches of solve_all.h share: a part of all velocities that one linear program can
/// judge, in units of the problem.
namespace routh {

constexpr double kApart = 3e-8;   // what moves at all moves faster: every velocity has one branch
constexpr double kTouch = 1e-12;  // what moves less than this lies in the branch where it vanishes
constexpr double kWide = 20;      // friction beyond which cones are filled with narrower ones

/// Rows over the velocity that vanish or are at least `least`; rows over the impulse that are not
/// negative.
struct Region {
  std::vector<Eigen::RowVectorXd> zero, positive, cuts;
  std::vector<double> least;

  /// Does anything have to move?
  bool moves() const;
  /// With its border, where what has to move is at rest.
  void close() { std::fill(least.begin(), least.end(), 0.0); }
};

/// The program of a region: x are the mixture of `pushes`, impulses that lead from c to c + G
/// pushes x, then a slack for every inequality. `reach` is G pushes.
lcp::LinearProgram program(const Region& region, const Eigen::MatrixXd& pushes,
                           const Eigen::MatrixXd& reach, const Eigen::VectorXd& c);
/// The same for a region and its border: maximises how much what has to move can move at once.
lcp::LinearProgram fastest(Region region, const Eigen::MatrixXd& pushes,
                           const Eigen::MatrixXd& reach, const Eigen::VectorXd& c);
/// Does its solution say that the region has velocities where something moves, if slowly?
bool some_move(const lcp::LinearSolution& fastest);

/// A direction of velocity that no symmetry of the data knows.
Eigen::VectorXd generic_direction(Eigen::Index size);

}  // namespace routh
