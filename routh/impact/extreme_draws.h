#pragma once

#include "routh/impact/stepwise.h"

namespace routh {

/// Samples that go where uniform draws do not: a short search for witnesses finds orders of an
/// impact (orders.h), each with corners of its polytope of paths; a sample mixes some corners of
/// one order, phase by phase. The mixture is a path of the same order, and so an outcome of the
/// inclusion itself, without a step h. All is decided by the seed.
class ExtremeDraws {
 public:
  /// `stop` is asked now and then; true ends the search with what it has.
  ExtremeDraws(const ImpactProblem& problem, std::uint64_t seed,
               const std::function<bool()>& stop = {});

  /// May be called by several threads.
  StepwiseSample walk(std::uint64_t index, bool with_path) const;

 private:
  struct Corner {
    std::vector<Eigen::VectorXd> impulse;  ///< [phase], not accumulated
    Eigen::VectorXd c_plus;
  };
  struct Pool {
    std::vector<std::vector<ContactState>> states;  ///< [phase]
    std::vector<Corner> corners;
    double share = 0;  ///< of the samples, added up over the pools until this one
  };
  bool add(Pool& pool, const Corner& corner) const;

  ImpactProblem problem_;
  std::uint64_t seed_;
  std::vector<Pool> pools_;
};

}  // namespace routh
