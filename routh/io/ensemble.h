#pragma once

#include <string>
#include <vector>

#include "routh/io/json.h"
#include "routh/io/scenario.h"
#include "routh/io/table.h"
#include "routh/simulate/ensemble.h"

/// Ensembles as JSON, CSV and figures. docs/through-time.md.
namespace routh::io {

/// `method` and its options as the user gave them.
Json to_json(const Scenario& scenario, const std::string& method, const Json& method_options,
             const EnsembleOptions& options, const EnsembleResult& result);
Json to_json(const Scenario& scenario, const BranchTree& tree);
/// One row per run.
Table table_of(const Scenario& scenario, const EnsembleResult& result);
std::string to_csv(const Scenario& scenario, const EnsembleResult& result);
/// The fan of kept motions and where all runs end. Writes <folder>/<name>.png and .svg.
std::vector<std::string> draw(const Scenario& scenario, const EnsembleResult& result,
                              const std::string& name, const std::string& folder);

}  // namespace routh::io
