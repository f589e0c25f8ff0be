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

std::vector<ReproduceItem> p1_items();
std::vector<ReproduceItem> p3_items();
std::vector<ReproduceItem> p4_items();
std::vector<ReproduceItem> p5_items();

}  // namespace routh::app
