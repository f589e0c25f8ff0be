#include "routh/event_selected/solution.h"

#include <cmath>
#include <cstdio>
#include <stdexcept>

namespace routh::event_selected {
namespace {

void require(bool holds, const std::string& what) {
  if (!holds) throw std::invalid_argument(what);
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

}  // namespace

Reset alternate(int pairs) {
  Reset reset(2 * static_cast<std::size_t>(pairs));
  for (int k = 0; k < pairs; ++k) {
    reset[k] = {k + pairs};
    reset[k + pairs] = {k};
  }
  return reset;
}

std::string_view to_string(Status status) {
  switch (status) {
    case Status::kFinished:
      return "finished";
    case Status::kNotLive:
      return "not live";
    case Status::kNotFinite:
      return "not finite";
    case Status::kStepTooSmall:
      return "step too small";
    case Status::kEventLimit:
      return "event limit";
    case Status::kStepLimit:
      return "step limit";
  }
  return "unknown";
}

std::string describe(Status status, double time, int guard, double value, double c) {
  const std::string at = " at t = " + number(time);
  switch (status) {
    case Status::kFinished:
      return "finished" + at;
    case Status::kNotLive:
      return "guard " + std::to_string(guard) + " is not live" + at + ": ∇h·f = " + number(value) +
             " is not above c = " + number(c);
    case Status::kNotFinite:
      return "f or h is not finite" + at;
    case Status::kStepTooSmall:
      return "the tolerances need steps below the resolution of time" + at;
    case Status::kEventLimit:
      return "max_events spent" + at + ": perhaps infinitely many events in finite time";
    case Status::kStepLimit:
      return "max_steps spent" + at;
  }
  return "unknown";
}

void validate(const Options& o, int guards) {
  require(guards > 0, "h must have at least one value");
  require(std::isfinite(o.t_start) && std::isfinite(o.t_end), "t_start and t_end must be finite");
  require(o.t_end >= o.t_start, "t_end = " + number(o.t_end) + " is before t_start = " +
                                    number(o.t_start) + ": give a later end");
  require(o.exact || (o.eps > 0 && std::isfinite(o.eps)),
          "eps must be positive, not " + number(o.eps));
  require(o.eps_each.size() == 0 || o.eps_each.size() == guards,
          "eps_each must have one entry per guard, " + std::to_string(guards) + ", not " +
              std::to_string(o.eps_each.size()));
  for (const double eps : o.eps_each)
    require(eps > 0 && std::isfinite(eps), "eps_each must be positive, not " + number(eps));
  require(o.c >= 0 && std::isfinite(o.c), "c must not be negative");
  require(o.simultaneous >= 0 && std::isfinite(o.simultaneous),
          "simultaneous must not be negative");
  require(o.step.rtol >= 0 && o.step.atol >= 0 && o.step.rtol + o.step.atol > 0,
          "step.rtol and step.atol must not be negative, and one must be positive");
  require(o.step.max_step > 0, "step.max_step must be positive");
  require(o.step.first_step >= 0, "step.first_step must not be negative");
  require(o.sample_every >= 0 && std::isfinite(o.sample_every),
          "sample_every must not be negative");
  require(o.max_events > 0 && o.max_steps > 0, "max_events and max_steps must be positive");
  require(o.reset.empty() || static_cast<int>(o.reset.size()) == guards,
          "reset must have one list per guard, " + std::to_string(guards) + ", not " +
              std::to_string(o.reset.size()));
  require(o.crossed.size() == 0 || o.crossed.size() == guards,
          "crossed must have one entry per guard, " + std::to_string(guards) + ", not " +
              std::to_string(o.crossed.size()));
  for (const std::vector<int>& list : o.reset)
    for (const int k : list)
      require(k >= 0 && k < guards,
              "reset names guard " + std::to_string(k) + " of " + std::to_string(guards));
}

}  // namespace routh::event_selected
