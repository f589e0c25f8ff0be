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
  }
  return "";
}

}  // namespace routh
