#pragma once

#include <Eigen/Core>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "routh/model/system.h"

/// Mechanisms in the plane: a tree of bodies on joints, pins that close loops, springs, forces, and
/// contacts between features of the bodies. Angles are counter-clockwise [rad]; a body's frame sits
/// at its joint.
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

/// A coordinate that keeps its value: one bilateral row.
struct Lock {
  std::string name;
  int coordinate = 0;
  double value = 0;  ///< [m] or [rad]
};

/// A spring and damper between two points, force k (l - length) + d l̇ along their line. With
/// length 0 it is a linear spring in both directions.
struct Spring {
  std::string name;
  int body = kWorld, other = kWorld;
  Eigen::Vector2d at = Eigen::Vector2d::Zero(), at_other = Eigen::Vector2d::Zero();
  double stiffness = 0;  ///< k [N/m]
  double damping = 0;    ///< d [N s/m]
  double length = 0;     ///< without force [m]
};

/// A spring and damper on one coordinate, force -k (q - rest) - d v.
struct CoordinateSpring {
  std::string name;
  int coordinate = 0;
  double stiffness = 0;  ///< [N/m] or [N m/rad]
  double damping = 0;    ///< [N s/m] or [N m s/rad]
  double rest = 0;       ///< [m] or [rad]
};

/// What a controller knows.
struct Sensed {
  double t;  ///< [s]
  const Eigen::VectorXd &q, &v;
  const std::vector<char>& closed;    ///< contacts: an entry each
  const std::vector<double>& inputs;  ///< of each: where in its set of values it is, 0 to 1
};

/// A number that forces may read and that only has bounds, P1's U(x̄): a motion keeps one value.
struct Input {
  std::string name;
};

/// A force on a point of a body, in world directions [N].
struct PointForce {
  std::string name;
  int body = kWorld;
  Eigen::Vector2d at = Eigen::Vector2d::Zero();
  std::function<Eigen::Vector2d(double t)> force;
  std::function<Eigen::Vector2d(const Sensed&)> feedback = {};  ///< instead of `force`
};

/// Any other force: adds to `forces`. With `jacobians` it also adds to ∂forces/∂q and ∂forces/∂v.
struct Force {
  using Apply = std::function<void(double t, const Eigen::VectorXd& q, const Eigen::VectorXd& v,
                                   Eigen::VectorXd& forces)>;
  using Jacobians = std::function<void(double t, const Eigen::VectorXd& q, const Eigen::VectorXd& v,
                                       Eigen::MatrixXd& Kq, Eigen::MatrixXd& Kv)>;
  std::string name;
  Apply apply;
  Jacobians jacobians = {};
  /// Instead of `apply`: may depend on which contacts are closed, P4 4.6.
  std::function<void(const Sensed&, Eigen::VectorXd& forces)> feedback = {};
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
/// A convex polygon of a body: the gap is the signed distance to it.
struct Polygon {
  int body = kWorld;
  std::vector<Eigen::Vector2d> vertices = {};  ///< counter-clockwise
  /// The polygon in the first body's frame whose corner is in contact, if it is one: the edge that
  /// separates the two polygons best decides for all their corners, also where corners meet.
  std::vector<Eigen::Vector2d> other = {};
};

/// The material below the curve y = c0 + c1 x + c2 x² + .. of the world.
struct Track {
  std::vector<double> coefficients = {};
  int body = kWorld;
};

struct ContactPair {
  std::string name;
  Round first;
  std::variant<Edge, Round, Polygon, Track> second;
  double mu = 0;
  double e = 0;  ///< coefficient of restitution, between 0 and 1
};

/// Where a body is and how it moves.
struct Frame {
  Eigen::Vector2d position = Eigen::Vector2d::Zero();
  double angle = 0;
  Eigen::Vector2d velocity = Eigen::Vector2d::Zero();
  double omega = 0;
  Eigen::Vector2d bias = Eigen::Vector2d::Zero();  ///< acceleration of the origin at v̇ = 0
  double cosine = 1, sine = 0;                     ///< of `angle`

