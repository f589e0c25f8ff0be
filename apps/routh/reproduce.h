#pragma once

#include <functional>
#include <string>
#include <vector>

namespace routh::app {

/// Something of a paper: prints it beside the printed numbers and writes files into the folder.
struct ReproduceItem {
  std::string name;
  std::function<void(const std::string& folder)> make;
};

/// Writes a table into the folder and says so.
void save(const std::string& folder, const std::string& name, const std::string& content);

std::vector<ReproduceItem> p1_items();
std::vector<ReproduceItem> p3_items();
std::vector<ReproduceItem> p4_items();
std::vector<ReproduceItem> p5_items();

}  // namespace routh::app
