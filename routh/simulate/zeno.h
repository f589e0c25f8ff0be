#pragma once

#include <optional>
#include <vector>

#include "routh/simulate/trajectory.h"

namespace routh {

/// Watches the impacts of an execution for a geometric tail. When the modes repeat with a period p
/// and the times D between an impact and the p-th before it shrink by a steady ratio R < 1, the
/// impacts accumulate at
///
///   t∞ = t + D R / (1 - R),
///
/// and so do q and v. Predictions from successive impacts converge geometrically too; Aitken's
/// extrapolation of three of them gives the answer, and their spread the error.
class ZenoWatch {
 public:
  struct Prediction {
    State state;
    double ratio = 0, error = 0;
    int period = 1;
    std::vector<Mode> modes;  ///< visited in the last period
  };

  void clear() { impacts_.clear(); }
  /// Tells of an impact; answers when a tail is recognised.
  std::optional<Prediction> impact(double time, const Eigen::VectorXd& q, const Eigen::VectorXd& v,
                                   const Mode& mode);

 private:
  struct Impact {
    double time;
    Eigen::VectorXd q, v;
    Mode mode;
  };
  double limit(std::size_t last, std::size_t period, double& ratio) const;
  std::vector<Impact> impacts_;
};

}  // namespace routh
