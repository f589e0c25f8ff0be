#include "routh/io/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "routh/io/document.h"
#include "routh/io/family.h"
#include "routh/simulate/reduce.h"

#ifdef ROUTH_HAS_MUJOCO
#include "routh/mujoco/fall.h"
#include "routh/mujoco/masses.h"
#include "routh/mujoco/own_outcome.h"
#include "routh/mujoco/settle.h"
#endif

namespace routh::io {

using Eigen::VectorXd;

#ifdef ROUTH_HAS_MUJOCO

bool has_models() { return true; }
std::string models_version() { return mujoco::version(); }

namespace {

constexpr double kTouching = 1e-4;  // keyframes of models are seldom more exact [m]

/// Numbers given instead of those of the state.
void replace(const std::string& option, const std::vector<double>& given,
             const std::vector<std::string>& names, VectorXd& x) {
  if (given.empty()) return;
  if (given.size() != names.size()) {
    throw InputError(fmt::format("{}: has {} numbers; the model has {}: {}", option, given.size(),
                                 names.size(), join(names)));
  }
  x = Eigen::Map<const VectorXd>(given.data(), static_cast<Eigen::Index>(given.size()));
  if (!x.allFinite())
    throw InputError(fmt::format("{}: a number is not finite; all must be", option));
}

State state_of(mujoco::System& system, const ModelStart& start, const std::string& path) {
  const std::vector<std::string> keyframes = system.keyframes();
  std::string name = start.state;
  if (!name.empty() && std::find(keyframes.begin(), keyframes.end(), name) == keyframes.end()) {
    const std::string close = nearest(name, keyframes);
    throw InputError(fmt::format("--state {}: {} has no such keyframe; {}", name, path,
                                 keyframes.empty() ? "it has none"
                                 : close.empty()   ? "known are " + join(keyframes)
                                                   : "did you mean '" + close + "'?"));
  }
  if (name.empty() && !keyframes.empty()) name = keyframes.front();
  State state = name.empty() ? system.home() : system.keyframe(name);
  if (!state.q.allFinite() || !state.v.allFinite())
    throw InputError(fmt::format("{}: keyframe {}: a number of {} is not finite; all must be", path,
                                 name, state.q.allFinite() ? "qvel" : "qpos"));
  if (!name.empty()) system.set_control(name);
  if (!start.ctrl.empty()) {
    VectorXd control = system.control();
    if (start.ctrl.size() == 1 && control.size() > 0)
      replace("--ctrl", std::vector<double>(control.size(), start.ctrl[0]), system.actuator_names(),
              control);
    else
      replace("--ctrl", start.ctrl, system.actuator_names(), control);
    system.set_control(control);
  }
  replace("--qpos", start.qpos, system.coordinate_names(), state.q);
  replace("--qvel", start.qvel, system.velocity_names(), state.v);
  return state;
}

constexpr int kNearest = 5;             // gaps that a message names
constexpr double kFarthest = 2;         // and how far they are looked for [m]
constexpr double kEnergyDigits = 1e-6;  // a simulator's energy is no better than its steps
constexpr double kStillClosed = 1e-3;   // gaps that a moved start may leave closed [m]

/// Moves a start that overlaps, as those of soft contacts do. What cannot be moved stays, for the
/// messages about overlaps; a system that leaves out contacts takes the place of this one.
State settled(std::shared_ptr<const mujoco::System>& system, State state, std::string& moved,
              double& touching) {
  mujoco::Settled to = mujoco::settle(*system, state);
  if (std::max(to.deepest, to.open) <= touching) return state;
  // parts that their owner put into each other, as a bearing and its ring
  std::vector<std::string> left_out;
  if (!to.stuck.empty()) {
    auto own = std::make_shared<mujoco::System>(*system);
    for (const Contact& c : to.stuck) {
      own->leave_out(c);
      left_out.push_back(fmt::format("{} ({:.3g} m)", c.name, -c.phi));
    }
    system = std::move(own);
    to = mujoco::settle(*system, state);
  }
  if (!to.reached) return state;
  if (left_out.size() > kNearest)
    left_out = {left_out.begin(), left_out.begin() + kNearest}, left_out.emplace_back("..");
  const std::string gone = left_out.empty()
                               ? ""
                               : fmt::format(
                                     "contacts that overlap and that no motion opens are left out: "
                                     "{}",
                                     fmt::join(left_out, ", "));
  if (!to.moved) {
    moved = gone;
    return state;
  }
  std::vector<std::string> causes;
  if (to.deepest > touching)
    causes.push_back(fmt::format("{} overlapped by {:.3g}", to.where, to.deepest));
  if (to.open > touching) causes.push_back(fmt::format("joints were open by {:.3g}", to.open));
  moved = fmt::format("the start was moved by the least motion, as {}", fmt::join(causes, " and "));
  if (to.joint_move > 0) moved += fmt::format("; joints moved by up to {:.3g}", to.joint_move);
  // what overlapped is closed, also where bodies that hold still cannot close all
  if (to.left_open > touching && to.left_open <= kStillClosed) {
    touching = to.left_open * (1 + 1e-9);
    moved += fmt::format("; contacts with gaps up to {:.3g} m count as closed", touching);
  }
  if (!gone.empty()) moved += "; " + gone;
  moved += " (--as-is refuses instead)";
  return to.state;
}

/// Coefficients of all contacts.
void set_contacts(mujoco::System& system, const ModelStart& start) {
  try {
    if (start.friction) system.set_friction(*start.friction);
    if (start.restitution) system.set_restitution(*start.restitution);
  } catch (const std::invalid_argument& e) {
    throw InputError(fmt::format("--set: {}", e.what()));
  }
}

/// The model at this state, moved out of overlaps and dropped where that is asked for.
Scenario at_state(std::shared_ptr<const mujoco::System> system, const std::string& name,
                  const std::string& title, const ModelStart& start, State state) {
  std::string moved;
  double touching = kTouching;
  if (!start.as_is) state = settled(system, std::move(state), moved, touching);
  if (start.drop) {
    if (!system->has_free_joint() || !system->has_ground())
      throw InputError(
          fmt::format("--drop: {} {}; add {}{}", name,
                      system->has_free_joint() ? "has nothing to fall on" : "has no free joint",
                      system->has_free_joint() ? "" : "--float",
                      system->has_ground()       ? ""
                      : system->has_free_joint() ? "--floor"
                                                 : " --floor"));
    state = mujoco::fall(*system, state, *start.drop);
    for (const Contact& c : system->terms(state.q, state.v).contacts) {
      if (c.pair < 0 && c.phi < -kTouching)
        throw InputError(
            fmt::format("--drop: {} holds back what falls in {}: it would be passed by {:.3g} "
                        "before anything "
                        "else is touched; start it with --qvel instead",
                        c.name, name, -c.phi));
    }
    touching = kTouching;
  }
  Scenario scenario{.name = name, .title = title};
  scenario.coordinates = system->coordinate_names();
  scenario.velocities = system->velocity_names();
  scenario.q = state.q, scenario.v = state.v;
  scenario.terms = system->terms(state.q, state.v);
  scenario.run.touching = touching;
  if (start.friction)
    scenario.parameters.push_back(
        {"friction", *start.friction, "", "of all contacts between geometries"});
  if (system->bounces())
    scenario.parameters.push_back(
        {"restitution", system->restitution(), "", "of all contacts between geometries"});
  scenario.what = Model{system, system->keyframes(), system->notes(), moved};
  return scenario;
}

}  // namespace

Scenario load_model(const std::string& name, const std::string& file, const std::string& text,
                    const ModelStart& start) {
  try {
    const mujoco::Additions additions{.floating = start.floating, .floor = start.floor};
    auto system = std::make_shared<mujoco::System>(
        text.empty() ? mujoco::System(file, additions)
                     : mujoco::System::from_text(text, file, additions));
    set_contacts(*system, start);
    State state = state_of(*system, start, name);
    const std::string title = system->title();
    return at_state(std::move(system), name,
                    title.empty() ? std::filesystem::path(file).stem().string() : title, start,
                    std::move(state));
  } catch (const std::invalid_argument& e) {
    throw InputError(e.what());
  }
}

State model_start(const Scenario& model, const ModelStart& start) {
  mujoco::System system = *model.model();
  return state_of(system, start, model.name);
}

State model_keyframe(const Scenario& model, const std::string& name) {
  return model.model()->keyframe(name);
}

Scenario place_model(const Scenario& model, const ModelStart& start, State state) {
  try {
    std::shared_ptr<const mujoco::System> system = std::get<Model>(model.what).system;
    if (start.friction || start.restitution) {
      auto own = std::make_shared<mujoco::System>(*system);
      set_contacts(*own, start);
      system = std::move(own);
    }
    return at_state(std::move(system), model.name, model.title, start, std::move(state));
  } catch (const std::invalid_argument& e) {
    throw InputError(e.what());
  }
}

std::string nearest_gaps(const Scenario& scenario) {
  // as far as it takes to find some; farther away everything is near everything
  mujoco::System far = *scenario.model();
  std::vector<Contact> contacts;
  const auto touches = [&] {
    return std::count_if(contacts.begin(), contacts.end(),
                         [](const Contact& c) { return c.pair >= 0; });
  };
  for (double reach = far.reach(); touches() < kNearest && reach < kFarthest; reach *= 4) {
    try {
      far.set_reach(std::min(4 * reach, kFarthest));
      contacts = far.terms(scenario.q, scenario.v).contacts;
    } catch (const std::runtime_error&) {  // more than MuJoCo has room for
      break;
    }
  }
  std::sort(contacts.begin(), contacts.end(),
            [](const Contact& a, const Contact& b) { return a.phi < b.phi; });
  if (contacts.size() > kNearest) contacts.resize(kNearest);
  std::vector<std::string> lines;
  for (const Contact& c : contacts) {
    lines.push_back(fmt::format("{} {:.3g} m, {} {:.3g} m/s", c.name, c.phi,
                                c.Jn.dot(scenario.v) < 0 ? "approaching with" : "separating with",
                                std::abs(c.Jn.dot(scenario.v))));
  }
  return lines.empty() ? fmt::format("nothing is within {} m", kFarthest)
                       : fmt::format("nearest are {}", fmt::join(lines, "; "));
}

std::string what_to_add(const Scenario& scenario) {
  const mujoco::System& system = *scenario.model();
  std::string options;
  if (!system.has_free_joint()) options += "--float ";
  if (!system.has_ground()) options += "--floor ";
  return fmt::format("add {}--drop 0.1 and it falls{}, or give velocities with --qvel", options,
                     options.find("floor") == options.npos ? "" : " on a floor");
}

std::vector<Surface> surfaces(const Scenario& scenario, const VectorXd& q, int segments) {
  return scenario.model()->shapes(q, segments);
}

Eigen::Vector3d relative_velocity(const Scenario& scenario, const Contact& contact,
                                  const VectorXd& v) {
  return scenario.model()->relative_velocity(contact, scenario.q, v);
}

Masses model_masses(const Scenario& scenario) { return mujoco::masses(*scenario.model()); }

MujocoOutcome mujoco_outcome(const Scenario& scenario, const std::vector<int>& contacts,
                             std::optional<double> time_constant) {
  const mujoco::OwnOutcome own =
      mujoco::own_outcome(*scenario.model(), {0, scenario.q, scenario.v},
                          {.touching = scenario.run.touching, .time_constant = time_constant});
  MujocoOutcome outcome{.reached = own.reached,
                        .velocity = own.v_stop,
                        .contact = VectorXd(3 * contacts.size()),
                        .rebound = own.v_plus,
                        .stop_time = own.stop_time,
                        .duration = own.duration,
                        .penetration = own.penetration,
                        .steps = own.steps};
  // soft contacts take time: bodies have moved, and contacts with them
  const Terms then = scenario.model()->terms(own.q_stop, own.v_stop);
  const std::vector<Contact>& now = then.contacts;
  const double energy = kinetic_energy(scenario.terms, scenario.v);
  outcome.energy = kinetic_energy(then, own.v_stop);
  if (outcome.energy > energy * (1 + kEnergyDigits)) outcome.gained = outcome.energy - energy;
  const auto m = static_cast<Eigen::Index>(contacts.size());
  for (Eigen::Index i = 0; i < m; ++i) {
    const Contact& before = scenario.terms.contacts[contacts[i]];
    const auto same = std::find_if(now.begin(), now.end(),
                                   [&](const Contact& c) { return c.name == before.name; });
    const Contact& contact = same == now.end() ? before : *same;
    outcome.contact[i] = contact.Jn.dot(own.v_stop);
    outcome.contact.segment<2>(m + 2 * i) = contact.Jt * own.v_stop;
  }
  return outcome;
}

#else

bool has_models() { return false; }
std::string models_version() { throw InputError(kModelsMissing); }
Scenario load_model(const std::string& name, const std::string&, const std::string&,
                    const ModelStart&) {
  throw InputError(fmt::format("{}: {}", name, kModelsMissing));
}
State model_start(const Scenario&, const ModelStart&) { throw InputError(kModelsMissing); }
State model_keyframe(const Scenario&, const std::string&) { throw InputError(kModelsMissing); }
Scenario place_model(const Scenario&, const ModelStart&, State) {
  throw InputError(kModelsMissing);
}
std::string what_to_add(const Scenario&) { throw InputError(kModelsMissing); }
std::string nearest_gaps(const Scenario&) { throw InputError(kModelsMissing); }
std::vector<Surface> surfaces(const Scenario&, const VectorXd&, int) {
  throw InputError(kModelsMissing);
}
Eigen::Vector3d relative_velocity(const Scenario&, const Contact&, const VectorXd&) {
  throw InputError(kModelsMissing);
}
Masses model_masses(const Scenario&) { throw InputError(kModelsMissing); }
MujocoOutcome mujoco_outcome(const Scenario&, const std::vector<int>&, std::optional<double>) {
  throw InputError(kModelsMissing);
}

#endif

}  // namespace routh::io