  /// Bodies' points and directions in the world.
  Eigen::Vector2d turn(const Eigen::Vector2d& local) const {
    return {cosine * local.x() - sine * local.y(), sine * local.x() + cosine * local.y()};
  }
  Eigen::Vector2d place(const Eigen::Vector2d& local) const { return position + turn(local); }
};

class PlanarMechanism : public System {
 public:
  /// Each returns the index of what was added; throws std::invalid_argument naming the field.
  int add(Body body);
  int add(Pin pin);
  int add(Lock lock);
  int add(Spring spring);
  int add(CoordinateSpring spring);
  int add(PointForce force);
  int add(Force force);
  int add(Input input);
  int add(ContactPair contact);

  /// Its inertia stays. Throws std::invalid_argument where it is negative.
  void set_mass(int body, double mass);

  Eigen::Vector2d gravity{0, -9.81};

  int nq() const override { return nv(); }
  int nv() const override { return static_cast<int>(coordinates_.size()); }
  void evaluate(double t, const Eigen::VectorXd& q, const Eigen::VectorXd& v, Terms& terms,
                const Wanted& wanted = {}) const override;
  void gaps(const Eigen::VectorXd& q, Eigen::VectorXd& contact, Eigen::VectorXd& joint,
            std::vector<std::int64_t>* id = nullptr) const override;
  void gap_bends(const MotionBounds& bounds, const Eigen::VectorXd& gap,
                 Eigen::VectorXd& bend) const override;
  double potential_energy(const Eigen::VectorXd& q) const override;
  std::vector<int> groups() const override;
  std::vector<std::string> coordinate_names() const override { return coordinates_; }
  bool bounces() const override;
  std::unique_ptr<System> with_inputs(
      const std::function<double(std::size_t i)>& where) const override;

  std::vector<Frame> frames(const Eigen::VectorXd& q, const Eigen::VectorXd& v) const;
  const std::vector<Body>& bodies() const { return bodies_; }
  const std::vector<ContactPair>& contacts() const { return contacts_; }
  const std::vector<Pin>& pins() const { return pins_; }
  const std::vector<Input>& inputs() const { return inputs_; }
  /// Where in its set each is; in the middle unless with_inputs() said otherwise.
  const std::vector<double>& input_values() const { return input_values_; }
  const std::vector<Spring>& springs() const { return springs_; }
  /// Names such as "block.x", "thigh.angle", "cart.slide", in the order of q and v.
  const std::vector<std::string>& coordinates() const { return coordinates_; }

 private:
  struct Scratch;
  static Scratch& scratch();
  void move(const Eigen::VectorXd& q, const Eigen::VectorXd& v, std::vector<Frame>& frames) const;
  void add_inertia(Scratch& s, Terms& terms) const;
  void add_springs(Scratch& s, const Eigen::VectorXd& q, const Eigen::VectorXd& v,
                   Terms& terms) const;
  void add_user_forces(double t, Scratch& s, const Eigen::VectorXd& q, const Eigen::VectorXd& v,
                       const Wanted& wanted, Terms& terms) const;
  void fill_joints(Scratch& s, const Eigen::VectorXd& q, Terms& terms) const;
  void fill_contact(Scratch& s, const ContactPair& pair, Contact& contact) const;
  /// Adds sign · direction · (velocity of the world point x of a body) as a row over v.
  template <typename Row>
  void add_row(const Scratch& s, int body, const Eigen::Vector2d& x,
               const Eigen::Vector2d& direction, double sign, Row&& row) const;
  void check_body(const std::string& what, int body) const;
  void check_coordinate(const std::string& what, int coordinate) const;

  std::vector<Body> bodies_;
  std::vector<int> first_coordinate_;    // of each body
  std::vector<std::vector<int>> moves_;  // of each body: the coordinates it moves with
  std::vector<int> owner_;               // of each coordinate: its body
  std::vector<Pin> pins_;
  std::vector<Lock> locks_;
  std::vector<Spring> springs_;
  std::vector<CoordinateSpring> coordinate_springs_;
  std::vector<PointForce> point_forces_;
  std::vector<Force> forces_;
  std::vector<ContactPair> contacts_;
  std::vector<Input> inputs_;
  std::vector<double> input_values_;
  std::vector<std::string> coordinates_;
  bool coriolis_ = false;  // does M depend on q?
  bool senses_ = false;    // does a force depend on which contacts are closed?
};

/// Uniform density, about the centroid: ready to assign to Body::inertia.
double box_inertia(double mass, double width, double height);
double disc_inertia(double mass, double radius);
double rod_inertia(double mass, double length);

}  // namespace routh
