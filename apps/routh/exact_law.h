#pragma once

#include <string>
#include <vector>

#include "routh/impact/exact.h"
#include "routh/io/results.h"

/// The exact law of `routh impact`: an optional component of the program.
namespace routh::app {

struct ExactArguments {
  std::vector<std::string> maximize, minimize, contains;
  std::string max_polyhedra;
  double max_seconds = 0;

  bool asks() const { return !maximize.empty() || !minimize.empty() || !contains.empty(); }
};

bool has_exact();
/// The search for the extremes that are asked for; Ctrl-C ends it.
WitnessResult search(const io::ImpactCase& impact, const io::Questions& questions,
                     WitnessOptions options);
/// Throws InputError where a question cannot be answered, whatever the set.
io::Questions questions(const io::ImpactCase& impact, const ExactArguments& arguments);
ExactOptions exact_options(const ExactArguments& arguments);
/// Throws InputError with the package to install when the program was built without exact sets.
ExactResult exact_set(const io::ImpactCase& impact, const ExactArguments& arguments = {});

}  // namespace routh::app
