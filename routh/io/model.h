#pragma once

#include <optional>
#include <string>
#include <vector>

#include "routh/io/scenario.h"
#include "routh/model/masses.h"
#include "routh/model/surface.h"
#include "routh/simulate/trajectory.h"

/// Models of MuJoCo as scenarios: the optional component of this folder. Without MuJoCo every
/// function here throws InputError with the package to install.
namespace routh::io {

/// Of MuJoCo: "2.2.2".
std::string models_version();

/// `text`, when not empty, is the model itself; otherwise the file is read.
Scenario load_model(const std::string& name, const std::string& file, const std::string& text,
                    const ModelStart& start);

/// The contacts nearest to touching at a state, for messages: "fl_foot/floor 0.012 m, ..".
std::string nearest_gaps(const Scenario& scenario);

/// How a model whose start hits nothing comes to an impact, for messages.
std::string what_to_add(const Scenario& scenario);

/// The model at q as polygons; round shapes have `segments` faces around.
std::vector<Surface> surfaces(const Scenario& scenario, const Eigen::VectorXd& q, int segments);

/// How the faster body moves against the other at a contact of the scenario, in world coordinates
/// [m/s].
Eigen::Vector3d relative_velocity(const Scenario& scenario, const Contact& contact,
                                  const Eigen::VectorXd& v);

/// Its bodies with mass.
Masses model_masses(const Scenario& scenario);

/// What MuJoCo itself makes of the impact at the start of the scenario.
struct MujocoOutcome {
  bool reached = false;      ///< no contact approached any more within the time it was given
  Eigen::VectorXd velocity;  ///< when the contacts had stopped approaching
  Eigen::VectorXd contact;   ///< then, of the contacts named: ordered as c
  Eigen::VectorXd rebound;   ///< velocity when its soft contacts had stopped pushing
  double energy = 0;         ///< kinetic, when the contacts had stopped approaching [J]
  double gained = 0;         ///< of it, more than before the impact [J]: no contact gives energy
  double stop_time = 0, duration = 0, penetration = 0;  ///< [s], [s], [m]
  long steps = 0;
};
/// With the softness of the model, or with this time constant of all contacts [s].
MujocoOutcome mujoco_outcome(const Scenario& scenario, const std::vector<int>& contacts,
                             std::optional<double> time_constant = {});

}  // namespace routh::io
