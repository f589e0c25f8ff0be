#pragma once

#include <Eigen/Core>
#include <string>
#include <variant>
#include <vector>

#include "routh/model/system.h"

/// Mechanisms in the plane: a tree of bodies on joints, pins that close loops, and contacts between
/// features of the bodies. Angles are counter-clockwise [rad]; a body's frame sits at its joint.
namespace routh {

inline constexpr int kWorld = -1;  ///< stands for a body that does not move

enum class Joint {
  kFloating,   ///< x, y, angle in the world
  kRevolute,   ///< turns about `at`: angle
  kPrismatic,  ///< slides along `axis`: slide
  kFixed,      ///< part of its parent
};

/// Something to draw and to name contact features by, in the body's frame.
struct Shape {
  std::string name;
  std::vector<Eigen::Vector2d> vertices =
      {};             ///< convex polygon, counter-clockwise; one: a point; two: a line
  double radius = 0;  ///< of a disc around the only vertex
};

struct Body {
  std::string name;
  int parent = kWorld;
  Joint joint = Joint::kFloating;
  Eigen::Vector2d at = Eigen::Vector2d::Zero();      ///< joint in the parent's frame [m]
  double angle = 0;                                  ///< of the joint's frame in the parent's [rad]
  Eigen::Vector2d axis = Eigen::Vector2d::UnitX();   ///< direction of a prismatic joint
  double mass = 0;                                   ///< [kg], may be zero
  double inertia = 0;                                ///< about the centre of mass [kg m²]
  Eigen::Vector2d centre = Eigen::Vector2d::Zero();  ///< centre of mass in the body's frame [m]
  std::vector<Shape> shapes = {};
};

/// Two points that stay together: two bilateral rows.
struct Pin {
  std::string name;
  int body = kWorld, other = kWorld;
  Eigen::Vector2d at = Eigen::Vector2d::Zero(), at_other = Eigen::Vector2d::Zero();
};

/// A point or disc of a body.
struct Round {
  int body = kWorld;
  Eigen::Vector2d at = Eigen::Vector2d::Zero();
  double radius = 0;  ///< 0: a point
};
/// The material behind a line: a half-plane, or an edge of a convex shape when it has ends.
struct Edge {
  int body = kWorld;
  Eigen::Vector2d at = Eigen::Vector2d::Zero();  ///< a point of the line, the first end of an edge
  Eigen::Vector2d normal = Eigen::Vector2d::UnitY();  ///< outwards
  double length = 0;  ///< 0: a half-plane; else the edge runs from `at`, length along
                      ///< `normal` turned counter-clockwise
};

struct ContactPair {
  std::string name;
  Round first;
  std::variant<Edge, Round> second;
  double mu = 0;
};

/// Pose of a body and how it moves with v.
struct Frame {
  Eigen::Vector2d position;
  double angle = 0;
  Eigen::MatrixXd J;     ///< 3 x nv: velocity of the origin (x, y) and angular velocity
  Eigen::Vector3d bias;  ///< accelerations at v̇ = 0
};

class PlanarMechanism : public System {
 public:
  /// Each returns the index of what was added; throws std::invalid_argument naming the field.
  int add(Body body);
  int add(Pin pin);
  int add(ContactPair contact);

  Eigen::Vector2d gravity{0, -9.81};

  int nq() const override { return nv(); }
  int nv() const override { return static_cast<int>(coordinates_.size()); }
  Terms terms(const Eigen::VectorXd& q, const Eigen::VectorXd& v) const override;

  std::vector<Frame> frames(const Eigen::VectorXd& q, const Eigen::VectorXd& v) const;
  const std::vector<Body>& bodies() const { return bodies_; }
  const std::vector<ContactPair>& contacts() const { return contacts_; }
  const std::vector<Pin>& pins() const { return pins_; }
  /// Names such as "block.x", "thigh.angle", "cart.slide", in the order of q and v.
  const std::vector<std::string>& coordinates() const { return coordinates_; }

 private:
  std::vector<Body> bodies_;
  std::vector<int> first_coordinate_;
  std::vector<Pin> pins_;
  std::vector<ContactPair> contacts_;
  std::vector<std::string> coordinates_;
};

/// Uniform density, about the centroid: ready to assign to Body::inertia.
double box_inertia(double mass, double width, double height);
double disc_inertia(double mass, double radius);
double rod_inertia(double mass, double length);

}  // namespace routh
