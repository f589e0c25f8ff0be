#include "routh/io/matrices.h"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <set>

namespace routh::io {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kAsymmetry = 1e-9;  // of a matrix that is meant to be symmetric, relative

/// One number for all contacts or one for each.
VectorXd read_friction(const Field& field, Eigen::Index contacts) {
  const VectorXd mu = field["mu"].is_sequence()
                          ? field["mu"].vector()
                          : VectorXd::Constant(contacts, field["mu"].number());
  if (mu.size() != contacts)
    field["mu"].fail(fmt::format("has {} entries; there are {} contacts", mu.size(), contacts));
  if (mu.minCoeff() < 0) field["mu"].fail("friction must not be negative");
  if (mu.maxCoeff() > 1e12) field["mu"].fail("is above 1e12; with 1e6 nothing slides either");
  return mu;
}

/// The same; none is all zero.
VectorXd read_restitution(const Field& field, Eigen::Index contacts) {
  if (!field.has("e")) return VectorXd::Zero(contacts);
  const Field given = field["e"];
  const bool each = given.is_sequence();
  const VectorXd e = each ? given.vector() : VectorXd::Constant(contacts, given.number());
  if (e.size() != contacts)
    given.fail(fmt::format("has {} entries; there are {} contacts", e.size(), contacts));
  for (Eigen::Index i = 0; i < contacts; ++i) {
    if (!(e[i] >= 0 && e[i] <= 1))
      (each ? given[i] : given)
          .fail(
              fmt::format("{} is no coefficient of restitution; it must be between 0 and 1", e[i]));
  }
  return e;
}

/// As given, else A, B, ..
std::vector<std::string> read_names(const Field& field, Eigen::Index contacts) {
  std::vector<std::string> names;
  for (Eigen::Index i = 0; i < contacts && !field.has("names"); ++i)
    names.push_back(i < 26 ? std::string(1, static_cast<char>('A' + i)) : fmt::format("C{}", i));
  if (!field.has("names")) return names;
  if (field["names"].size() != static_cast<std::size_t>(contacts))
    field["names"].fail(fmt::format("must name all {} contacts", contacts));
  std::set<std::string> known;
  for (Eigen::Index i = 0; i < contacts; ++i) {
    const Field name = field["names"][i];
    names.push_back(name.text());
    if (!known.insert(names.back()).second)
      name.fail("another contact is called '" + names.back() + "'");
  }
  return names;
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

}  // namespace

void read_matrices(const Field& field, Scenario& scenario) {
  field.allow_keys(
      {"title", "parameters", "M", "Jn", "Jt", "mu", "e", "v", "A", "names", "impact"});
  Terms& terms = scenario.terms;
  scenario.v = field["v"].vector();
  const Eigen::Index nv = scenario.v.size();
  if (nv == 0) field["v"].fail("must have at least one number");
  terms.M = field["M"].matrix();
  if (terms.M.rows() != nv || terms.M.cols() != nv) {
    field["M"].fail(fmt::format("is {} x {}; v has {} entries, so M must be {} x {}",
                                terms.M.rows(), terms.M.cols(), nv, nv, nv));
  }
  terms.forces = VectorXd::Zero(nv);
  const MatrixXd Jn = field["Jn"].matrix(), Jt = field["Jt"].matrix();
  const Eigen::Index m = Jn.rows();
  for (const auto& [name, J] : {std::pair<std::string, const MatrixXd&>{"Jn", Jn}, {"Jt", Jt}}) {
    if (J.cols() != nv)
      field[name].fail(fmt::format("has {} columns; v has {} entries", J.cols(), nv));
  }
  if (m == 0) field["Jn"].fail("there must be at least one contact");
  if (Jt.rows() != m && Jt.rows() != 2 * m) {
    field["Jt"].fail(
        fmt::format("has {} rows; with {} contacts it must have {} (planar) or {} (in space)",
                    Jt.rows(), m, m, 2 * m));
  }
  const VectorXd mu = read_friction(field, m), e = read_restitution(field, m);
  terms.A = field.has("A") ? field["A"].matrix() : MatrixXd(0, nv);
  if (terms.A.cols() != nv)
    field["A"].fail(fmt::format("has {} columns; v has {} entries", terms.A.cols(), nv));
  if (terms.A.rows() > 0 &&
      (terms.A * scenario.v).lpNorm<Eigen::Infinity>() >
          1e-9 * (terms.A.cwiseAbs() * scenario.v.cwiseAbs()).lpNorm<Eigen::Infinity>())
    field["v"].fail("violates the bilateral rows: A v must be zero");
  terms.joint_gap = VectorXd::Zero(terms.A.rows());

  const Eigen::Index tangents = Jt.rows() / m;
  const std::vector<std::string> names = read_names(field, m);
  for (Eigen::Index i = 0; i < m; ++i) {
    terms.contacts.push_back({.name = names[i],
                              .phi = 0,
                              .Jn = Jn.row(i),
                              .Jt = Jt.middleRows(i * tangents, tangents),
                              .mu = mu[i],
                              .e = e[i]});
  }
  for (Eigen::Index i = 0; i < nv; ++i) scenario.velocities.push_back(std::to_string(i));
}

void read_contact_space(const Field& field, Scenario& scenario) {
  field.allow_keys(
      {"title", "parameters", "G", "c", "mu", "e", "tangents", "order", "names", "impact"});
  const double given = field.number_or("tangents", 1);
  if (given != 1 && given != 2) field["tangents"].fail("must be 1 (planar) or 2 (in space)");
  const int tangents = static_cast<int>(given);
  const std::string order = field.text_or("order", "normals_first");
  if (order != "normals_first" && order != "by_contact")
    field["order"].fail("must be normals_first or by_contact");

  VectorXd c = field["c"].vector();
  const Eigen::Index n = c.size();
  if (n == 0 || n % (1 + tangents) != 0) {
    field["c"].fail(
        fmt::format("has {} entries; with {} of every contact ({}) it must have {} times "
                    "as many as there are contacts",
                    n, tangents == 1 ? "one tangent" : "two tangents",
                    tangents == 1 ? "planar" : "in space", 1 + tangents));
  }
  const int m = static_cast<int>(n) / (1 + tangents);
  MatrixXd G = field["G"].matrix();
  if (G.rows() != n || G.cols() != n) {
    field["G"].fail(fmt::format("is {} x {}; c has {} entries, so G must be {} x {}", G.rows(),
                                G.cols(), n, n, n));
  }
  const double size = G.cwiseAbs().maxCoeff();
  if ((G - G.transpose()).cwiseAbs().maxCoeff() > kAsymmetry * size)
    field["G"].fail("must be symmetric");
  if (order == "by_contact") {
    const std::vector<int> rows = rows_by_contact(m, tangents);
    G = MatrixXd(G(rows, rows)), c = VectorXd(c(rows));
  }
  G = (0.5 * (G + G.transpose())).eval();
  const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(G);
  if (eigen.eigenvalues().minCoeff() < -kAsymmetry * size)
    field["G"].fail(fmt::format("must be positive semi-definite; it has the eigenvalue {:.3g}",
                                eigen.eigenvalues().minCoeff()));

  // contact velocities stand for the coordinates; their inertia is the inverse of G where it has
  // one
  const VectorXd inertia =
      eigen.eigenvalues().unaryExpr([&](double x) { return x > 1e-12 * size ? 1 / x : 0; });
  scenario.terms.M = eigen.eigenvectors() * inertia.asDiagonal() * eigen.eigenvectors().transpose();
  scenario.terms.forces = VectorXd::Zero(n);
  scenario.terms.A = MatrixXd(0, n);
  scenario.terms.joint_gap = VectorXd(0);
  scenario.v = c;
  scenario.what = ContactSpace{G};
  const VectorXd mu = read_friction(field, m), e = read_restitution(field, m);
  const std::vector<std::string> names = read_names(field, m);
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

}  // namespace routh::io
