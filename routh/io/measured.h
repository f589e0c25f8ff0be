#pragma once

#include <optional>
#include <string>
#include <vector>

#include "routh/io/json.h"
#include "routh/io/scenario.h"
#include "routh/simulate/measured.h"

/// Tables of measured impacts (CSV) and what the laws make of them. docs/measured.md has the
/// columns.
namespace routh::io {

/// How a body is shaped and where its mass is, in the units of the table.
struct MeasuredBody {
  Eigen::VectorXd gyration;  ///< I/m: one number in the plane, three about the axes of a box [m²]
  double half = 0, radius = 0;  ///< a box: corners at ±half, swept by a sphere [m]
  Eigen::Vector3d centre = Eigen::Vector3d::Zero();  ///< of mass, from that of the box [m]
  double balance = 0;  ///< what is left of the change of angular velocity, typically [rad/s]
};

struct MeasuredTable {
  std::string file, kind;  ///< rows: contact rows in the plane; box; scenario
  std::vector<MeasuredImpact> impacts;
  std::size_t rows = 0;     ///< in the file
  std::size_t flagged = 0;  ///< left out because a flag_ column is set, or clean is not
  /// Left out because energy grows, or because nothing approaches: the numbers of their lines.
  std::vector<std::string> grows, apart;
  std::optional<MeasuredBody>
      body;  ///< fitted to the impacts with one contact of the training half
};

struct MeasuredOptions {
  const Scenario* scenario = nullptr;  ///< for tables with the coordinates of a mechanism or model
  /// Box: the centre of mass of the table's x, y, z from the centre of the box, in its frame [m].
  Eigen::Vector3d centre = Eigen::Vector3d::Zero();
  /// Contacts at most this much higher than the lowest take part [m].
  double touching = 2e-3;
};

/// Throws InputError naming missing columns, or the line and column of what is no number.
MeasuredTable read_measured(const std::string& file, const MeasuredOptions& options = {});

/// Another simulator, "mujoco", for StudyOptions::peers. Throws InputError where it is not built in
/// or has neither a body nor a model to move.
MeasuredPeer measured_peer(const std::string& simulator, const MeasuredTable& table,
                           const MeasuredOptions& options = {});

/// Medians of one law, or of another simulator, over the impacts with so many contacts.
struct MeasuredSummary {
  int contacts = 0, impacts = 0;
  std::string law;
  double noise = 0, unexplained = 0, first = 0, nearest = 0, control = 0;
  RankTest ranks;   ///< of measurements among their controls
  int begins = 0;   ///< nearest outcomes that begin with the lowest contact, where orders differ
  int fastest = 0;  ///< of these, with the contact that approaches fastest
  /// How many of both there would be if measurements were like their controls.
  double begins_by_chance = 0, fastest_by_chance = 0;
  int says = 0;  ///< impacts where they do
};
std::vector<MeasuredSummary> summaries(const MeasuredTable& table, const MeasuredStudy& study);

/// Laws, then peers: of StudyRow::laws.
std::vector<std::string> law_names(const MeasuredStudy& study);

std::string describe(const MeasuredTable& table, const MeasuredStudy& study);
Json to_json(const MeasuredTable& table, const MeasuredStudy& study);
std::string to_csv(const MeasuredTable& table, const MeasuredStudy& study);
/// Distances of all laws over the number of contacts; returns the files written.
std::vector<std::string> draw(const MeasuredTable& table, const MeasuredStudy& study,
                              const std::string& name, const std::string& folder);

}  // namespace routh::io
