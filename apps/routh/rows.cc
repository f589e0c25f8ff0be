#include "rows.h"

#include <fmt/format.h>

#include "numbers.h"
#include "routh/io/document.h"
#include "routh/io/file_writer.h"
#include "routh/io/files.h"

namespace routh::app {
namespace {

constexpr double kLarge = 1e9;  // files that are announced [bytes]

void announce_size(const std::string& option, const std::string& path, double rows, double size) {
  if (size < kLarge) return;
  const double room = io::room_for(path);
  const std::string file =
      fmt::format("{} {}: {} rows, about {}", option, path, amount(rows), bytes(size));
  if (size > room)
    throw io::InputError(fmt::format(
        "{}; there is room for {}: ask for fewer, or name another disk", file, bytes(room)));
  warn(fmt::format("routh: {}\n", file));
}

}  // namespace

void TablePlaces::add_to(CLI::App& command, const Session& session) {
  constexpr const char* kAbout = "write the rows of --csv into a file of HDF5";
  (session.again ? command.add_option_function<std::string>(
                       "--hdf5", [](const std::string&) {}, kAbout)
                 : command.add_option("--hdf5", hdf5, kAbout))
      ->type_name("FILE")
      ->group(kResults);
}

void TablePlaces::check(const Places& places) const {
  if (hdf5.empty()) return;
  io::check_hdf5(hdf5);
  for (const auto& [option, path] :
       {std::pair{"--json", places.json}, {"--csv", places.csv}, {"--modes", places.modes}}) {
    if (!path.empty() && path != "-" && io::same_file(path, hdf5))
      throw io::InputError(fmt::format("{} and --hdf5 name the same file; they need two", option));
  }
}

Rows::Rows(const Places& places, const TablePlaces& tables, const io::Table& head, double count)
    : places_(places), hdf5_(tables.hdf5) {
  if (!places.csv.empty()) announce_size("--csv", places.csv, count, count * csv_row_bytes(head));
  if (!hdf5_.empty()) announce_size("--hdf5", hdf5_, count, count * hdf5_row_bytes(head));
  if (!places.csv.empty()) files_.push_back(io::csv_writer(places.csv));
  if (!hdf5_.empty()) files_.push_back(io::hdf5_writer(hdf5_, count));
  add(head);
}

void Rows::add(const io::Table& rows) {
  for (const auto& file : files_) file->add(rows);
}

void Rows::finish(bool complete) {
  for (const auto& file : files_) file->finish(complete);
  for (const std::string& path : {places_.csv, hdf5_}) {
    if (!path.empty() && path != "-") places_.announce({path});
  }
}

}  // namespace routh::app
