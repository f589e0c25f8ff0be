#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "routh/event_selected/systems.h"
#include "routh/impact/problem.h"
#include "routh/io/written_system.h"
#include "routh/model/limb.h"
#include "routh/model/planar.h"
#include "routh/model/system.h"
#include "routh/mujoco/system.h"

/// Scenarios: a mechanism, a model of MuJoCo (MJCF, URDF), an event-selected system or plain
/// matrices, at the instant of an impact or the start of a motion. docs/scenarios.md describes the
/// format; the files in scenarios/ are part of the program.
namespace routh::io {

struct Parameter {
  std::string name;
  double value = 0;
  std::string unit, about;
};

// What a scenario is about.

/// A planar mechanism.
struct Mechanism {
  PlanarMechanism planar;
  std::vector<Limb> limbs;  ///< its coordinates without mass
};
/// A model of MuJoCo, MJCF or URDF.
struct Model {
  std::shared_ptr<const mujoco::System> system;
  std::vector<std::string> states;  ///< names of its keyframes
  std::vector<std::string> notes;   ///< what is taken differently from the file
  std::string moved = {};           ///< how the start was moved out of overlaps; empty: not at all
};
/// An event-selected system: one of P5, or one that the file writes down.
struct SelectedSystem {
  std::string name;
  std::variant<event_selected::OrderTest, event_selected::Hopper, event_selected::Plate,
               WrittenSystem>
      system;
  Eigen::VectorXd start;
  std::optional<PlanarMechanism> picture;  ///< at its coordinates; none: it cannot be drawn
};
/// M, Jn, Jt and v of one instant: Scenario::terms and v.
struct Matrices {};
/// G of one instant; Scenario::v is the contact velocity.
struct ContactSpace {
  Eigen::MatrixXd G;
};

/// A mechanism of a program's own, which no file describes.
struct OwnSystem {
  std::shared_ptr<const System> system;
};

/// How the paper or the author samples this impact.
struct ImpactDefaults {
  double step = 0;                  ///< h [N s]; 0: what stops the fastest contact alone
  int limit = 1000;                 ///< N
  std::uint64_t samples = 1 << 14;  ///< M
};

/// How the author simulates it.
struct SimulationDefaults {
  std::string method = "time-stepping";
  double step = 1e-3;  ///< h [s]
  double end = 1;      ///< [s]
  double eps = 1e-3;   ///< event-selected: width of a guard's neighbourhood, in the units of h
};

/// What a run takes unless it is told otherwise.
struct RunDefaults {
  double touching = 1e-6;  ///< gaps up to this take part in an impact [m]
  /// Of friction cones in space; 0: circular. Not given: as suits the law or method.
  std::optional<int> edges;
  bool extreme_points = false;                    ///< leave out contacts inside a patch of others
  Restitution restitution = Restitution::kByLaw;  ///< what coefficients of restitution mean
  ImpactDefaults impact;
  SimulationDefaults simulation;
};

struct Scenario {
  std::string name;  ///< of the built-in scenario, or the file's path
  std::string title;
  std::vector<Parameter> parameters;  ///< with overrides applied
  std::variant<Matrices, ContactSpace, Mechanism, Model, SelectedSystem, OwnSystem> what;
  std::vector<std::string> coordinates;  ///< names of q
  std::vector<std::string> velocities;   ///< names of v
  Eigen::VectorXd q, v;                  ///< at the start; q is empty for matrices
  Terms terms;                           ///< at the start; of a selected system names of contacts
  RunDefaults run;

  // what it is, or null
  const PlanarMechanism* mechanism() const {
    const auto* m = std::get_if<Mechanism>(&what);
    return m ? &m->planar : nullptr;
  }
  const mujoco::System* model() const {
    const auto* m = std::get_if<Model>(&what);
    return m ? m->system.get() : nullptr;
  }
  const SelectedSystem* selected() const { return std::get_if<SelectedSystem>(&what); }
  const ContactSpace* contact_space() const { return std::get_if<ContactSpace>(&what); }

  /// What moves: the mechanism, the model or a program's own; none for matrices and selected
  /// systems.
  const System* moving() const {
    if (const auto* own = std::get_if<OwnSystem>(&what)) return own->system.get();
    return mechanism() ? static_cast<const System*>(mechanism()) : model();
  }
  /// Coordinates of the mechanism without mass.
  const std::vector<Limb>& limbs() const;
  /// What is drawn at q in the plane: the mechanism, or the picture of a selected system.
  const PlanarMechanism* picture() const;
};

struct Override {
  std::string name;
  double value = 0;
};

/// Where a model begins: at a keyframe (the first, unless named; the reference configuration where
/// there is none), with these coordinates instead, or after a fall.
struct ModelStart {
  std::string state;
  std::vector<double> qpos, qvel;
  std::vector<double> ctrl = {};  ///< of the actuators, or one number for all
  std::optional<double> drop;     ///< falls from this height above the ground [m]
  /// Of all its contacts, in place of the file's.
  std::optional<double> friction = {}, restitution = {};
  bool as_is = false;     ///< refuse a start that overlaps instead of moving it
  bool floating = false;  ///< a free joint under its root
  bool floor = false;     ///< a plane at height zero

  bool given() const {
    return !state.empty() || !qpos.empty() || !qvel.empty() || !ctrl.empty() || drop || as_is ||
           floating || floor;
  }
};

/// Names of the built-in scenarios, sorted.
std::vector<std::string> scenario_names();
/// The file of a built-in scenario, or a file as it is. Throws InputError naming the nearest.
std::string scenario_text(const std::string& name_or_path);
/// Is it a model of MuJoCo, by its built-in name or the ending of its path?
bool is_model(const std::string& name_or_path);
/// Was the program built with MuJoCo?
bool has_models();
inline constexpr const char* kModelsMissing =
    "models of MuJoCo need libmujoco-dev: apt-get install libmujoco-dev, then make build";

/// A built-in scenario by name, or a YAML, MJCF or URDF file by path. Throws InputError.
Scenario load_scenario(const std::string& name_or_path, const std::vector<Override>& overrides = {},
                       const ModelStart& start = {});

/// Do forces have sets of values?
bool has_inputs(const Scenario& scenario);
/// Gives every such input one of its values, drawn by the seed, from the start to the end.
void draw_inputs(Scenario& scenario, std::uint64_t seed);

}  // namespace routh::io
