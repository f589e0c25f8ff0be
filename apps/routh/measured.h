#pragma once

#include <string>

#include "reproduce.h"

namespace routh::app {

/// Tables and figures of the two public data sets in a folder: ellipse-impacts.csv,
/// cube-impacts.csv.
void reproduce_measured(const std::string& data, const std::string& folder);

}  // namespace routh::app
