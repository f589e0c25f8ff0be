#include "routh/simulate/trajectory.h"

namespace routh {

std::string_view to_string(EventKind kind) {
  switch (kind) {
    case EventKind::kImpact:
      return "impact";
    case EventKind::kTouch:
      return "touch";
    case EventKind::kLiftOff:
      return "lift-off";
    case EventKind::kSlip:
      return "slip";
    case EventKind::kStick:
      return "stick";
    case EventKind::kCrossing:
      return "crossing";
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
  }
  return "";
}

}  // namespace routh
