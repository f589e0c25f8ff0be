#include "routh/model/planar.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "routh/model/planar_kinematics.h"

namespace routh {

using Eigen::MatrixXd;
using Eigen::Vector2d;
using Eigen::VectorXd;
using planar::Point;
using planar::turned;

namespace {

[[noreturn]] void fail(const std::string& name, const std::string& what) {
  throw std::invalid_argument("body '" + name + "': " + what);
}
void check_mass(const std::string& name, double mass) {
  if (!(mass >= 0) || !std::isfinite(mass)) fail(name, "mass must not be negative");
}
void require_not_negative(const std::string& owner, const char* field, double value) {
  if (!(value >= 0) || !std::isfinite(value))
    throw std::invalid_argument(owner + ": " + field + " must be a number that is not negative");
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
  check_mass(body.name, body.mass);
  if (!(body.inertia >= 0) || !std::isfinite(body.inertia))
    fail(body.name, "inertia must not be negative");
  if (body.joint == Joint::kPrismatic && !(body.axis.norm() > 0))
    fail(body.name, "axis must not be zero");
  body.axis.normalize();

  // the coordinates it moves with: those of its parent, then its own
  const int index = static_cast<int>(bodies_.size()), first = nv();
  std::vector<int> moves = body.parent == kWorld ? std::vector<int>{} : moves_[body.parent];
  const auto own = [&](const char* suffix) {
    moves.push_back(nv());
    owner_.push_back(index);
    coordinates_.push_back(body.name + suffix);
  };
  switch (body.joint) {
    case Joint::kFloating:
      own(".x"), own(".y"), own(".angle");
      break;
    case Joint::kRevolute:
      own(".angle");
      break;
    case Joint::kPrismatic:
      own(".slide");
      break;
    case Joint::kFixed:
      break;
  }
  coriolis_ = coriolis_ || (!moves.empty() && (body.parent != kWorld || body.centre.norm() > 0));
  first_coordinate_.push_back(first);
  moves_.push_back(std::move(moves));
  bodies_.push_back(std::move(body));
  return index;
}

void PlanarMechanism::set_mass(int body, double mass) {
  check_mass(bodies_.at(body).name, mass);
  bodies_[body].mass = mass;
}

void PlanarMechanism::check_body(const std::string& what, int body) const {
  if (body < kWorld || body >= static_cast<int>(bodies_.size()))
    throw std::invalid_argument(what + ": its bodies must be added before it");
}
void PlanarMechanism::check_coordinate(const std::string& what, int coordinate) const {
  if (coordinate < 0 || coordinate >= nv())
    throw std::invalid_argument(what + ": coordinate must be between 0 and " +
                                std::to_string(nv() - 1));
}

int PlanarMechanism::add(Pin pin) {
  for (const int body : {pin.body, pin.other}) check_body("pin '" + pin.name + "'", body);
  pins_.push_back(std::move(pin));
  return static_cast<int>(pins_.size()) - 1;
}

int PlanarMechanism::add(Lock lock) {
  check_coordinate("lock '" + lock.name + "'", lock.coordinate);
  locks_.push_back(std::move(lock));
  return static_cast<int>(locks_.size()) - 1;
}

int PlanarMechanism::add(Spring spring) {
  const std::string owner = "spring '" + spring.name + "'";
  for (const int body : {spring.body, spring.other}) check_body(owner, body);
  require_not_negative(owner, "stiffness", spring.stiffness);
  require_not_negative(owner, "damping", spring.damping);
  require_not_negative(owner, "length", spring.length);
  springs_.push_back(std::move(spring));
  return static_cast<int>(springs_.size()) - 1;
}

int PlanarMechanism::add(CoordinateSpring spring) {
  const std::string owner = "spring '" + spring.name + "'";
  check_coordinate(owner, spring.coordinate);
  require_not_negative(owner, "stiffness", spring.stiffness);
  require_not_negative(owner, "damping", spring.damping);
  coordinate_springs_.push_back(std::move(spring));
  return static_cast<int>(coordinate_springs_.size()) - 1;
}

int PlanarMechanism::add(PointForce force) {
  const std::string owner = "force '" + force.name + "'";
  check_body(owner, force.body);
  if (!force.force && !force.feedback) throw std::invalid_argument(owner + ": force is missing");
  senses_ = senses_ || force.feedback;
  point_forces_.push_back(std::move(force));
  return static_cast<int>(point_forces_.size()) - 1;
}

int PlanarMechanism::add(Force force) {
  if (!force.apply && !force.feedback)
    throw std::invalid_argument("force '" + force.name + "': apply is missing");
  senses_ = senses_ || force.feedback;
  forces_.push_back(std::move(force));
  return static_cast<int>(forces_.size()) - 1;
}

int PlanarMechanism::add(ContactPair contact) {
  require_not_negative("contact '" + contact.name + "'", "friction", contact.mu);
  if (!(contact.e >= 0 && contact.e <= 1))
    throw std::invalid_argument("contact '" + contact.name +
                                "': restitution must be between 0 and 1");
  contacts_.push_back(std::move(contact));
  return static_cast<int>(contacts_.size()) - 1;
}

int PlanarMechanism::add(Input input) {
  inputs_.push_back(std::move(input));
  input_values_.push_back(0.5);
  return static_cast<int>(inputs_.size()) - 1;
}

std::unique_ptr<System> PlanarMechanism::with_inputs(
    const std::function<double(std::size_t i)>& where) const {
  if (inputs_.empty()) return {};
  auto copy = std::make_unique<PlanarMechanism>(*this);
  for (std::size_t i = 0; i < inputs_.size(); ++i) copy->input_values_[i] = where(i);
  return copy;
}

bool PlanarMechanism::bounces() const {
  return std::any_of(contacts_.begin(), contacts_.end(),
                     [](const ContactPair& contact) { return contact.e > 0; });
}

std::vector<int> PlanarMechanism::groups() const {
  // what is coupled with what, as intervals of coordinates
  std::vector<std::pair<int, int>> coupled;
  const auto couple = [&](int a, int b) {
    int low = nv(), high = -1;
    for (const int body : {a, b}) {
      if (body == kWorld) continue;
      for (const int k : moves_[body]) low = std::min(low, k), high = std::max(high, k);
    }
    coupled.emplace_back(low, high);
  };
  for (int b = 0; b < static_cast<int>(bodies_.size()); ++b) couple(b, b);
  for (const Spring& s : springs_) couple(s.body, s.other);
  for (const Force& f : forces_) {
    if (f.jacobians) coupled.emplace_back(0, nv() - 1);
  }
  std::vector<int> starts;
  for (int k = 0; k < nv(); ++k) {
    const bool inside = std::any_of(coupled.begin(), coupled.end(),
                                    [&](auto c) { return c.first < k && k <= c.second; });
    if (!inside) starts.push_back(k);
  }
  return starts;
}

void PlanarMechanism::move(const VectorXd& q, const VectorXd& v, std::vector<Frame>& frames) const {
  const Frame world;
  frames.resize(bodies_.size());
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    const Body& body = bodies_[i];
    Frame& f = frames[i];
    const int k = first_coordinate_[i];
    if (body.joint == Joint::kFloating) {
      f.position = q.segment<2>(k), f.angle = q[k + 2];
      f.velocity = v.segment<2>(k), f.omega = v[k + 2];
      f.bias.setZero();
    } else {
      // where the joint is, carried along by the parent
      const Frame& parent = body.parent == kWorld ? world : frames[body.parent];
      Vector2d r = parent.turn(body.at), slide = Vector2d::Zero();
      f.angle = parent.angle + body.angle;
      f.omega = parent.omega;
      f.bias = parent.bias;
      // what the joint adds
      if (body.joint == Joint::kPrismatic) {
        const double c = std::cos(f.angle), s = std::sin(f.angle);
        const Vector2d axis(c * body.axis.x() - s * body.axis.y(),
                            s * body.axis.x() + c * body.axis.y());
        r += q[k] * axis;
        slide = v[k] * axis;
        f.bias += 2 * parent.omega * turned(slide);
      } else if (body.joint == Joint::kRevolute) {
        f.angle += q[k];
        f.omega += v[k];
      }
      f.position = parent.position + r;
      f.velocity = parent.velocity + parent.omega * turned(r) + slide;
      f.bias -= parent.omega * parent.omega * r;
    }
    f.cosine = std::cos(f.angle), f.sine = std::sin(f.angle);
  }
}

std::vector<Frame> PlanarMechanism::frames(const VectorXd& q, const VectorXd& v) const {
  std::vector<Frame> frames;
  move(q, v, frames);
  return frames;
}

PlanarMechanism::Scratch& PlanarMechanism::scratch() {
  thread_local Scratch s;
  return s;
}

void PlanarMechanism::evaluate(double t, const VectorXd& q, const VectorXd& v, Terms& terms,
                               const Wanted& wanted) const {
  if (q.size() != nq() || v.size() != nv()) {
    throw std::invalid_argument("q and v must have " + std::to_string(nv()) + " entries, not " +
                                std::to_string(q.size()) + " and " + std::to_string(v.size()));
  }
  Scratch& s = scratch();
  move(q, v, s.frames);

  // what each coordinate does to the points it moves
  s.motions.resize(nv());
  for (int k = 0; k < nv(); ++k) {
    const int b = owner_[k];
    const Body& body = bodies_[b];
    const Frame& f = s.frames[b];
    const int place = k - first_coordinate_[b];
    if (body.joint == Joint::kPrismatic) {
      const double omega = f.omega;  // a prismatic joint turns with its parent
      const Vector2d axis = f.turn(body.axis);
      s.motions[k] = {false, axis, omega * turned(axis)};
    } else if (body.joint == Joint::kFloating && place < 2) {
      s.motions[k] = {false, Vector2d::Unit(place), Vector2d::Zero()};
    } else {
      s.motions[k] = {true, f.position, f.velocity};
    }
  }

  const bool stiff = !springs_.empty() || !coordinate_springs_.empty() ||
                     std::any_of(forces_.begin(), forces_.end(),
                                 [](const Force& f) { return static_cast<bool>(f.jacobians); });
  terms.M.setZero(nv(), nv());
  terms.forces.setZero(nv());
  terms.Kq.setZero(stiff ? nv() : 0, stiff ? nv() : 0);
  terms.Kv.setZero(stiff || coriolis_ ? nv() : 0, stiff || coriolis_ ? nv() : 0);
  add_inertia(s, terms);
  add_springs(s, q, v, terms);
  fill_joints(s, q, terms);
  terms.contacts.resize(contacts_.size());
  const bool by_gaps = senses_ && !wanted.closed;
  for (std::size_t i = 0; i < contacts_.size(); ++i) {
    if (by_gaps || !wanted.contacts || (*wanted.contacts)[i])
      fill_contact(s, contacts_[i], terms.contacts[i]);
  }
  add_user_forces(t, s, q, v, wanted, terms);
}

/// M = Σ m Jcᵀ Jc + I Jωᵀ Jω and forces = Σ m Jcᵀ (g - J̇c v). In the plane the angular velocity is
/// linear in v with constant coefficients, so that only the centres have velocity-dependent
/// accelerations; their derivative by v is 2 J̇c because Jc is a gradient.
void PlanarMechanism::add_inertia(Scratch& s, Terms& terms) const {
  for (std::size_t b = 0; b < bodies_.size(); ++b) {
    const Body& body = bodies_[b];
    const std::vector<int>& moves = moves_[b];
    if (body.mass == 0 && body.inertia == 0) continue;
    const Point c = planar::point(s.frames[b], body.centre);
    s.columns.resize(moves.size());
    s.rates.resize(moves.size());
    for (std::size_t i = 0; i < moves.size(); ++i) {
      s.columns[i] = s.motions[moves[i]].column(c.x);
      s.rates[i] = s.motions[moves[i]].rate(c.velocity);
    }
    const Vector2d drive = body.mass * (gravity - c.bias);
    for (std::size_t i = 0; i < moves.size(); ++i) {
      terms.forces[moves[i]] += s.columns[i].dot(drive);
      for (std::size_t j = 0; j < moves.size(); ++j) {
        double m = body.mass * s.columns[i].dot(s.columns[j]);
        if (s.motions[moves[i]].turns && s.motions[moves[j]].turns) m += body.inertia;
        terms.M(moves[i], moves[j]) += m;
        if (coriolis_) terms.Kv(moves[i], moves[j]) -= 2 * body.mass * s.columns[i].dot(s.rates[j]);
      }
    }
  }
}

void PlanarMechanism::add_springs(Scratch& s, const VectorXd& q, const VectorXd& v,
                                  Terms& terms) const {
  for (const CoordinateSpring& spring : coordinate_springs_) {
    const int k = spring.coordinate;
    terms.forces[k] -= spring.stiffness * (q[k] - spring.rest) + spring.damping * v[k];
    terms.Kq(k, k) -= spring.stiffness;
    terms.Kv(k, k) -= spring.damping;
  }
  s.row.resize(nv());
  for (const Spring& spring : springs_) {
    const Point a = planar::point(s.frame(spring.body), spring.at);
    const Point b = planar::point(s.frame(spring.other), spring.at_other);
    const Vector2d d = a.x - b.x, rate = a.velocity - b.velocity;
    const double l = d.norm();
    const Vector2d u = l > 0 ? Vector2d(d / l) : Vector2d::UnitX();

    // along a direction: its force, and the stiffness it has there; one that pushes sideways out of
    // compression is left out, so that ∂forces/∂q stays negative semi-definite (P3 after (4.16))
    const auto act = [&](const Vector2d& direction, double force, double k, double damping) {
      s.row.setZero();
      add_row(s, spring.body, a.x, direction, 1, s.row);
      add_row(s, spring.other, b.x, direction, -1, s.row);
      terms.forces -= force * s.row.transpose();
      for (int i = 0; i < nv(); ++i) {
        if (s.row[i] == 0) continue;
        terms.Kq.row(i) -= std::max(0.0, k) * s.row[i] * s.row;
        terms.Kv.row(i) -= damping * s.row[i] * s.row;
      }
    };
    if (spring.length == 0) {
      for (const Vector2d& e : {u, turned(u)}) {
        act(e, spring.stiffness * e.dot(d) + spring.damping * e.dot(rate), spring.stiffness,
            spring.damping);
      }
    } else {
      const double pull = spring.stiffness * (l - spring.length);
      act(u, pull + spring.damping * u.dot(rate), spring.stiffness, spring.damping);
      if (l > 0) act(turned(u), 0, pull / l, 0);
    }
  }
}

void PlanarMechanism::add_user_forces(double t, Scratch& s, const VectorXd& q, const VectorXd& v,
                                      const Wanted& wanted, Terms& terms) const {
  if (senses_ && !wanted.closed) {
    s.closed.resize(contacts_.size());
    for (std::size_t i = 0; i < contacts_.size(); ++i)
      s.closed[i] = terms.contacts[i].phi <= kClosedGap;
  }
  const Sensed sensed{t, q, v, wanted.closed ? *wanted.closed : s.closed, input_values_};
  const auto check = [&](const std::string& name) {
    if (!terms.forces.allFinite())
      throw std::invalid_argument("force '" + name +
                                  "' is not a finite number at t = " + std::to_string(t) + " s");
  };
  for (const PointForce& force : point_forces_) {
    const Vector2d push = force.feedback ? force.feedback(sensed) : force.force(t);
    add_row(s, force.body, s.frame(force.body).place(force.at), push, 1, terms.forces);
    check(force.name);
  }
  for (const Force& force : forces_) {
    if (force.feedback)
      force.feedback(sensed, terms.forces);
    else
      force.apply(t, q, v, terms.forces);
    if (force.jacobians) force.jacobians(t, q, v, terms.Kq, terms.Kv);
    check(force.name);
  }
}

void PlanarMechanism::fill_joints(Scratch& s, const VectorXd& q, Terms& terms) const {
  const auto pins = static_cast<Eigen::Index>(pins_.size());
  const auto locks = static_cast<Eigen::Index>(locks_.size());
  terms.A.setZero(2 * pins + locks, nv());
  terms.joint_gap.setZero(2 * pins + locks);
  terms.joint_bias.setZero(2 * pins + locks);
  for (Eigen::Index i = 0; i < pins; ++i) {
    const Pin& pin = pins_[i];
    const Point a = planar::point(s.frame(pin.body), pin.at);
    const Point b = planar::point(s.frame(pin.other), pin.at_other);
    for (int axis = 0; axis < 2; ++axis) {
      const Vector2d e = Vector2d::Unit(axis);
      add_row(s, pin.body, a.x, e, 1, terms.A.row(2 * i + axis));
      add_row(s, pin.other, b.x, e, -1, terms.A.row(2 * i + axis));
    }
    terms.joint_gap.segment<2>(2 * i) = a.x - b.x;
    terms.joint_bias.segment<2>(2 * i) = a.bias - b.bias;
  }
  for (Eigen::Index i = 0; i < locks; ++i) {
    terms.A(2 * pins + i, locks_[i].coordinate) = 1;
    terms.joint_gap[2 * pins + i] = q[locks_[i].coordinate] - locks_[i].value;
  }
}

void PlanarMechanism::gaps(const VectorXd& q, VectorXd& contact, VectorXd& joint,
                           std::vector<std::int64_t>* /*id*/) const {
  Scratch& s = scratch();
  s.zero.setZero(nv());
  move(q, s.zero, s.frames);
  contact.resize(static_cast<Eigen::Index>(contacts_.size()));
  for (std::size_t i = 0; i < contacts_.size(); ++i) {
    const ContactPair& pair = contacts_[i];
    contact[i] =
        planar::touch(pair, s.frame(pair.first.body), s.frame(planar::second_body(pair))).phi;
  }
  const auto pins = static_cast<Eigen::Index>(pins_.size());
  joint.resize(2 * pins + static_cast<Eigen::Index>(locks_.size()));
  for (Eigen::Index i = 0; i < pins; ++i) {
    joint.segment<2>(2 * i) = s.frame(pins_[i].body).place(pins_[i].at) -
                              s.frame(pins_[i].other).place(pins_[i].at_other);
  }
  for (std::size_t i = 0; i < locks_.size(); ++i)
    joint[2 * pins + i] = q[locks_[i].coordinate] - locks_[i].value;
}

double PlanarMechanism::potential_energy(const VectorXd& q) const {
  Scratch& s = scratch();
  s.zero.setZero(nv());
  move(q, s.zero, s.frames);
  double energy = 0;
  for (std::size_t b = 0; b < bodies_.size(); ++b) {
    if (!moves_[b].empty())
      energy -= bodies_[b].mass * gravity.dot(s.frames[b].place(bodies_[b].centre));
  }
  for (const Spring& spring : springs_) {
    const Vector2d d =
        s.frame(spring.body).place(spring.at) - s.frame(spring.other).place(spring.at_other);
    energy += 0.5 * spring.stiffness * std::pow(d.norm() - spring.length, 2);
  }
  for (const CoordinateSpring& spring : coordinate_springs_)
    energy += 0.5 * spring.stiffness * std::pow(q[spring.coordinate] - spring.rest, 2);
  return energy;
}

void PlanarMechanism::fill_contact(Scratch& s, const ContactPair& pair, Contact& contact) const {
  const int body_a = pair.first.body, body_b = planar::second_body(pair);
  const Frame &a = s.frame(body_a), &b = s.frame(body_b);
  const Point c = planar::point(a, pair.first.at);
  const planar::Touch touch = planar::touch(pair, a, b);
  const Vector2d n = touch.normal, t = -turned(n);

  // the material points that meet
  const double radius = pair.first.radius;
  const Vector2d on_a = c.x - radius * n, on_b = touch.on_second;
  const Vector2d velocity_b = b.velocity + b.omega * turned(on_b - b.position);
  const Vector2d u = c.velocity - radius * a.omega * turned(n) - velocity_b;

  // how fast the normal turns and the place of touch travels
  double turning = b.omega;
  Vector2d travel =
      c.velocity - n.dot(c.velocity - velocity_b) * n - n.dot(c.x - on_b) * turning * turned(n);
  if (touch.around) {
    const Vector2d p = *touch.around;
    const Vector2d velocity_p = b.velocity + b.omega * turned(p - b.position);
    turning = turned(n).dot(c.velocity - velocity_p) / n.dot(c.x - p);
    travel = velocity_p + n.dot(on_b - p) * turning * turned(n);
  }
  const Vector2d u_rate =
      c.bias + radius * a.omega * turning * n - b.bias - b.omega * turned(travel - b.velocity);

  contact.name = pair.name;
  contact.phi = touch.phi;
  contact.mu = pair.mu;
  contact.e = pair.e;
  contact.point << on_a, 0;
  contact.normal << n, 0;
  contact.Jn.setZero(nv());
  contact.Jt.setZero(1, nv());
  add_row(s, body_a, on_a, n, 1, contact.Jn);
  add_row(s, body_b, on_b, n, -1, contact.Jn);
  add_row(s, body_a, on_a, t, 1, contact.Jt.row(0));
  add_row(s, body_b, on_b, t, -1, contact.Jt.row(0));
  contact.bias_n = turning * turned(n).dot(u) + n.dot(u_rate);
  contact.bias_t = turning * n.dot(u) + t.dot(u_rate);
}

double box_inertia(double mass, double width, double height) {
  return mass * (width * width + height * height) / 12;
}
double disc_inertia(double mass, double radius) { return mass * radius * radius / 2; }
double rod_inertia(double mass, double length) { return mass * length * length / 12; }

}  // namespace routh
