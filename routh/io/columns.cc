#include "routh/io/columns.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>
#include <set>

#include "routh/io/document.h"
#include "routh/io/files.h"
#include "routh/io/text.h"

namespace routh::io {
namespace {

constexpr std::size_t kMostRows = 1'000'000;
constexpr double kLargest = 1e50;  // numbers whose products are numbers

/// Cells between commas; quotes keep commas inside of a cell, "" is a quote.
std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells{""};
  bool quoted = false;
  for (std::size_t k = 0; k < line.size(); ++k) {
    const char c = line[k];
    if (c == '"' && quoted && k + 1 < line.size() && line[k + 1] == '"')
      cells.back() += line[++k];
    else if (c == '"')
      quoted = !quoted;
    else if (c == ',' && !quoted)
      cells.emplace_back();
    else if (c != '\r')
      cells.back() += c;
  }
  for (std::string& cell : cells) {
    const std::size_t from = cell.find_first_not_of(" \t");
    cell =
        from == std::string::npos ? "" : cell.substr(from, cell.find_last_not_of(" \t") + 1 - from);
  }
  return cells;
}

std::optional<double> number_in(const std::string& cell) {
  double x = 0;
  const char *begin = cell.data(), *end = begin + cell.size();
  const auto [rest, error] = std::from_chars(begin, end, x);
  if (error != std::errc() || rest != end || !(std::abs(x) <= kLargest)) return {};
  return x;
}

}  // namespace

bool Columns::has(const std::string& name) const { return index_of(names, name) >= 0; }

double Columns::at(std::size_t row, const std::string& name) const {
  const auto column = static_cast<std::size_t>(index_of(names, name));
  const double x = rows[row][column];
  if (std::isnan(x))
    throw InputError(fmt::format("{}: line {}: {}: '{}' is no number that can be", file, lines[row],
                                 name, words.at({row, column})));
  return x;
}

Eigen::VectorXd Columns::at(std::size_t row, const std::vector<std::string>& which) const {
  Eigen::VectorXd x(which.size());
  for (std::size_t i = 0; i < which.size(); ++i) x[i] = at(row, which[i]);
  return x;
}

void Columns::require(const std::vector<std::string>& wanted) const {
  std::vector<std::string> missing;
  for (const std::string& name : wanted) {
    if (!has(name)) missing.push_back(name);
  }
  if (!missing.empty())
    throw InputError(fmt::format("{}: the column{} {} {} missing", file,
                                 missing.size() > 1 ? "s" : "", join(missing),
                                 missing.size() > 1 ? "are" : "is"));
}

Columns read_columns(const std::string& file) {
  std::string text = read_file(file);
  if (text.rfind("\xEF\xBB\xBF", 0) == 0) text.erase(0, 3);  // byte order mark
  Columns columns{.file = file, .names = {}, .rows = {}, .lines = {}, .words = {}};
  std::size_t line_number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::vector<std::string> cells = cells_of(text.substr(begin, end - begin));
    begin = end + 1;
    ++line_number;
    if (line_number == 1) {
      columns.names = cells;
      const std::set<std::string> known(cells.begin(), cells.end());
      if (known.size() != cells.size())
        throw InputError(fmt::format("{}: line 1: two columns have the same name", file));
      continue;
    }
    if (cells.size() == 1 && cells[0].empty()) continue;
    if (cells.size() != columns.names.size())
      throw InputError(fmt::format("{}: line {} has {} cells; there are {} columns", file,
                                   line_number, cells.size(), columns.names.size()));
    std::vector<double> row;
    for (std::size_t k = 0; k < cells.size(); ++k) {
      const std::optional<double> x = number_in(cells[k]);
      if (!x) columns.words[{columns.rows.size(), k}] = without_controls(cells[k]);
      row.push_back(x.value_or(std::nan("")));
    }
    columns.rows.push_back(std::move(row));
    columns.lines.push_back(line_number);
    if (columns.rows.size() > kMostRows)
      throw InputError(fmt::format("{}: has more than {} rows", file, kMostRows));
  }
  if (columns.rows.empty()) throw InputError(fmt::format("{}: has no rows", file));
  return columns;
}

}  // namespace routh::io
