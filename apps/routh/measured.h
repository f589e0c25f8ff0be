#pragma once

#include <string>
#include <vector>

#include "reproduce.h"
#include "routh/io/measured.h"

namespace routh::app {

/// The two public data sets in a folder: ellipse-impacts.csv, cube-impacts.csv.
struct PublicData {
  std::string name;
  io::MeasuredOptions reading;
  io::MeasuredTable table;
};
std::vector<PublicData> read_public_data(const std::string& folder);
/// Their tables and figures.
void reproduce_measured(const std::vector<PublicData>& data, const std::string& folder);

}  // namespace routh::app
