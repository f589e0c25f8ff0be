#pragma once

#include <Eigen/Core>
#include <cmath>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "routh/mujoco/contacts.h"
#include "routh/mujoco/model.h"
#include "routh/mujoco/system.h"

/// What stands behind a System; inside this folder alone.
namespace routh::mujoco {

/// A model as it was read, and what we make of it. Meshes can take 100 MB: all versions share the
/// memory of the first but for what is their own.
struct Loaded {
  std::shared_ptr<const mjModel> original;
  mjModel wide;    ///< margins widened to the reach, dense rows
  mjModel smooth;  ///< without contacts and energy
  std::vector<mjtNum> geom_margin, pair_margin, tendon_margin, joint_margin,
      body_margin;      ///< of both
  double reach = 0;     ///< [m]
  std::string warning;  ///< of MuJoCo when it read the model
  std::vector<std::string> notes, joints, geoms;
  std::uint64_t number = 0;                ///< of this model, among all
  std::vector<int> groups;                 ///< first velocity of each, then nv
  std::vector<std::pair<int, int>> trees;  ///< velocities of the tree of each body
  mutable std::once_flag drawn;            ///< of shapes(): meshes as they are drawn
  mutable std::vector<Surface> meshes;
};

std::shared_ptr<const Loaded> prepare(std::shared_ptr<const mjModel> original, double reach,
                                      std::string warning);

/// What a System is told besides its model.
struct Inputs {
  Eigen::VectorXd control, activation;      ///< of the actuators
  Eigen::VectorXd mocap_pos, mocap_quat;    ///< places of mocap bodies
  std::vector<std::int64_t> left_out = {};  ///< sorted: pairs of geometries that do not collide
};

/// Nothing here changes while a System is only read, except which workspaces lie idle: that is what
/// lets many threads share one.
struct System::Impl {
  std::shared_ptr<const Loaded> loaded;
  Inputs inputs;

  explicit Impl(std::shared_ptr<const Loaded> prepared);
  Impl(const Impl& other) : loaded(other.loaded), inputs(other.inputs) {}

  const mjModel& wide() const { return loaded->wide; }
  const mjModel& smooth() const { return loaded->smooth; }

  /// Memory of one evaluation. It remembers nothing that a later one could see: place() and
  /// fill_forces() write all that MuJoCo reads, and what is done for a place is that of any other
  /// workspace.
  struct Workspace;
  struct GiveBack {
    const Impl* to;
    void operator()(Workspace* workspace) const;
  };
  using Borrowed = std::unique_ptr<Workspace, GiveBack>;
  /// An idle workspace, or a new one; idle again when the caller is done.
  Borrowed borrow() const;
  /// What idle workspaces know of a place is no longer so: the model has changed.
  void forget() const;

  std::vector<int> groups() const;
  /// Within what gap limits of hinges and slides matter for so long a time [s].
  static double limit_reach(const Eigen::VectorXd& v, double horizon);
  /// Throws std::invalid_argument naming bodies without mass.
  void check_inertia() const;
  /// Of a keyframe; throws std::invalid_argument naming the known ones.
  int key(const std::string& name) const;

 private:
  mutable std::mutex guard_;
  mutable std::vector<std::unique_ptr<Workspace>> idle_;
};

/// An end of a joint or tendon. Contacts are numbered by what they are contacts of.
struct Limit {
  enum Kind : std::int64_t { kTouch, kLowerEnd, kUpperEnd, kBallEnd, kTendonLower, kTendonUpper };
  Kind kind;
  int object;   ///< the joint or tendon
  double phi;   ///< in its unit
  int efc = 0;  ///< of ball joints and tendons: MuJoCo's row

  std::int64_t id() const;
};

struct System::Impl::Workspace {
  const Impl& system;
  DataPtr data;
  std::vector<Touch> touches = {};
  std::vector<Limit> limits = {};
  std::vector<Contact> spare = {};  // memory of contacts that are gone
  /// Where the last call placed it, and whether all has been moved there and collided: the same
  /// place once more costs nothing.
  Eigen::VectorXd placed = {};
  bool moved = false, collided = false;

  const mjModel& wide() const { return system.wide(); }
  const mjModel& smooth() const { return system.smooth(); }

  void forget() { moved = collided = false, placed.resize(0); }
  /// Throws std::invalid_argument when q has the wrong size or is not finite.
  void place(const Eigen::VectorXd& q);
  /// Where everything is: contacts, limits (of hinges and slides those within a reach, of ball
  /// joints and tendons those that are near), and the rows of joints in MuJoCo's data.
  void find_constraints(double reach_of_limits = HUGE_VAL);
  /// The rows of joints alone.
  void find_joints();
  /// M and all forces but those of constraints.
  void fill_forces(double t, const Eigen::VectorXd& v, Terms& terms);
  void fill_stiffness(Terms& terms);
  /// Kv of the gyroscopic torque of free bodies alone: an explicit one gains energy in every step.
  void add_spin_terms(const Eigen::VectorXd& v, Terms& terms);
  /// Kv of all centrifugal, Coriolis and gyroscopic forces.
  void add_inertial_terms(const Eigen::VectorXd& v, Terms& terms);
  void fill_contacts(Terms& terms);
  void add_rows(int body, const Touch& touch, double sign, Contact& contact) const;
  void fill_limit(const Limit& limit, Contact& contact) const;
  void fill_joints(Terms& terms);
  /// Moves the model: comes last.
  void fill_joint_bias(const Eigen::VectorXd& q, const Eigen::VectorXd& v, Terms& terms);

  /// Equality constraints among MuJoCo's rows, and each with its number.
  int joint_rows() const;
  template <class Visit>
  void joint_rows(const Visit& visit) const {
    for (int i = 0, row = 0; i < data->nefc; ++i) {
      if (data->efc_type[i] == mjCNSTR_EQUALITY) visit(row++, i);
    }
  }
  /// Everything is where q says.
  void move();

 private:
  void find_limits(double reach);
};

/// Of a contact between geometries, as Contact::id.
std::int64_t id_of(const mjModel& m, const Touch& touch);

inline Eigen::VectorXd vector(const mjtNum* values, int size) {
  return Eigen::Map<const Eigen::VectorXd>(values, size);
}

}  // namespace routh::mujoco
