#pragma once

#include <vector>

#include "routh/impact/problem.h"

/// When two outcomes are one: decided here, by same_velocity(), for all laws and all who show them.
namespace routh {

/// Does no contact velocity differ by more than same_velocity() and what rounding may have added?
bool same_outcome(const ImpactProblem& problem, const Eigen::VectorXd& c,
                  const Eigen::VectorXd& other, double rounding = 0);

/// What the ways of two laws may add: samples and sequences end where no contact approaches by more
/// than velocity_tolerance(), a simultaneous outcome is solved to rounding.
double between_laws(const ImpactProblem& problem);

/// Contact velocities that show how different outcomes are: always the one farthest from `known`
/// and those chosen before, up to `most`, none the same as another, between_laws(). Returns their
/// indices.
std::vector<std::size_t> most_different(const ImpactProblem& problem,
                                        const std::vector<Eigen::VectorXd>& velocities,
                                        std::size_t most,
                                        const std::vector<Eigen::VectorXd>& known = {});

}  // namespace routh
