#pragma once

#include <Eigen/Core>
#include <random>

#include "impact/referee.h"
#include "routh/simulate/reduce.h"

namespace routh::test {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// The same impact twice: as fractions for the referee, and through the library's own reduction.
struct Twice {
  RationalImpact exact;
  ImpactProblem problem;
};

/// Small integers everywhere, so that modes are singular more often than not.
inline Twice small_integers(std::mt19937& random, int m, int nv, int tangents) {
  const auto integer = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  const int rows = (1 + tangents) * m;
  std::vector<int> mass(nv);
  for (int& x : mass) x = integer(1, 4);
  std::vector<std::vector<int>> J(rows, std::vector<int>(nv));
  for (auto& row : J) {
    for (int& x : row) x = integer(0, 3) == 0 ? 0 : integer(-2, 2);
  }
  // contacts that repeat others, wholly or in part
  if (m > 1 && integer(0, 3) == 0) J[1] = J[0];
  if (m > 1 && integer(0, 3) == 0) J[m + tangents] = J[m];
  std::vector<int> v(nv);
  for (int& x : v) x = integer(-2, 2);

  Twice twice;
  Terms terms;
  terms.M = MatrixXd::Zero(nv, nv);
  terms.A = MatrixXd(0, nv);
  for (int k = 0; k < nv; ++k) terms.M(k, k) = mass[k];
  twice.exact.tangents = tangents;
  for (int i = 0; i < m; ++i) {
    const Rational mu(integer(0, 4), integer(1, 2));
    twice.exact.mu.push_back(mu);
    Contact contact{.name = std::to_string(i), .mu = mu.convert_to<double>()};
    contact.Jn.resize(nv);
    contact.Jt.resize(tangents, nv);
    for (int k = 0; k < nv; ++k) {
      contact.Jn[k] = J[i][k];
      for (int t = 0; t < tangents; ++t) contact.Jt(t, k) = J[m + tangents * i + t][k];
    }
    terms.contacts.push_back(std::move(contact));
  }
  for (int r = 0; r < rows; ++r) {
    Rational c = 0;
    RationalVector row;
    for (int s = 0; s < rows; ++s) {
      Rational g = 0;
      for (int k = 0; k < nv; ++k) g += Rational(J[r][k] * J[s][k], mass[k]);
      row.push_back(g);
    }
    for (int k = 0; k < nv; ++k) c += J[r][k] * v[k];
    twice.exact.G.push_back(row);
    twice.exact.c.push_back(c);
  }
  const VectorXd speed = VectorXd::NullaryExpr(nv, [&](Eigen::Index k) { return v[k]; });
  twice.problem = reduce(terms, speed).problem;
  twice.problem.edges = 4;
  return twice;
}

inline VectorXd to_double(const RationalVector& x) {
  return VectorXd::NullaryExpr(static_cast<Eigen::Index>(x.size()), [&](Eigen::Index k) {
    return x[static_cast<std::size_t>(k)].convert_to<double>();
  });
}

}  // namespace routh::test
