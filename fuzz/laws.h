#pragma once

#include <cmath>
#include <cstdlib>

#include "fuzz.h"
#include "routh/impact/cone.h"
#include "routh/io/results.h"

namespace routh::fuzz {

/// Every law on a case, briefly. Numbers that are called an outcome are numbers.
inline void apply_laws(const io::ImpactCase& impact) {
  const ImpactProblem& p = impact.problem();
  if (p.contacts() > 12) return;
  (void)friction_cone(impact.reduced.J, impact.reduced.W, p);
  (void)redundancy(p);
  const io::ImpactReport all =
      io::report_all(impact, {.effort = 0.01,
                              .samples = 8,
                              .threads = 1,
                              .sequential = {.max_impacts = 30, .max_states = 60},
                              .stop = soon()});
  SetOptions options{
      .samples = 8, .step = impact.scenario.run.impact.step, .limit = 20, .threads = 1};
  options.max_modes = 300;
  const io::ImpactReport set = io::report_set(impact, set_valued(p, options), options);
  for (const io::ImpactReport* report : {&all, &set}) {
    for (const io::OutcomeRow& row : report->outcomes) {
      if (!row.outcome.c_plus.allFinite() || !row.outcome.impulse.allFinite()) std::abort();
    }
    (void)io::to_json(impact, *report)
        .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    (void)io::to_csv(impact, *report);
  }
}

}  // namespace routh::fuzz
