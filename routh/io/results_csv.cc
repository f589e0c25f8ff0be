#include <fmt/format.h>

#include "routh/io/hasty.h"
#include "routh/io/results.h"
#include "routh/io/text.h"

namespace routh::io {
namespace {

/// Titles of columns ordered as c; in space a contact has two tangents.
std::string contact_columns(const ImpactCase& impact, const std::string& normal,
                            const std::string& tangential) {
  std::string titles;
  const auto add = [&](const std::string& of, const std::string& name) {
    titles += fmt::format(",{}", csv_cell(fmt::format("{}.{}", of, name)));
  };
  for (const std::string& name : impact.names) add(normal, name);
  for (const std::string& name : impact.names) {
    if (impact.problem().tangents == 1) {
      add(tangential, name);
    } else {
      add(tangential + "1", name), add(tangential + "2", name);
    }
  }
  return titles;
}

/// One row per corner of a set.
std::string corners_csv(const ImpactCase& impact, const std::vector<Polytope>& pieces,
                        const std::string& velocities) {
  std::string csv = "piece,dimension" + velocities;
  csv += contact_columns(impact, "normal", "tangential") + '\n';
  for (std::size_t k = 0; k < pieces.size(); ++k) {
    for (const Eigen::VectorXd& c : pieces[k].corners) {
      csv += fmt::format("{},{}", k, pieces[k].dimension);
      for (const double x : lift_velocity(impact, c)) csv += fmt::format(",{}", x);
      for (const double x : c) csv += fmt::format(",{}", x);
      csv += '\n';
    }
  }
  return csv;
}

}  // namespace

std::string to_csv(const ImpactCase& impact, const ImpactReport& report,
                   const std::function<bool()>& stop) {
  std::string velocities;
  for (const std::string& name : impact.scenario.velocities)
    velocities += fmt::format(",{}", csv_cell("v." + name));
  if (report.known.exact) return corners_csv(impact, report.known.exact->pieces, velocities);

  std::string csv = "outcome,law,order,energy,residual" + velocities;
  csv += contact_columns(impact, "normal", "tangential");
  for (const std::string& name : impact.names) csv += fmt::format(",{}", csv_cell("mode." + name));
  csv += contact_columns(impact, "impulse_normal", "impulse_tangential") + '\n';
  const int m = impact.problem().contacts();
  write_outcomes(report.outcomes, stop, csv, [&](std::size_t k, const OutcomeRow& row) {
    csv += fmt::format("{},{},{},{},{}", k, csv_cell(row.law()),
                       row.order ? csv_cell(order_text(impact, *row.order)) : "", row.energy,
                       row.outcome.residual);
    for (const double x : row.velocity) csv += fmt::format(",{}", x);
    for (const double x : row.outcome.c_plus) csv += fmt::format(",{}", x);
    for (int i = 0; i < m; ++i) csv += fmt::format(",{}", to_string(row.modes[i]));
    for (const double x : row.outcome.impulse) csv += fmt::format(",{}", x);
    csv += '\n';
  });
  return csv;
}

}  // namespace routh::io
