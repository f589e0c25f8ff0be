#include "routh/simulate/trajectory.h"

namespace routh {

std::string_view to_string(EventKind kind) {
  switch (kind) {
    case EventKind::kImpact:
      return "impact";
    case EventKind::kLiftOff:
      return "lift-off";
    case EventKind::kSlip:
      return "slip";
    case EventKind::kStick:
      return "stick";
    case EventKind::kCrossing:
      return "crossing";
    case EventKind::kTouchdown:
      return "touchdown";
    case EventKind::kZeno:
      return "zeno";
    case EventKind::kStorm:
      return "storm";
    case EventKind::kAmbiguity:
      return "ambiguity";
  }
  return "";
}

std::string_view to_string(SimulationStatus status) {
  switch (status) {
    case SimulationStatus::kDone:
      return "done";
    case SimulationStatus::kInterrupted:
      return "interrupted";
    case SimulationStatus::kInaccurate:
      return "inaccurate";
    case SimulationStatus::kStopped:
      return "stopped";
    case SimulationStatus::kInvalid:
      return "invalid state";
    case SimulationStatus::kAmbiguous:
      return "ambiguous";
    case SimulationStatus::kJammed:
      return "jammed";
    case SimulationStatus::kTooStiff:
      return "too stiff";
    case SimulationStatus::kEventStorm:
      return "event storm";
  }
  return "";
}

}  // namespace routh
