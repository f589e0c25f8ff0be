// All outcomes of an impact given by plain matrices: a block that lands flat on two corners.

#include <cstdio>

#include "routh/impact/sequential.h"
#include "routh/impact/simultaneous.h"
#include "routh/simulate/reduce.h"

int main() {
  routh::Terms block;
  block.M = Eigen::Vector3d(1, 1, 5.0 / 12).asDiagonal();  // x, y, angle
  block.A = Eigen::MatrixXd(0, 3);                         // no joints
  for (const double x : {-0.5, 0.5}) {
    block.contacts.push_back({.name = x < 0 ? "A" : "B",
                              .Jn = Eigen::RowVector3d(0, 1, x),
                              .Jt = Eigen::RowVector3d(1, 0, 1),
                              .mu = 1});
  }
  const Eigen::Vector3d v(0, -0.4429, 0);
  const routh::ReducedImpact impact = routh::reduce(block, v);

  for (const routh::Outcome& o : routh::simultaneous(impact.problem).outcomes) {
    const Eigen::Vector3d after = impact.lift(v, o.impulse);
    std::printf("simultaneous  %8.4f %8.4f %8.4f\n", after[0], after[1], after[2]);
  }
  for (const routh::SequentialOutcome& s : routh::sequential(impact.problem).outcomes) {
    const Eigen::Vector3d after = impact.lift(v, s.outcome.impulse);
    std::printf("sequential    %8.4f %8.4f %8.4f\n", after[0], after[1], after[2]);
  }
}
