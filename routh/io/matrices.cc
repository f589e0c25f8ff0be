#include "routh/io/matrices.h"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <set>

#include "routh/linear/decompose.h"

namespace routh::io {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kAsymmetry = 1e-9;  // of a matrix that is meant to be symmetric, relative

/// One number for all contacts or one for each.
VectorXd read_friction(const Field& field, Eigen::Index contacts) {
  return field["mu"].is_sequence() ? field["mu"].vector()
                                   : VectorXd::Constant(contacts, field["mu"].number());
}

std::vector<std::string> read_names(const Field& field) {
  std::vector<std::string> names;
  if (!field.has("names")) return names;
  if (field["names"].size() == 0)
    field["names"].fail("must name all contacts; leave it out for A, B");
  for (std::size_t i = 0; i < field["names"].size(); ++i) names.push_back(field["names"][i].text());
  return names;
}

template <class Array>
void check_finite(const std::string& field, const Array& array, const Refuse& refuse) {
  if (!array.allFinite()) refuse(field, "has a number that is not finite");
}

void check_friction(const VectorXd& mu, Eigen::Index contacts, const Refuse& refuse) {
  if (mu.size() != contacts)
    refuse("mu", fmt::format("has {} entries; there are {} contacts", mu.size(), contacts));
  check_finite("mu", mu, refuse);
  if (mu.minCoeff() < 0) refuse("mu", "friction must not be negative");
  if (mu.maxCoeff() > 1e12) refuse("mu", "is above 1e12; with 1e6 nothing slides either");
}

/// As given, else A, B, ..
std::vector<std::string> complete_names(std::vector<std::string> names, Eigen::Index contacts,
                                        const Refuse& refuse) {
  if (names.empty()) {
    for (Eigen::Index i = 0; i < contacts; ++i)
      names.push_back(i < 26 ? std::string(1, static_cast<char>('A' + i)) : fmt::format("C{}", i));
  }
  if (static_cast<Eigen::Index>(names.size()) != contacts)
    refuse("names", fmt::format("must name all {} contacts", contacts));
  std::set<std::string> known;
  for (const std::string& name : names) {
    if (!known.insert(name).second) refuse("names", "another contact is called '" + name + "'");
  }
  return names;
}

/// Coefficients of restitution, all of them.
VectorXd complete_restitution(const VectorXd& e, Eigen::Index contacts, const Refuse& refuse) {
  if (e.size() == 0) return VectorXd::Zero(contacts);
  if (e.size() != contacts)
    refuse("e", fmt::format("has {} entries; there are {} contacts", e.size(), contacts));
  for (Eigen::Index i = 0; i < contacts; ++i) {
    if (!(e[i] >= 0 && e[i] <= 1))
      refuse("e", fmt::format("[{}]: {} is no coefficient of restitution; it must be between 0 and "
                              "1",
                              i, e[i]));
  }
  return e;
}

VectorXd read_restitution(const Field& field, Eigen::Index contacts) {
  if (!field.has("e")) return {};
  if (!field["e"].is_sequence()) return VectorXd::Constant(contacts, field["e"].number());
  const VectorXd e = field["e"].vector();
  if (e.size() == 0 && contacts > 0)
    field["e"].fail(fmt::format("has 0 entries; there are {} contacts", contacts));
  return e;
}

/// Where the rows of a problem are found when they stand contact by contact.
std::vector<int> rows_by_contact(int contacts, int tangents) {
  std::vector<int> rows;
  for (int i = 0; i < contacts; ++i) rows.push_back(i * (1 + tangents));
  for (int i = 0; i < contacts; ++i) {
    for (int t = 1; t <= tangents; ++t) rows.push_back(i * (1 + tangents) + t);
  }
  return rows;
}

Refuse refuse_in(const Field& field) {
  return [&field](const std::string& name, const std::string& what) { field[name].fail(what); };
}

}  // namespace

void fill(Scenario& scenario, PlainMatrices given, const Refuse& refuse) {
  const auto& [M, Jn, Jt, mu, v, A, named, restitution] = given;
  const Eigen::Index nv = v.size(), m = Jn.rows();
  if (nv == 0) refuse("v", "must have at least one number");
  if (M.rows() != nv || M.cols() != nv) {
    refuse("M", fmt::format("is {} x {}; v has {} entries, so M must be {} x {}", M.rows(),
                            M.cols(), nv, nv, nv));
  }
  for (const auto& [name, J] : {std::pair<std::string, const MatrixXd&>{"Jn", Jn}, {"Jt", Jt}}) {
    if (J.cols() != nv) refuse(name, fmt::format("has {} columns; v has {} entries", J.cols(), nv));
  }
  if (m == 0) refuse("Jn", "there must be at least one contact");
  if (Jt.rows() != m && Jt.rows() != 2 * m) {
    refuse("Jt",
           fmt::format("has {} rows; with {} contacts it must have {} (planar) or {} (in space)",
                       Jt.rows(), m, m, 2 * m));
  }
  check_finite("M", M, refuse), check_finite("Jn", Jn, refuse), check_finite("Jt", Jt, refuse);
  check_finite("v", v, refuse), check_finite("A", A, refuse);
  check_friction(mu, m, refuse);
  const VectorXd e = complete_restitution(restitution, m, refuse);
  if (A.size() > 0 && A.cols() != nv)
    refuse("A", fmt::format("has {} columns; v has {} entries", A.cols(), nv));
  if (A.size() > 0 && (A * v).lpNorm<Eigen::Infinity>() >
                          1e-9 * (A.cwiseAbs() * v.cwiseAbs()).lpNorm<Eigen::Infinity>())
    refuse("v", "violates the bilateral rows: A v must be zero");
  const std::vector<std::string> names = complete_names(named, m, refuse);
  const Eigen::Index tangents = Jt.rows() / m;
  Terms& terms = scenario.terms;
  for (Eigen::Index i = 0; i < m; ++i) {
    terms.contacts.push_back({.name = names[i],
                              .phi = 0,
                              .Jn = Jn.row(i),
                              .Jt = Jt.middleRows(i * tangents, tangents),
                              .mu = mu[i],
                              .e = e[i]});
  }
  for (Eigen::Index i = 0; i < nv; ++i) scenario.velocities.push_back(std::to_string(i));
  terms.M = std::move(given.M);
  terms.forces = VectorXd::Zero(nv);
  terms.A = A.size() > 0 ? std::move(given.A) : MatrixXd(0, nv);
  terms.joint_gap = VectorXd::Zero(terms.A.rows());
  scenario.v = std::move(given.v);
}

