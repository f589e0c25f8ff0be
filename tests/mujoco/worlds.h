#pragma once

#include <functional>
#include <map>
#include <random>
#include <string>

#include "routh/mujoco/system.h"

/// Small worlds for tests of MuJoCo models.
namespace routh::mujoco {

using Eigen::VectorXd;

inline System world(const std::string& bodies, const std::string& others = "") {
  return System::from_text("<mujoco><compiler angle='radian'/><worldbody>" + bodies +
                           "</worldbody>" + others + "</mujoco>");
}

inline VectorXd random_vector(std::mt19937& random, int size, double scale = 1) {
  std::uniform_real_distribution<double> uniform(-scale, scale);
  return VectorXd::NullaryExpr(size, [&] { return uniform(random); });
}

inline std::string message(const std::function<void()>& action) {
  try {
    action();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "no error";
}

inline std::map<std::string, double> gaps_by_name(const System& system, const VectorXd& q) {
  std::map<std::string, double> gaps;
  for (const Contact& contact : system.terms(q, VectorXd::Zero(system.nv())).contacts)
    gaps[contact.name] = contact.phi;
  return gaps;
}

}  // namespace routh::mujoco
