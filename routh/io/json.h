#pragma once

#include <Eigen/Core>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace routh::io {

/// Keys stay in the order they were written.
using Json = nlohmann::ordered_json;

/// The version of the form of all JSON. Keys may be added without a new number; one is removed,
/// renamed or changed in meaning only with one (docs/command-line.md).
inline constexpr int kSchema = 1;

/// What makes a result repeatable, the first keys of all JSON: schema, version, command (of a
/// command), options with effective values, and features: which parts the program was built with.
Json top(const std::vector<std::string>& command, Json options, bool cuda);

inline Json list(const Eigen::VectorXd& v) { return std::vector<double>(v.begin(), v.end()); }
/// A matrix row by row; null where it is not finite.
inline Json rows(const Eigen::MatrixXd& m) {
  Json all = Json::array();
  for (Eigen::Index i = 0; i < m.rows(); ++i) {
    Json& row = all.emplace_back(Json::array());
    for (const double x : m.row(i)) row.push_back(std::isfinite(x) ? Json(x) : Json());
  }
  return all;
}

/// null for what is not known: JSON has no infinities.
inline Json number_or_null(double x) { return std::isfinite(x) ? Json(x) : Json(); }

}  // namespace routh::io
