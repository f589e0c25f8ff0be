#pragma once

#include <functional>

#include "routh/io/document.h"
#include "routh/io/scenario.h"

namespace routh::io {

/// An impact in generalised coordinates, of one instant.
struct PlainMatrices {
  Eigen::MatrixXd M, Jn, Jt;            ///< nv x nv; contacts x nv; one or two rows a contact x nv
  Eigen::VectorXd mu, v;                ///< one for each contact; nv
  Eigen::MatrixXd A = {};               ///< bilateral rows; empty: none
  std::vector<std::string> names = {};  ///< of the contacts; none: A, B, ..
  Eigen::VectorXd e = {};               ///< coefficients of restitution; none: zero
};
/// The same in contact space.
struct PlainContactSpace {
  Eigen::MatrixXd G;
  Eigen::VectorXd c, mu;
  int tangents = 1;
  std::vector<std::string> names = {};
  Eigen::VectorXd e = {};
};
/// Throws for a field, saying what is wrong with it.
using Refuse = std::function<void(const std::string& field, const std::string& what)>;
void fill(Scenario& scenario, PlainMatrices given, const Refuse& refuse);
void fill(Scenario& scenario, PlainContactSpace given, const Refuse& refuse);

/// From a program's own matrices. Throws InputError "M: is 2 x 2; ..".
template <class Given>
Scenario scenario_of(Given given) {
  Scenario scenario{.name = "matrices", .title = "plain matrices"};
  fill(scenario, std::move(given), [](const std::string& field, const std::string& what) {
    throw InputError(field + ": " + what);
  });
  return scenario;
}

/// Plain matrices: M, Jn, Jt, mu, v and optionally A, e and names of contacts. Throws InputError.
void read_matrices(const Field& field, Scenario& scenario);

/// Contact space itself: the Delassus matrix G, c, mu and optionally e, the number of tangents, the
/// order of the rows and names of contacts. Throws InputError.
void read_contact_space(const Field& field, Scenario& scenario);

}  // namespace routh::io
