#pragma once

#include <functional>
#include <string>
#include <vector>

#include "routh/io/map.h"
#include "routh/io/results.h"
#include "routh/simulate/ensemble.h"

/// What a map measures: numbers of an impact and its outcomes, or of the runs of an ensemble.
namespace routh::io {

/// An impact and what a law made of it.
struct ImpactMeasured {
  const ImpactCase& impact;
  const BatchResult& result;
  const std::vector<Objective>& forms;  ///< those of the measures, energies and linear forms
  const std::vector<int>& rows;         ///< of each its row of BatchResult::forms, -1: energy
};
/// The runs of an ensemble.
struct RunsMeasured {
  const Scenario& scenario;
  const EnsembleResult& result;
};

struct Measure {
  std::string name;
  std::string about;                         ///< of its axis: "largest energy after the impact [J]"
  bool counts = false;                       ///< whole numbers
  bool words = false, simultaneous = false;  ///< what it needs of BatchOptions
  bool samples = false;                      ///< it is of samples: the laws set and all
  int form = -1;                             ///< of the forms whose range it reads
  std::function<double(const ImpactMeasured&)> of_impact = {};
  std::function<double(const RunsMeasured&)> of_runs = {};
};

/// The measures of a plan, and the forms that they read. Throws InputError.
struct MeasureList {
  std::vector<Measure> measures;
  std::vector<std::string> forms;
};
MeasureList measures_of(const MapPlan& plan, const Scenario& scenario);
/// The kinds that there are, with a few words about each, for help and messages.
struct MeasureKind {
  std::string name, about;
};
const std::vector<MeasureKind>& measure_kinds(bool of_runs);

}  // namespace routh::io
