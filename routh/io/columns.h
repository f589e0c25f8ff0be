#pragma once

#include <Eigen/Core>
#include <map>
#include <string>
#include <utility>
#include <vector>

/// Tables in CSV files, read by the names of their columns.
namespace routh::io {

/// The numbers of a file. What is no number is kept as a word, and refused where it is asked for.
struct Columns {
  std::string file;
  std::vector<std::string> names;
  std::vector<std::vector<double>> rows;
  std::vector<std::size_t> lines;                                    ///< of the rows
  std::map<std::pair<std::size_t, std::size_t>, std::string> words;  ///< by row and column

  bool has(const std::string& name) const;
  std::string line(std::size_t row) const { return std::to_string(lines[row]); }
  /// Throws InputError where the cell holds no number.
  double at(std::size_t row, const std::string& name) const;
  Eigen::VectorXd at(std::size_t row, const std::vector<std::string>& which) const;
  /// Throws InputError naming all that are missing.
  void require(const std::vector<std::string>& wanted) const;
};

/// Throws InputError naming the line of what is no table.
Columns read_columns(const std::string& file);

}  // namespace routh::io
