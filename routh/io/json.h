#pragma once

#include <Eigen/Core>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

namespace routh::io {

/// Keys stay in the order they were written.
using Json = nlohmann::ordered_json;

inline Json list(const Eigen::VectorXd& v) { return std::vector<double>(v.begin(), v.end()); }

/// null for what is not known: JSON has no infinities.
inline Json number_or_null(double x) { return std::isfinite(x) ? Json(x) : Json(); }

}  // namespace routh::io
