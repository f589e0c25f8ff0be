#include "routh/model/masses.h"

#include <memory>

namespace routh {

using Eigen::VectorXd;

Masses masses(const PlanarMechanism& mechanism) {
  const auto own = std::make_shared<PlanarMechanism>(mechanism);
  const VectorXd rest = VectorXd::Zero(mechanism.nv());
  const Eigen::MatrixXd M = mechanism.terms(rest, rest).M;
  Masses all{.by = 0};
  std::vector<int> places;
  const auto count = static_cast<int>(mechanism.bodies().size());
  for (int b = 0; b < count; ++b) {
    const Body& body = mechanism.bodies()[b];
    if (body.mass == 0) continue;
    own->set_mass(b, 2 * body.mass);
    if (own->terms(rest, rest).M != M) {
      all.bodies.push_back(body.name);
      all.by += body.mass;
      places.push_back(b);
    }
    own->set_mass(b, body.mass);
  }
  all.heavier = [own, places, by = all.by,
                 was = mechanism.bodies()](std::size_t k) -> const System& {
    for (const int b : places) own->set_mass(b, was[b].mass + (b == places[k] ? by : 0));
    return *own;
  };
  return all;
}

std::vector<MassSlope> mass_slopes(const System& system, const VectorXd& q, const VectorXd& v,
                                   const Masses& masses) {
  const Eigen::MatrixXd M = system.terms(q, v).M;
  std::vector<MassSlope> slopes;
  for (std::size_t b = 0; b < masses.bodies.size(); ++b)
    slopes.push_back({masses.bodies[b], (masses.heavier(b).terms(q, v).M - M) / masses.by});
  return slopes;
}

}  // namespace routh