void read_matrices(const Field& field, Scenario& scenario) {
  field.allow_keys(
      {"title", "parameters", "M", "Jn", "Jt", "mu", "e", "v", "A", "names", "impact"});
  PlainMatrices given{.M = field["M"].matrix(),
                      .Jn = field["Jn"].matrix(),
                      .Jt = field["Jt"].matrix(),
                      .v = field["v"].vector(),
                      .names = read_names(field)};
  given.mu = read_friction(field, given.Jn.rows());
  given.e = read_restitution(field, given.Jn.rows());
  if (field.has("A")) given.A = field["A"].matrix();
  fill(scenario, std::move(given), refuse_in(field));
}

void fill(Scenario& scenario, PlainContactSpace given, const Refuse& refuse) {
  const auto& [G, c, mu, tangents, named, restitution] = given;
  const Eigen::Index n = c.size();
  if (n == 0 || n % (1 + tangents) != 0) {
    refuse("c", fmt::format("has {} entries; with {} of every contact ({}) it must have {} times "
                            "as many as there are contacts",
                            n, tangents == 1 ? "one tangent" : "two tangents",
                            tangents == 1 ? "planar" : "in space", 1 + tangents));
  }
  const int m = static_cast<int>(n) / (1 + tangents);
  if (G.rows() != n || G.cols() != n) {
    refuse("G", fmt::format("is {} x {}; c has {} entries, so G must be {} x {}", G.rows(),
                            G.cols(), n, n, n));
  }
  check_finite("G", G, refuse), check_finite("c", c, refuse);
  check_friction(mu, m, refuse);
  const VectorXd e = complete_restitution(restitution, m, refuse);
  const double size = G.cwiseAbs().maxCoeff();
  if ((G - G.transpose()).cwiseAbs().maxCoeff() > kAsymmetry * size)
    refuse("G", "must be symmetric");
  const MatrixXd symmetric = 0.5 * (G + G.transpose());
  const linear::SymmetricEigen eigen = linear::symmetric_eigen(symmetric);
  if (eigen.values.minCoeff() < -kAsymmetry * size)
    refuse("G", fmt::format("must be positive semi-definite; it has the eigenvalue {:.3g}",
                            eigen.values.minCoeff()));

  // contact velocities stand for the coordinates; their inertia is the inverse of G where it has
  // one
  const VectorXd inertia =
      eigen.values.unaryExpr([&](double x) { return x > 1e-12 * size ? 1 / x : 0; });
  scenario.terms.M = eigen.vectors * inertia.asDiagonal() * eigen.vectors.transpose();
  scenario.terms.forces = VectorXd::Zero(n);
  scenario.terms.A = MatrixXd(0, n);
  scenario.terms.joint_gap = VectorXd(0);
  scenario.v = c;
  scenario.what = ContactSpace{symmetric};
  const std::vector<std::string> names = complete_names(named, m, refuse);
  const MatrixXd rows = MatrixXd::Identity(n, n);
  for (int i = 0; i < m; ++i) {
    scenario.terms.contacts.push_back({.name = names[i],
                                       .phi = 0,
                                       .Jn = rows.row(i),
                                       .Jt = rows.middleRows(m + i * tangents, tangents),
                                       .mu = mu[i],
                                       .e = e[i]});
    scenario.velocities.push_back(names[i] + " normal");
  }
  for (int i = 0; i < m; ++i) {
    for (int t = 0; t < tangents; ++t)
      scenario.velocities.push_back(names[i] + " tangent" +
                                    (tangents == 1 ? "" : std::to_string(t + 1)));
  }
}

void read_contact_space(const Field& field, Scenario& scenario) {
  field.allow_keys(
      {"title", "parameters", "G", "c", "mu", "e", "tangents", "order", "names", "impact"});
  const double tangents = field.number_or("tangents", 1);
  if (tangents != 1 && tangents != 2) field["tangents"].fail("must be 1 (planar) or 2 (in space)");
  const std::string order = field.text_or("order", "normals_first");
  if (order != "normals_first" && order != "by_contact")
    field["order"].fail("must be normals_first or by_contact");
  PlainContactSpace given{.G = field["G"].matrix(),
                          .c = field["c"].vector(),
                          .tangents = static_cast<int>(tangents),
                          .names = read_names(field)};
  const Eigen::Index n = given.c.size();
  const int m = static_cast<int>(n) / (1 + given.tangents);
  given.mu = read_friction(field, m);
  given.e = read_restitution(field, m);
  // where the sizes fit; fill() says so where they do not
  if (order == "by_contact" && given.G.rows() == n && given.G.cols() == n &&
      n == m * (1 + given.tangents)) {
    const std::vector<int> rows = rows_by_contact(m, given.tangents);
    given.G = MatrixXd(given.G(rows, rows)), given.c = VectorXd(given.c(rows));
  }
  fill(scenario, std::move(given), refuse_in(field));
}

}  // namespace routh::io
