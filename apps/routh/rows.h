#pragma once

#include <memory>
#include <vector>

#include "output.h"
#include "routh/io/table.h"

namespace routh::app {

/// Tables: --csv, which Places knows, and --hdf5.
struct TablePlaces {
  std::string hdf5;

  /// Of a command that is run again the file stays unknown.
  void add_to(CLI::App& command, const Session& session);
  void check(const Places& places) const;
  bool wanted(const Places& places) const { return !places.csv.empty() || !hdf5.empty(); }
};

/// Rows of both as they come: the files appear when they are finished.
class Rows {
 public:
  /// `count` rows of these columns are expected; where they are many it is said how large the files
  /// will be. Throws InputError where their disk has no room for that.
  Rows(const Places& places, const TablePlaces& tables, const io::Table& head, double count);

  void add(const io::Table& rows);
  void finish(bool complete);

 private:
  const Places& places_;
  std::string hdf5_;
  std::vector<std::unique_ptr<io::TableWriter>> files_;
};

}  // namespace routh::app
