#include "routh/model/planar.h"

#include <cmath>
#include <stdexcept>

namespace routh {
namespace {

using Eigen::Matrix2d;
using Eigen::MatrixXd;
using Eigen::RowVectorXd;
using Eigen::Vector2d;
using Eigen::Vector3d;
using Eigen::VectorXd;

/// Turned counter-clockwise by a right angle: the velocity of r when turning at 1 rad/s.
Vector2d turned(const Vector2d& r) { return {-r.y(), r.x()}; }
/// The tangent of a contact: the normal turned clockwise, so that a floor's tangent points along
/// +x.
Vector2d tangent_of(const Vector2d& normal) { return {normal.y(), -normal.x()}; }
Matrix2d rotation(double angle) {
  Matrix2d R;
  R << std::cos(angle), -std::sin(angle), std::sin(angle), std::cos(angle);
  return R;
}

void fail(const std::string& name, const std::string& what) {
  throw std::invalid_argument("body '" + name + "': " + what);
}

/// A world point fixed to a body.
Vector2d place(const Frame& frame, const Vector2d& local) {
  return frame.position + rotation(frame.angle) * local;
}
MatrixXd velocity_rows(const Frame& frame, const Vector2d& world_point) {
  return frame.J.topRows<2>() + turned(world_point - frame.position) * frame.J.row(2);
}

}  // namespace

int PlanarMechanism::add(Body body) {
  if (body.name.empty()) throw std::invalid_argument("a body needs a name");
  for (const Body& other : bodies_) {
    if (other.name == body.name) fail(body.name, "the name is taken");
  }
  if (body.parent < kWorld || body.parent >= static_cast<int>(bodies_.size()))
    fail(body.name, "its parent must be added before it");
  if (body.joint == Joint::kFloating && body.parent != kWorld)
    fail(body.name, "a floating body has no parent");
  if (!(body.mass >= 0) || !std::isfinite(body.mass)) fail(body.name, "mass must not be negative");
  if (!(body.inertia >= 0) || !std::isfinite(body.inertia))
    fail(body.name, "inertia must not be negative");
  if (body.joint == Joint::kPrismatic && !(body.axis.norm() > 0))
    fail(body.name, "axis must not be zero");
  body.axis.normalize();

  first_coordinate_.push_back(nv());
  switch (body.joint) {
    case Joint::kFloating:
      for (const char* c : {".x", ".y", ".angle"}) coordinates_.push_back(body.name + c);
      break;
    case Joint::kRevolute:
      coordinates_.push_back(body.name + ".angle");
      break;
    case Joint::kPrismatic:
      coordinates_.push_back(body.name + ".slide");
      break;
    case Joint::kFixed:
      break;
  }
  bodies_.push_back(std::move(body));
  return static_cast<int>(bodies_.size()) - 1;
}

int PlanarMechanism::add(Pin pin) {
  const int count = static_cast<int>(bodies_.size());
  if (pin.body >= count || pin.other >= count)
    throw std::invalid_argument("pin '" + pin.name + "': its bodies must be added before it");
  pins_.push_back(std::move(pin));
  return static_cast<int>(pins_.size()) - 1;
}

int PlanarMechanism::add(ContactPair contact) {
  if (!(contact.mu >= 0) || !std::isfinite(contact.mu)) {
    throw std::invalid_argument("contact '" + contact.name +
                                "': friction must be a number that is not negative");
  }
  contacts_.push_back(std::move(contact));
  return static_cast<int>(contacts_.size()) - 1;
}

std::vector<Frame> PlanarMechanism::frames(const VectorXd& q, const VectorXd& v) const {
  const Frame world{Vector2d::Zero(), 0, MatrixXd::Zero(3, nv()), Vector3d::Zero()};
  std::vector<Frame> frames;
  frames.reserve(bodies_.size());
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    const Body& body = bodies_[i];
    const int k = first_coordinate_[i];
    if (body.joint == Joint::kFloating) {
      Frame f = world;
      f.position = q.segment<2>(k);
      f.angle = q[k + 2];
      f.J.middleCols<3>(k).setIdentity();
      frames.push_back(std::move(f));
      continue;
    }

    // where the joint is, carried along by the parent
    const Frame& parent = body.parent == kWorld ? world : frames[body.parent];
    const double omega = parent.J.row(2).dot(v);
    Frame f;
    f.angle = parent.angle + body.angle;
    const Vector2d axis = rotation(f.angle) * body.axis;
    f.position = place(parent, body.at);
    if (body.joint == Joint::kPrismatic) f.position += q[k] * axis;
    const Vector2d r = f.position - parent.position;
    f.J = parent.J;
    f.J.topRows<2>() = velocity_rows(parent, f.position);
    f.bias = parent.bias;
    f.bias.head<2>() += parent.bias[2] * turned(r) - omega * omega * r;

    // what the joint adds
    if (body.joint == Joint::kRevolute) {
      f.angle += q[k];
      f.J(2, k) += 1;
    } else if (body.joint == Joint::kPrismatic) {
      f.J.block<2, 1>(0, k) += axis;
      f.bias.head<2>() += 2 * omega * v[k] * turned(axis);
    }
    frames.push_back(std::move(f));
  }
  return frames;
}

