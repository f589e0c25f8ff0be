#include "routh/io/family.h"

#include <fmt/format.h>

#include <Eigen/Geometry>
#include <charconv>
#include <cmath>
#include <mutex>
#include <optional>

#include "routh/io/document.h"
#include "routh/io/model.h"
#include "routh/io/text.h"
#include "routh/simulate/reduce.h"

namespace routh::io {
namespace {

using Eigen::VectorXd;

constexpr const char* kTurns[] = {".roll", ".pitch", ".yaw"};

/// "q[3]" of "q": 3; nothing where it is no such word.
std::optional<int> index_in(const std::string& text, const std::string& letter) {
  if (!text.starts_with(letter + "[") || !text.ends_with("]")) return {};
  int index = -1;
  const char *from = text.data() + letter.size() + 1, *to = text.data() + text.size() - 1;
  const auto [rest, error] = std::from_chars(from, to, index);
  if (error != std::errc() || rest != to || index < 0) return {};
  return index;
}

/// Quaternions w x y z in a state: where each begins.
std::vector<int> quaternions(const std::vector<std::string>& coordinates) {
  std::vector<int> begins;
  for (std::size_t k = 0; k + 3 < coordinates.size(); ++k) {
    if (coordinates[k].ends_with(".qw")) begins.push_back(static_cast<int>(k));
  }
  return begins;
}

Eigen::Quaterniond quaternion(const VectorXd& q, int at) {
  return {q[at], q[at + 1], q[at + 2], q[at + 3]};
}
void set_quaternion(VectorXd& q, int at, const Eigen::Quaterniond& to) {
  q.segment<4>(at) << to.w(), to.x(), to.y(), to.z();
}

}  // namespace

struct Family::Files {
  std::mutex guard;
  std::vector<std::unique_ptr<ScenarioFile>> idle;
};

Family::Family(const std::string& scenario, std::vector<Override> overrides, ModelStart start,
               const std::string& option, const std::vector<std::string>& names)
    : name_(scenario), overrides_(std::move(overrides)), start_(std::move(start)) {
  if (is_model(scenario) || start_.given()) {
    base_ = load_scenario(scenario, overrides_, start_);
  } else {
    // read once, as standard input can be
    text_ = scenario_text(scenario);
    files_ = std::make_shared<Files>();
    base_ = from_file(overrides_);
  }
  if (base_.model()) {
    start_ = with_parameters(name_, start_, overrides_);
    model_start_ = model_start(base_, start_);
    for (const std::string& keyframe : std::get<Model>(base_.what).states)
      keyframes_.push_back(model_keyframe(base_, keyframe));
  }
  turn(option, names);
}

Family::Family(Scenario base, const std::string& option, const std::vector<std::string>& names)
    : name_(base.name), base_(std::move(base)) {
  base_.parameters.clear();  // where they stand nobody knows any more
  turn(option, names);
}

void Family::turn(const std::string& option, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    for (const Knob& known : knobs_) {
      if (known.name == name) throw InputError(fmt::format("{} {}: is given twice", option, name));
    }
    knobs_.push_back(knob(option, name));
  }
}

Family::Knob Family::knob(const std::string& option, const std::string& name) const {
  std::vector<std::string> known;
  for (const Parameter& p : base_.parameters) known.push_back(p.name);
  if (base_.model()) {
    for (const char* own : {"friction", "restitution"}) {
      if (index_of(known, own) < 0) known.emplace_back(own);
    }
  }
  if (index_of(known, name) >= 0) return {name, Kind::kParameter};

  const bool plain = !base_.moving() && !base_.selected();
  if (base_.selected())
    throw InputError(fmt::format("{} {}: {} has no such parameter; {}", option, name, name_,
                                 known.empty() ? "it has none" : "known are " + join(known)));
  if (plain && name == "friction") return {name, Kind::kFriction};
  if (plain) known.emplace_back("friction");
  if (base_.model()) {
    if (name == "drop") return {name, Kind::kDrop};
    if (name == "keyframe") {
      if (keyframes_.size() > 1) return {name, Kind::kKeyframe};
      throw InputError(fmt::format("{} keyframe: {} has {}; between two or more there is a way",
                                   option, name_, keyframes_.empty() ? "none" : "one"));
    }
    known.insert(known.end(), {"drop", "keyframe"});
  }

  // by number
  const auto numbered = [&](const char* letter, const VectorXd& x,
                            Kind kind) -> std::optional<Knob> {
    const std::optional<int> index = index_in(name, letter);
    if (!index) return {};
    if (*index >= x.size())
      throw InputError(x.size() == 0
                           ? fmt::format("{} {}: {} has no coordinates", option, name, name_)
                           : fmt::format("{} {}: {} has {}[0] to {}[{}]", option, name, name_,
                                         letter, letter, x.size() - 1));
    return Knob{name, kind, *index};
  };
  for (const char* letter : {"q", "qpos"}) {
    if (letter[1] && !base_.model()) continue;
    if (const auto found = numbered(letter, base_.q, Kind::kCoordinate)) return *found;
  }
  for (const char* letter : {"v", "qvel"}) {
    if (letter[1] && !base_.model()) continue;
    if (const auto found = numbered(letter, base_.v, Kind::kVelocity)) return *found;
  }

  // by name
  if (!plain) {
    if (const int i = index_of(base_.coordinates, name); i >= 0)
      return {name, Kind::kCoordinate, i};
    if (const int i = index_of(base_.velocities, name); i >= 0) return {name, Kind::kVelocity, i};
    known.insert(known.end(), base_.coordinates.begin(), base_.coordinates.end());
    if (base_.model()) known.insert(known.end(), base_.velocities.begin(), base_.velocities.end());
  }
  for (const int at : quaternions(base_.coordinates)) {
    const std::string joint = base_.coordinates[at].substr(0, base_.coordinates[at].size() - 3);
    for (int axis = 0; axis < 3; ++axis) {
      if (name == joint + kTurns[axis]) return {name, Kind::kTurn, at, axis};
      known.push_back(joint + kTurns[axis]);
    }
  }
  const std::string close = nearest(name, known);
  constexpr std::size_t kShown = 16;
  const bool many = known.size() > kShown;
  if (many) known.resize(kShown);
  throw InputError(fmt::format("{} {}: {} has no such parameter; {}", option, name, name_,
                               !close.empty() ? "did you mean '" + close + "'?"
                               : known.empty()
                                   ? "it has none; there are v[0] and so on"
                                   : "known are " + join(known) + (many ? ", .." : "")));
}

