#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "routh/impact/exact.h"
#include "routh/impact/lzb.h"
#include "routh/io/device.h"
#include "routh/io/results.h"

/// An impact and what is asked about it: what `routh impact` and Python's routh.impact() share.
namespace routh::io {

/// The set law by other means: in pieces, by several processes.
using SetLaw = std::function<SetResult(const ImpactProblem&, const SetOptions&)>;

/// Samples at hand where outcomes are held against a set or another simulator.
inline constexpr std::uint64_t kComparedOutcomes = 1 << 17;

/// Zeros and what is not given: the scenario's own, or the law's.
struct Asked {
  std::string law = "all";               ///< of laws()
  std::optional<std::uint64_t> samples;  ///< of set and all
  std::uint64_t seed = 0;
  std::uint64_t keep = 1000;                ///< outcomes of set, those of the first samples
  std::string draws;                        ///< uniform or corners
  double step = 0;                          ///< h [N s] of set
  double final_step = 0;                    ///< [N s] bound of the last step of set; 0: none
  double epsilon = 0;                       ///< [m/s] set: certified by Theorem 9; 0: not
  double delta = 0;                         ///< set: and how likely it may fail; 0: the default
  int limit = 0;                            ///< steps of a sample
  int threads = 0;                          ///< 0: all cores
  std::vector<std::string> order;           ///< sequential: names of contacts; none: every order
  std::string single = "routh";             ///< sequential: at each contact, or algebraic
  std::string contact;                      ///< single: at this contact; none: at each
  std::vector<double> stiffness;            ///< lzb: of each contact, or of all; none: equal
  double exponent = LzbOptions{}.exponent;  ///< lzb
  ExactOptions exact;
  Questions questions;           ///< about the exact set
  bool coverage = false;         ///< set: held against the exact set
  bool derivative = false;       ///< of outcomes of the simultaneous law
  bool sensitivity = false;      ///< of extremes and corners of the exact set
  std::uint64_t least_kept = 0;  ///< set: samples at hand for comparisons
  std::uint64_t packed = 0;      ///< set: samples in SetResult::packed
  bool figure = false;           ///< keep what draw() shows
  Device device = {};            ///< set and all: what samples
  SetLaw sampler = {};           ///< of set; none: set_valued()
  bool streamed = false;         ///< set: outcomes go elsewhere as they come, any number of them
  /// Called now and then; true ends the work with what was found.
  std::function<bool()> stop;
  /// Called now and then with samples done and to be done; false does the same.
  std::function<bool(std::uint64_t done, std::uint64_t total)> progress;
  /// Called now and then with the best values that a search has.
  std::function<void(const std::string& text)> tell = {};
};

/// Of a touching contact. Throws InputError naming the option.
int contact_index(const ImpactCase& impact, const std::string& option, const std::string& name);

/// Laws need edges of friction cones in space, where none are given: before impact_case(). Throws
/// InputError where the scenario insists on a circular cone.
void prepare_cone(Scenario& scenario, const std::string& law);

/// What coefficients of restitution are ratios of, by name; none: as suits the law.
Restitution restitution_named(const std::string& name);
/// Throws InputError where the law has no such meaning, or no contact of the scenario bounces.
void check_restitution(Restitution means, const std::string& law);
void check_restitution(const Scenario& scenario, const std::string& law);

SequentialOptions sequential_options(const ImpactCase& impact, const Asked& asked);
LzbOptions lzb_options(const ImpactCase& impact, const Asked& asked);
SetOptions set_options(const ImpactCase& impact, const Asked& asked);
/// Are the outcomes that set keeps few enough for memory?
bool memory_holds(const ImpactCase& impact, const SetOptions& options);
/// Throws InputError naming an option that cannot be.
void check(const ImpactCase& impact, const Asked& asked);

ExactResult exact_set(const ImpactCase& impact, const Asked& asked);

/// The law applied to a case, with all that report_* of results.h add to it. Throws InputError and
/// std::invalid_argument naming the option.
ImpactReport ask(const ImpactCase& impact, const Asked& asked);

/// What the law was applied with, defaults and the scenario's choices included: `options` of JSON.
Json options_json(const ImpactCase& impact, const ImpactReport& report, const Asked& asked);

/// Draws what a law found, over samples where it is a set, with the paths of the finite laws.
/// Writes <folder>/<name>.png and .svg and returns their paths.
std::vector<std::string> draw(const ImpactCase& impact, const ImpactReport& report,
                              const Asked& asked, const std::string& name,
                              const std::string& folder);

/// Options of `routh check`; circular cones where the scenario does not say: before impact_case().
AmbiguityOptions check_options(const ImpactCase& impact);
/// The same in JSON.
Json options_json(const ImpactCase& impact, const AmbiguityOptions& options,
                  const Ambiguity& known);

}  // namespace routh::io
