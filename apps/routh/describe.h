#pragma once

#include <string>

#include "routh/io/results.h"

/// An impact and what a law made of it, for people.
namespace routh::app {

/// The line in the colour of what it says.
std::string describe_verdict(const std::string& verdict, const Ambiguity& known);
std::string describe_before(const io::ImpactCase& impact);
/// What a model of MuJoCo has that is taken differently, one line each.
std::string describe_notes(const io::Scenario& scenario);
/// Outcomes, sets, answers and comparisons of a report.
std::string describe_report(const io::ImpactCase& impact, const io::ImpactReport& report);

}  // namespace routh::app