Scenario Family::from_file(const std::vector<Override>& overrides) const {
  // every thread has a file to itself while it reads
  std::unique_ptr<ScenarioFile> file;
  {
    const std::lock_guard lock(files_->guard);
    if (!files_->idle.empty()) {
      file = std::move(files_->idle.back());
      files_->idle.pop_back();
    }
  }
  if (!file) file = std::make_unique<ScenarioFile>(name_, text_);
  Scenario scenario = file->at(overrides);
  const std::lock_guard lock(files_->guard);
  files_->idle.push_back(std::move(file));
  return scenario;
}

State Family::between_keyframes(double place) const {
  const double last = static_cast<double>(keyframes_.size() - 1);
  if (!(place >= 0 && place <= last))
    throw InputError(fmt::format("keyframe {}: must be from 0 to {}", place, last));
  const auto from = static_cast<std::size_t>(std::min(std::floor(place), last - 1));
  const double part = place - static_cast<double>(from);
  const State &a = keyframes_[from], &b = keyframes_[from + 1];
  State state{0, (1 - part) * a.q + part * b.q, (1 - part) * a.v + part * b.v};
  for (const int at : quaternions(base_.coordinates))
    set_quaternion(state.q, at, quaternion(a.q, at).slerp(part, quaternion(b.q, at)));
  return state;
}

Scenario Family::model_at(const std::vector<double>& values) const {
  ModelStart start = start_;
  State state = model_start_;
  // first where it is, then what is different there
  for (std::size_t k = 0; k < knobs_.size(); ++k) {
    if (knobs_[k].kind == Kind::kKeyframe) state = between_keyframes(values[k]);
  }
  for (std::size_t k = 0; k < knobs_.size(); ++k) {
    const Knob& knob = knobs_[k];
    if (knob.kind == Kind::kParameter)
      (knob.name == "friction" ? start.friction : start.restitution) = values[k];
    if (knob.kind == Kind::kCoordinate) state.q[knob.index] = values[k];
    if (knob.kind == Kind::kVelocity) state.v[knob.index] = values[k];
    if (knob.kind == Kind::kDrop) start.drop = values[k];
    if (knob.kind == Kind::kTurn) {
      const Eigen::AngleAxisd turn(values[k], Eigen::Vector3d::Unit(knob.axis));
      set_quaternion(state.q, knob.index, turn * quaternion(state.q, knob.index));
    }
  }
  if (start.drop && !(*start.drop >= 0 && std::isfinite(*start.drop)))
    throw InputError(fmt::format("drop {}: must be a height that is not negative", *start.drop));
  return place_model(base_, start, std::move(state));
}

Scenario Family::at(const std::vector<double>& values) const {
  Scenario scenario;
  if (base_.model()) {
    scenario = model_at(values);
  } else {
    std::vector<Override> overrides = overrides_;
    bool moved = false;
    for (std::size_t k = 0; k < knobs_.size(); ++k) {
      if (knobs_[k].kind == Kind::kParameter) overrides.push_back({knobs_[k].name, values[k]});
    }
    scenario = overrides.size() > overrides_.size() ? from_file(overrides) : base_;
    for (std::size_t k = 0; k < knobs_.size(); ++k) {
      const Knob& knob = knobs_[k];
      if (knob.kind == Kind::kCoordinate) scenario.q[knob.index] = values[k], moved = true;
      if (knob.kind == Kind::kVelocity) scenario.v[knob.index] = values[k], moved = true;
      if (knob.kind == Kind::kFriction) {
        for (Contact& contact : scenario.terms.contacts) contact.mu = values[k];
      }
    }
    if (moved && scenario.moving())
      scenario.terms = scenario.moving()->terms(scenario.q, scenario.v);
  }
  if (prepare_) prepare_(scenario);
  if (!scenario.v.allFinite() || !std::isfinite(kinetic_energy(scenario.terms, scenario.v)))
    throw InputError(fmt::format("{}: the kinetic energy is no number here", name_));
  return scenario;
}

}  // namespace routh::io
