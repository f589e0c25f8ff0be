#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "routh/io/device.h"
#include "routh/io/family.h"
#include "routh/io/json.h"
#include "routh/io/methods.h"
#include "routh/io/pieces.h"
#include "routh/io/table.h"
#include "routh/simulate/batch.h"

/// Maps: what a law makes of an impact (or of many motions from one start) over parameters and
/// states. docs/maps.md.
namespace routh::io {

/// "friction=0.2:5:64": evenly from 0.2 to 5, both included.
struct MapRange {
  std::string name;
  double from = 0, to = 0;
  std::uint64_t count = 1;

  double at(std::uint64_t i) const;
};
/// "friction=uniform(0.4,1)": drawn for every cell anew.
struct MapDraw {
  enum Kind { kUniform, kNormal, kLog };
  std::string name;
  Kind kind = kUniform;
  double a = 0, b = 1;  ///< uniform, log: from, to; normal: mean, standard deviation

  double at(double first, double second) const;  ///< of two numbers in (0, 1)
  std::string text() const;                      ///< "uniform(0.4,1)"
};
/// Throw InputError naming the option.
MapRange parse_range(const std::string& text);
MapDraw parse_draw(const std::string& text);

/// What a map is of. Cells are numbered: the ranges one inside the other, the last fastest, and
/// `points` cells at each place of them.
struct MapPlan {
  std::vector<MapRange> vary;
  std::vector<MapDraw> draw;
  std::uint64_t points = 1;  ///< draws at each place of the ranges
  std::vector<std::string> measures;
  Device device;           ///< of the set law: what samples
  BatchOptions batch;      ///< of impacts: law, samples, seed, draws
  double step = 0;         ///< of the set law [N s]; 0: the scenario's
  int limit = 0;           ///< 0: the scenario's
  std::uint64_t runs = 0;  ///< of ensembles; 0: a map of impacts
  Course course;           ///< how these move

  std::vector<std::string> names() const;  ///< of the ranges, then of the draws
  double cells() const;                    ///< may be more than a machine can count
};

enum class CellStatus : std::uint8_t {
  kNotDone,    ///< stopped before
  kDecided,    ///< all that was asked is known
  kUndecided,  ///< the law could not tell, or not all; numbers are of what it found
  kNoImpact,   ///< nothing is hit there
  kRefused,    ///< there is no such scenario: bodies overlap, a number is out of its range
};
const char* to_string(CellStatus status);

/// One cell: the values of the measures, NaN where there is none.
struct MapCell {
  CellStatus status = CellStatus::kNotDone;
  std::vector<double> values;
  std::string why;  ///< unless it is decided
};

/// A map that can be computed cell by cell: each depends on its number alone.
class Map {
 public:
  /// Checks everything that can be wrong. Throws InputError.
  Map(Family family, MapPlan plan);
  ~Map();

  const MapPlan& plan() const { return plan_; }
  /// Why the CPU did what a device was asked for; empty: it did not.
  const std::string& device_trouble() const { return *device_trouble_; }
  const Scenario& scenario() const { return family_.base(); }
  std::uint64_t size() const { return size_; }
  /// What the measures are, with their units: "widest range of a contact velocity [m/s]".
  std::vector<std::string> about() const;
  std::vector<double> parameters(std::uint64_t cell) const;  ///< in the order of names()
  /// Cells first .. first + count - 1. `progress` is called with the number of these that are done.
  std::vector<MapCell> cells(std::uint64_t first, std::uint64_t count, int threads,
                             const std::function<bool(std::uint64_t)>& progress = {},
                             const std::function<bool()>& stop = {}) const;

 private:
  struct Measures;
  void impacts(std::uint64_t first, std::vector<MapCell>& cells, int threads,
               const std::function<bool(std::uint64_t)>& progress,
               const std::function<bool()>& stop) const;
  MapCell runs(std::uint64_t cell, const std::function<bool()>& stop) const;

  Family family_;
  MapPlan plan_;
  std::shared_ptr<std::string> device_trouble_ = std::make_shared<std::string>();
  std::uint64_t size_ = 0;
  std::unique_ptr<Measures> measures_;
};

/// One number of a measure over the cells.
struct MapSummary {
  double low = HUGE_VAL, high = -HUGE_VAL, sum = 0;  ///< of the cells that have a value
  std::uint64_t at_low = 0, at_high = 0, values = 0;

  double mean() const { return sum / static_cast<double>(values); }
};
/// What cells say together, added up in their order.
struct MapTotals {
  struct Group {
    std::uint64_t cells = 0, first = 0;
    std::string why;  ///< of the first
  };
  std::array<Group, 5> groups = {};  ///< by CellStatus
  std::vector<MapSummary> measures;

  void add(std::uint64_t index, const MapCell& cell);
  const Group& of(CellStatus status) const { return groups[static_cast<std::size_t>(status)]; }
};

/// A map that was computed.
struct [[nodiscard]] MapResult {
  std::shared_ptr<const Map> map;
  std::vector<MapCell> cells;  ///< all, unless MapRun::each took them; some may be not done
  MapTotals totals;
  double seconds = 0;

  std::uint64_t done() const { return map->size() - count(CellStatus::kNotDone); }
  std::uint64_t count(CellStatus status) const;
  bool complete() const { return count(CellStatus::kNotDone) == 0; }
};
/// Cells are computed, kept and sent in pieces: each has this many, the last what is left.
inline constexpr std::uint64_t kPiece = 256;  // what Ctrl-C and lost processes may cost

struct MapRun {
  int threads = 0;  ///< 0: all cores
  PieceRun pieces = {};
  /// Takes cells first, first + 1, .. in order instead of MapResult::cells, so that a map may have
  /// more than memory holds; those that were not done among them.
  std::function<void(std::uint64_t first, const std::vector<MapCell>& cells)> each = {};
  /// Called now and then with the cells that are done, from the calling thread; false stops.
  std::function<bool(std::uint64_t)> progress = {};
  /// Asked now and then by all threads; true stops.
  std::function<bool()> stop = {};
};
/// All of it: what the checkpoint has is not done again. Throws OutputError where that
/// cannot be written.
MapResult compute(std::shared_ptr<const Map> map, const MapRun& run = {});

Json to_json(const MapResult& result);
/// One row per cell that was done; no times, so that two tables can be compared.
Table table_of(const Map& map, std::uint64_t first, const std::vector<MapCell>& cells);
std::string to_csv(const MapResult& result);
/// Curves of one parameter, heat maps with contours of two, else histograms and parallel
/// coordinates. Writes <folder>/<name>.png, .svg and .pdf.
std::vector<std::string> draw(const MapResult& result, const std::string& name,
                              const std::string& folder);

}  // namespace routh::io
