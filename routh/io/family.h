#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "routh/io/scenario.h"
#include "routh/simulate/trajectory.h"

/// A scenario with some of its numbers left open: parameters, coordinates, velocities.
namespace routh::io {

/// A scenario file that was parsed, for many scenarios that differ by their parameters; one thread
/// at a time.
class ScenarioFile {
 public:
  /// The text is that of scenario_text(). Throws InputError.
  ScenarioFile(std::string name, const std::string& text);
  ~ScenarioFile();
  Scenario at(const std::vector<Override>& overrides);

 private:
  struct Parsed;
  std::string name_;
  std::unique_ptr<Parsed> parsed_;
};

/// The parameters that models have: friction and restitution of all contacts. Throws InputError.
ModelStart with_parameters(const std::string& name, ModelStart start,
                           const std::vector<Override>& overrides);
/// Where a model that was read begins: its keyframe, with coordinates and velocities in place of
/// its own, before it is moved or dropped.
State model_start(const Scenario& model, const ModelStart& start);
State model_keyframe(const Scenario& model, const std::string& name);
/// The same model placed anew, with the contacts and the drop of `start`: what load_model() makes
/// of its file without reading it again. For any number of threads.
Scenario place_model(const Scenario& model, const ModelStart& start, State state);

/// A family of scenarios, one for each choice of the numbers that are named. Names are those of
///
///   parameters          as --set has them
///   q[0], v[0]          any coordinate or velocity at the start; of models qpos[0], qvel[0] too
///   block.angle         coordinates, and of models velocities, by their own names
///   torso.pitch         of free and ball joints of models: turned about the world's x (roll),
///                       y (pitch) or z (yaw), before anything else [rad]
///   drop, keyframe      of models: the height they fall from [m], a place between keyframes: 0.5
///                       is half way from the first to the second
///   friction            of all contacts of plain matrices
class Family {
 public:
  /// `option` names who asks in messages, such as "--vary". Throws InputError.
  Family(const std::string& scenario, std::vector<Override> overrides, ModelStart start,
         const std::string& option, const std::vector<std::string>& names);
  /// Of a scenario that no file describes: its coordinates, velocities and friction.
  Family(Scenario base, const std::string& option, const std::vector<std::string>& names);
  /// To each scenario that is made, the one with nothing changed too.
  void prepare_by(std::function<void(Scenario&)> prepare) {
    prepare_ = std::move(prepare);
    prepare_(base_);
  }

  const Scenario& base() const { return base_; }     ///< with nothing changed
  const std::string& text() const { return text_; }  ///< of the file; empty where there is none
  /// With these values of the names. Throws InputError. For any number of threads.
  Scenario at(const std::vector<double>& values) const;

 private:
  enum class Kind { kParameter, kFriction, kCoordinate, kVelocity, kTurn, kKeyframe, kDrop };
  struct Knob {
    std::string name;
    Kind kind;
    int index = 0;  ///< of a coordinate, a velocity, the first of a quaternion
    int axis = 0;   ///< of a turn
  };
  void turn(const std::string& option, const std::vector<std::string>& names);
  Knob knob(const std::string& option, const std::string& name) const;
  Scenario from_file(const std::vector<Override>& overrides) const;
  State between_keyframes(double place) const;
  Scenario model_at(const std::vector<double>& values) const;

  struct Files;  ///< parsed, those that no thread uses now

  std::string name_, text_;
  std::shared_ptr<Files> files_;
  std::vector<Override> overrides_;
  ModelStart start_;
  Scenario base_;
  State model_start_;  ///< of a model, before it is moved or dropped
  std::vector<State> keyframes_;
  std::vector<Knob> knobs_;
  std::function<void(Scenario&)> prepare_;
};

}  // namespace routh::io
