#pragma once

#include <Eigen/Core>
#include <nlohmann/json.hpp>
#include <vector>

namespace routh::io {

/// Keys stay in the order they were written.
using Json = nlohmann::ordered_json;

inline Json list(const Eigen::VectorXd& v) { return std::vector<double>(v.begin(), v.end()); }

}  // namespace routh::io