Terms PlanarMechanism::terms(const VectorXd& q, const VectorXd& v) const {
  if (q.size() != nq() || v.size() != nv()) {
    throw std::invalid_argument("q and v must have " + std::to_string(nv()) + " entries, not " +
                                std::to_string(q.size()) + " and " + std::to_string(v.size()));
  }
  const std::vector<Frame> at = frames(q, v);
  const Frame world{Vector2d::Zero(), 0, MatrixXd::Zero(3, nv()), Vector3d::Zero()};
  const auto frame_of = [&](int body) -> const Frame& { return body == kWorld ? world : at[body]; };

  // inertia, gravity and velocity-dependent forces
  Terms terms;
  terms.M = MatrixXd::Zero(nv(), nv());
  terms.forces = VectorXd::Zero(nv());
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    const Body& body = bodies_[i];
    const Frame& f = at[i];
    const Vector2d r = rotation(f.angle) * body.centre;
    const MatrixXd Jc = velocity_rows(f, f.position + r);
    const double omega = f.J.row(2).dot(v);
    const Vector2d bias = f.bias.head<2>() + f.bias[2] * turned(r) - omega * omega * r;
    terms.M += body.mass * Jc.transpose() * Jc + body.inertia * f.J.row(2).transpose() * f.J.row(2);
    terms.forces += body.mass * Jc.transpose() * (gravity - bias) -
                    body.inertia * f.bias[2] * f.J.row(2).transpose();
  }

  // pins
  terms.A = MatrixXd::Zero(2 * pins_.size(), nv());
  terms.joint_gap = VectorXd::Zero(2 * pins_.size());
  for (std::size_t i = 0; i < pins_.size(); ++i) {
    const Frame &a = frame_of(pins_[i].body), &b = frame_of(pins_[i].other);
    const Vector2d pa = place(a, pins_[i].at), pb = place(b, pins_[i].at_other);
    terms.A.middleRows<2>(2 * i) = velocity_rows(a, pa) - velocity_rows(b, pb);
    terms.joint_gap.segment<2>(2 * i) = pa - pb;
  }

  // contacts: gap, normal, and the two material points that meet
  for (const ContactPair& pair : contacts_) {
    const Frame& a = frame_of(pair.first.body);
    const Vector2d centre = place(a, pair.first.at);
    const Frame* b = nullptr;
    Vector2d normal, on_b;
    double phi = 0;
    const auto from_point = [&](const Vector2d& point, double radius) {
      const double distance = (centre - point).norm();
      normal = distance > 0 ? Vector2d((centre - point) / distance) : Vector2d::UnitY();
      phi = distance - pair.first.radius - radius;
      on_b = point + radius * normal;
    };
    if (const Round* round = std::get_if<Round>(&pair.second)) {
      b = &frame_of(round->body);
      from_point(place(*b, round->at), round->radius);
    } else {
      const Edge& edge = std::get<Edge>(pair.second);
      b = &frame_of(edge.body);
      normal = (rotation(b->angle) * edge.normal).normalized();
      const Vector2d start = place(*b, edge.at);
      const double along = turned(normal).dot(centre - start);
      const double distance = normal.dot(centre - start);
      phi = distance - pair.first.radius;
      on_b = centre - distance * normal;
      // beyond the ends of an edge its corners are nearest
      if (edge.length > 0 && along < 0) from_point(start, 0);
      if (edge.length > 0 && along > edge.length)
        from_point(start + edge.length * turned(normal), 0);
    }
    const Vector2d on_a = centre - pair.first.radius * normal;
    const MatrixXd relative = velocity_rows(a, on_a) - velocity_rows(*b, on_b);
    terms.contacts.push_back({.name = pair.name,
                              .phi = phi,
                              .Jn = normal.transpose() * relative,
                              .Jt = tangent_of(normal).transpose() * relative,
                              .mu = pair.mu,
                              .point = on_a,
                              .normal = normal});
  }
  return terms;
}

double box_inertia(double mass, double width, double height) {
  return mass * (width * width + height * height) / 12;
}
double disc_inertia(double mass, double radius) { return mass * radius * radius / 2; }
double rod_inertia(double mass, double length) { return mass * length * length / 12; }

}  // namespace routh
