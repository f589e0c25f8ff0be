#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

/// Rows of a result on their way into a file, some at a time: results that memory cannot hold.
/// docs/results.md.
namespace routh::io {

/// A few words, each row one of them.
struct Codes {
  std::vector<std::string> labels = {};
  std::vector<std::uint8_t> values = {};
};
using Numbers = std::vector<double>;  ///< not a number: none
using Counts = std::vector<std::int64_t>;
using Words = std::vector<std::string>;

struct Column {
  std::string name;
  std::variant<Numbers, Counts, Codes, Words> rows;
};
using Table = std::vector<Column>;
std::size_t row_count(const Table& table);

/// Writes tables of the same columns one below the other. The file appears when it is finished;
/// before that nothing is left of it. All throw OutputError.
class TableWriter {
 public:
  virtual ~TableWriter() = default;
  virtual void add(const Table& rows) = 0;
  virtual void finish(bool complete) = 0;
};
/// "-" is standard output. Numbers that are none are empty cells, which all readers take for such.
std::unique_ptr<TableWriter> csv_writer(const std::string& path);
/// One dataset of the root for each column, by its name; words of Codes as numbers with their
/// labels; attributes `columns` (in order) and `complete`. Throws InputError where HDF5 was left
/// out. `rows`: about how many there will be.
std::unique_ptr<TableWriter> hdf5_writer(const std::string& path, double rows);
bool has_hdf5();
/// Throws InputError where it was left out, or the file cannot be.
void check_hdf5(const std::string& path);

/// What a row of these columns takes, of text about [bytes].
double csv_row_bytes(const Table& head);
double hdf5_row_bytes(const Table& head);

std::string csv_head(const Table& table);
std::string csv_rows(const Table& table);

}  // namespace routh::io
