#include "routh/io/table.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

#include "routh/io/file_writer.h"
#include "routh/io/text.h"

namespace routh::io {
namespace {

template <class... Ways>
struct Each : Ways... {
  using Ways::operator()...;
};
template <class... Ways>
Each(Ways...) -> Each<Ways...>;

class CsvWriter : public TableWriter {
 public:
  explicit CsvWriter(const std::string& path) : file_(path) {}
  void add(const Table& rows) override {
    if (std::exchange(begins_, false)) file_.append(csv_head(rows));
    file_.append(csv_rows(rows));
  }
  void finish(bool) override { file_.finish(); }

 private:
  FileWriter file_;
  bool begins_ = true;
};

}  // namespace

std::size_t row_count(const Table& table) {
  if (table.empty()) return 0;
  return std::visit(Each{[](const Codes& codes) { return codes.values.size(); },
                         [](const auto& rows) { return rows.size(); }},
                    table.front().rows);
}

std::string csv_head(const Table& table) {
  std::string text;
  for (const Column& column : table) text += (text.empty() ? "" : ",") + csv_cell(column.name);
  return text + "\n";
}

std::string csv_rows(const Table& table) {
  std::string text;
  const auto to = std::back_inserter(text);
  for (std::size_t k = 0; k < row_count(table); ++k) {
    for (std::size_t i = 0; i < table.size(); ++i) {
      if (i > 0) text += ',';
      std::visit(
          Each{[&](const Numbers& x) { std::isnan(x[k]) ? to : fmt::format_to(to, "{}", x[k]); },
               [&](const Counts& x) { fmt::format_to(to, "{}", x[k]); },
               [&](const Codes& x) { text += csv_cell(x.labels[x.values[k]]); },
               [&](const Words& x) { text += csv_cell(x[k]); }},
          table[i].rows);
    }
    text += '\n';
  }
  return text;
}

std::unique_ptr<TableWriter> csv_writer(const std::string& path) {
  return std::make_unique<CsvWriter>(path);
}

double csv_row_bytes(const Table& head) {
  double bytes = 0;
  for (const Column& column : head)
    bytes += std::visit(Each{[](const Numbers&) { return 20; }, [](const Counts&) { return 8; },
                             [](const Codes&) { return 9; }, [](const Words&) { return 12; }},
                        column.rows);
  return bytes;
}

double hdf5_row_bytes(const Table& head) {
  double bytes = 0;
  for (const Column& column : head)
    bytes += std::visit(Each{[](const Codes&) { return 1; }, [](const Words&) { return 28; },
                             [](const auto&) { return 8; }},
                        column.rows);
  return bytes;
}

}  // namespace routh::io
