#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "routh/model/limb.h"
#include "routh/model/planar.h"
#include "routh/model/system.h"

/// Scenarios: a mechanism (or plain matrices) at the instant of an impact or the start of
/// a motion, as a YAML file.
/// docs/scenarios.md describes the format; the files in scenarios/ are part of the program.
namespace routh::io {

struct Parameter {
  std::string name;
  double value = 0;
  std::string unit, about;
};

/// How the paper or the author samples this impact.
struct ImpactDefaults {
  double step = 1;                  ///< h [N s]
  int limit = 1000;                 ///< N
  std::uint64_t samples = 1 << 14;  ///< M
};

/// How the author simulates it.
struct SimulationDefaults {
  std::string method = "time-stepping";
  double step = 1e-3;  ///< h [s]
  double end = 1;      ///< [s]
  double eps = 1e-3;   ///< event-selected: width of a guard's neighbourhood, in the units of h
};

struct Scenario {
  std::string name;  ///< of the built-in scenario, or the file's path
  std::string title;
  std::vector<Parameter> parameters;         ///< with overrides applied
  std::optional<PlanarMechanism> mechanism;  ///< none for plain matrices and named systems
  std::string system;                        ///< an event-selected system of P5, by name
  std::vector<std::string> coordinates;      ///< of q; of the mechanism unless there is none
  std::vector<Limb> limbs;                   ///< coordinates without mass
  Eigen::VectorXd q, v;                      ///< at the start; q is empty for plain matrices
  Terms terms;                               ///< at the start
  ImpactDefaults impact;
  SimulationDefaults simulation;
};

struct Override {
  std::string name;
  double value = 0;
};

/// Names of the built-in scenarios, sorted.
std::vector<std::string> scenario_names();

/// A built-in scenario by name or a YAML file by path. Throws InputError.
Scenario load_scenario(const std::string& name_or_path,
                       const std::vector<Override>& overrides = {});

}  // namespace routh::io
