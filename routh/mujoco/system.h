#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "routh/model/surface.h"
#include "routh/model/system.h"
#include "routh/simulate/trajectory.h"

struct mjModel_;

namespace routh {
struct Masses;
}

/// Models in MuJoCo's MJCF or in URDF as mechanisms. MuJoCo reads the file, computes inertia and
/// forces, and detects collisions; its soft constraints become rigid ones:
///
///   contacts               Coulomb friction with the tangential coefficient; condim 1: none
///   limits of joints       frictionless contacts whose gap is in the joint's unit
///   equality constraints   bilateral rows A v = 0
///
/// q and v are MuJoCo's qpos and qvel: free and ball joints have quaternions in q, and the angular
/// velocity in v is in the body's frame.
namespace routh::mujoco {

/// What a model gets besides what is in its file.
struct Additions {
  bool floating = false;  ///< a free joint under the root; keyframes keep what they say
  bool floor = false;     ///< a plane at height zero

  bool any() const { return floating || floor; }
};

class System final : public routh::System {
 public:
  /// Reads a file. Meshes of URDF are found beside it and through package:// in folders around it
  /// and in ROS_PACKAGE_PATH. Throws std::invalid_argument with MuJoCo's message when it cannot.
  explicit System(const std::string& path, const Additions& additions = {});
  /// From text in memory; `name` stands for the file in messages. Files that it includes are looked
  /// for in the current folder.
  static System from_text(std::string_view text, const std::string& name = "model.xml",
                          const Additions& additions = {});

  /// Copies share the model. Any number of threads may read one System: each call works in memory
  /// that it has to itself, and the answer does not depend on which. A set_ function needs the
  /// System to itself.
  System(const System& other);
  System(System&&) noexcept;
  System& operator=(System other) noexcept;
  ~System() override;

  int nq() const override;
  int nv() const override;
  /// Contact::bias_n and bias_t stay zero; Kq and Kv hold springs, damping and servo gains and the
  /// spin of free bodies, Kv where it is wanted whole all terms of inertia. Also throws when q or v
  /// is not finite.
  void evaluate(double t, const Eigen::VectorXd& q, const Eigen::VectorXd& v, Terms& terms,
                const Wanted& wanted = {}) const override;
  /// Without contacts and stiffness, which cost most: M, forces and joints.
  void evaluate_flight(const Eigen::VectorXd& q, const Eigen::VectorXd& v, Terms& terms) const;
  void gaps(const Eigen::VectorXd& q, Eigen::VectorXd& contact, Eigen::VectorXd& joint,
            std::vector<std::int64_t>* id = nullptr) const override;
  double potential_energy(const Eigen::VectorXd& q) const override;
  /// Bodies that no chain of joints connects.
  std::vector<int> groups() const override;
  void integrate(Eigen::VectorXd& q, const Eigen::VectorXd& v, double dt) const override;
  bool contacts_vary() const override { return true; }
  /// "knee" of hinges and slides, "torso.x" .. "torso.qz" of free joints.
  std::vector<std::string> coordinate_names() const override;
  /// "knee", "torso.vx" .. "torso.wz".
  std::vector<std::string> velocity_names() const override;

  /// The model's name attribute, a title for people.
  std::string title() const;
  /// What is taken differently from MuJoCo, one sentence each.
  const std::vector<std::string>& notes() const;

  std::vector<std::string> keyframes() const;
  /// Throws std::invalid_argument naming the known ones.
  State keyframe(const std::string& name) const;
  /// The reference configuration of the model, at rest.
  State home() const;

  /// Is a body on a free joint, and is there something static to fall on?
  bool has_free_joint() const;
  bool has_ground() const;

  /// Geometries nearer than this are listed as contacts [m].
  double reach() const;
  void set_reach(double reach);

  /// Coefficient of restitution of all contacts between geometries, between 0 and 1. From the file
  /// it is the custom numeric "restitution", else zero.
  double restitution() const { return restitution_; }
  void set_restitution(double e);
  bool bounces() const override { return restitution_ > 0; }

  /// Sets the sliding friction of all contacts between geometries, but for those without any
  /// (condim 1); in model() too.
  void set_friction(double mu);

  /// Takes the contacts between the shapes of a contact of terms() out of the model, for good.
  void leave_out(const Contact& contact);

  /// Smallest gap between the static world and the bodies on a free joint, `joint` of MuJoCo [m];
  /// infinite beyond the reach.
  double clearance(const Eigen::VectorXd& q, int joint) const;

  /// The visible geometries at q as polygons, for drawings; round ones have `segments` faces
  /// around. As in MuJoCo's viewer those of groups above 2 are left out, but of bodies that would
  /// then show nothing. Meshes are no finer than a picture's pixels.
  std::vector<Surface> shapes(const Eigen::VectorXd& q, int segments = 20) const;

  /// How the faster of two geometries moves against the other at a contact of terms(q, v), in world
  /// coordinates [m/s]; zero at limits. For drawings.
  Eigen::Vector3d relative_velocity(const Contact& contact, const Eigen::VectorXd& q,
                                    const Eigen::VectorXd& v) const;

  /// Inputs of the actuators, zero at first; their inner states do not change.
  int nu() const;
  std::vector<std::string> actuator_names() const;
  const Eigen::VectorXd& control() const;
  void set_control(const Eigen::VectorXd& control);
  /// Inputs and inner states of the actuators and places of mocap bodies as in a keyframe.
  void set_control(const std::string& keyframe);

  const Eigen::VectorXd& activation() const;          ///< inner states of the actuators
  const Eigen::VectorXd& mocap_positions() const;     ///< of mocap bodies, x y z each [m]
  const Eigen::VectorXd& mocap_orientations() const;  ///< quaternions w x y z

  /// The model as it was read, for MuJoCo's own functions.
  const mjModel_* model() const;

 private:
  friend Masses masses(const System& system);  // masses.h
  struct Impl;
  explicit System(std::unique_ptr<Impl> impl);
  void read_restitution();
  static std::unique_ptr<Impl> checked(std::shared_ptr<const mjModel_> model,
                                       const std::string& name, std::string warning);
  std::unique_ptr<Impl> impl_;
  double restitution_ = 0;
};

}  // namespace routh::mujoco
