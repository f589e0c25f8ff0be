#pragma once

#include <Eigen/Core>
#include <memory>
#include <string>
#include <vector>

#include "routh/mujoco/contacts.h"
#include "routh/mujoco/model.h"
#include "routh/mujoco/system.h"

/// What stands behind a System; inside this folder alone.
namespace routh::mujoco {

/// A model as it was read, and what we make of it.
struct Loaded {
  ModelPtr original;
  ModelPtr wide;        ///< margins widened to the reach, dense rows
  mjModel smooth;       ///< the same memory without contacts
  double reach = 0;     ///< [m]
  std::string warning;  ///< of MuJoCo when it read the model
  std::vector<std::string> notes, joints, geoms;
};

std::shared_ptr<const Loaded> prepare(const mjModel& original, double reach, std::string warning);

struct System::Impl {
  std::shared_ptr<const Loaded> loaded;
  DataPtr data;
  Eigen::VectorXd control;
  std::vector<Touch> touches;

  explicit Impl(std::shared_ptr<const Loaded> prepared);
  Impl(const Impl& other);

  const mjModel& wide() const { return *loaded->wide; }
  const mjModel& smooth() const { return loaded->smooth; }

  /// Throws std::invalid_argument when q has the wrong size or is not finite.
  void place(const Eigen::VectorXd& q);
  /// M and all forces but those of constraints; leaves the rows of joints in MuJoCo's data.
  void fill_forces(double t, const Eigen::VectorXd& v, Terms& terms);
  void fill_stiffness(Terms& terms);
  void fill_joints(const Eigen::VectorXd& q, const Eigen::VectorXd& v, Terms& terms);
  void fill_contacts(Terms& terms);

  int joint_rows() const;
  /// Limits of hinges and slides, and those of ball joints and tendons that are near.
  std::vector<Contact> limits() const;

  /// Throws std::invalid_argument naming bodies without mass.
  void check_inertia();
  /// Of a keyframe; throws std::invalid_argument naming the known ones.
  int key(const std::string& name) const;
};

inline Eigen::VectorXd vector(const mjtNum* values, int size) {
  return Eigen::Map<const Eigen::VectorXd>(values, size);
}

}  // namespace routh::mujoco
