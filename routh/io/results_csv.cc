#include <fmt/format.h>

#include "routh/io/hasty.h"
#include "routh/io/results.h"
#include "routh/io/set_pieces.h"
#include "routh/io/text.h"

namespace routh::io {
namespace {

/// Names of columns ordered as c; in space a contact has two tangents.
std::vector<std::string> contact_names(const ImpactCase& impact, const std::string& normal,
                                       const std::string& tangential) {
  std::vector<std::string> names;
  for (const std::string& name : impact.names) names.push_back(normal + "." + name);
  for (const std::string& name : impact.names) {
    if (impact.problem().tangents == 1) {
      names.push_back(tangential + "." + name);
    } else {
      names.push_back(tangential + "1." + name);
      names.push_back(tangential + "2." + name);
    }
  }
  return names;
}

std::string contact_columns(const ImpactCase& impact, const std::string& normal,
                            const std::string& tangential) {
  std::string titles;
  for (const std::string& name : contact_names(impact, normal, tangential))
    titles += "," + csv_cell(name);
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

Table table_of(const ImpactCase& impact, std::uint64_t first, const PackedSamples& samples) {
  const std::vector<std::string>& velocities = impact.scenario.velocities;
  const std::size_t size = static_cast<std::size_t>(impact.problem().c.size());
  Counts outcome;
  Codes law{.labels = {"set"}}, order{.labels = {""}};
  Numbers energy, residual;
  std::vector<Numbers> v(velocities.size()), c(size), impulse(size);
  Codes mode;
  for (const ContactState state :
       {ContactState::kApproaching, ContactState::kSeparating, ContactState::kSticking,
        ContactState::kSlidingPositive, ContactState::kSlidingNegative, ContactState::kSliding})
    mode.labels.emplace_back(to_string(state));
  std::vector<Codes> modes(impact.names.size(), mode);
  for (std::size_t k = 0; k < samples.index.size(); ++k) {
    if (!samples.terminated[k]) continue;
    const auto column = static_cast<Eigen::Index>(k);
    const OutcomeRow row =
        outcome_row(impact, "set",
                    {samples.impulse.col(column), samples.c_plus.col(column), samples.residual[k]});
    outcome.push_back(static_cast<std::int64_t>(first + outcome.size()));
    law.values.push_back(0), order.values.push_back(0);
    energy.push_back(row.energy), residual.push_back(row.outcome.residual);
    for (std::size_t i = 0; i < v.size(); ++i)
      v[i].push_back(row.velocity[static_cast<Eigen::Index>(i)]);
    for (std::size_t i = 0; i < size; ++i) {
      c[i].push_back(row.outcome.c_plus[static_cast<Eigen::Index>(i)]);
      impulse[i].push_back(row.outcome.impulse[static_cast<Eigen::Index>(i)]);
    }
    for (std::size_t i = 0; i < modes.size(); ++i)
      modes[i].values.push_back(static_cast<std::uint8_t>(row.modes[i]));
  }
  Table table{{"outcome", std::move(outcome)},
              {"law", std::move(law)},
              {"order", std::move(order)},
              {"energy", std::move(energy)},
              {"residual", std::move(residual)}};
  const auto add = [&](const std::vector<std::string>& names, auto& columns) {
    for (std::size_t i = 0; i < names.size(); ++i)
      table.push_back({names[i], std::move(columns[i])});
  };
  std::vector<std::string> of_v, of_modes;
  for (const std::string& name : velocities) of_v.push_back("v." + name);
  for (const std::string& name : impact.names) of_modes.push_back("mode." + name);
  add(of_v, v);
  add(contact_names(impact, "normal", "tangential"), c);
  add(of_modes, modes);
  add(contact_names(impact, "impulse_normal", "impulse_tangential"), impulse);
  return table;
}

}  // namespace routh::io
