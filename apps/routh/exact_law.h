#pragma once

#include <string>
#include <vector>

#include "routh/impact/exact.h"
#include "routh/io/ask.h"

/// The exact law of `routh impact`.
namespace routh::app {

struct ExactArguments {
  std::vector<std::string> maximize, minimize, contains;
  std::string max_polyhedra;
  double max_seconds = 0;

  bool asks() const { return !maximize.empty() || !minimize.empty() || !contains.empty(); }
};

/// Throws InputError where a question cannot be answered, whatever the set.
io::Questions questions(const io::ImpactCase& impact, const ExactArguments& arguments);
ExactOptions exact_options(const ExactArguments& arguments);
/// By its defaults, until Ctrl-C.
ExactResult exact_set(const io::ImpactCase& impact);

}  // namespace routh::app
