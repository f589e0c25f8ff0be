#pragma once

#include <optional>

#include "routh/model/planar.h"

/// How points of planar bodies move, and where two features touch. Used by planar.cc alone.
namespace routh::planar {

/// Turned counter-clockwise by a right angle: the velocity of r when turning at 1 rad/s.
inline Eigen::Vector2d turned(const Eigen::Vector2d& r) { return {-r.y(), r.x()}; }

/// A point fixed to a body.
struct Point {
  Eigen::Vector2d x, velocity, bias;  ///< bias: acceleration at v̇ = 0
};
inline Point point(const Frame& f, const Eigen::Vector2d& local) {
  const Eigen::Vector2d r = f.turn(local);
  return {f.position + r, f.velocity + f.omega * turned(r), f.bias - f.omega * f.omega * r};
}

/// What one coordinate does to the points it moves: turns them about `where`, or slides them along
/// it.
struct Motion {
  bool turns = false;
  Eigen::Vector2d where = Eigen::Vector2d::Zero();  ///< pivot, or direction
  Eigen::Vector2d rate_of_where = Eigen::Vector2d::Zero();

  /// Velocity of the point x at unit velocity of the coordinate, and its derivative in time.
  Eigen::Vector2d column(const Eigen::Vector2d& x) const {
    return turns ? turned(x - where) : where;
  }
  Eigen::Vector2d rate(const Eigen::Vector2d& x_rate) const {
    return turns ? turned(x_rate - rate_of_where) : rate_of_where;
  }
};

/// Where a contact is.
struct Touch {
  double phi = 0;
  Eigen::Vector2d normal = Eigen::Vector2d::UnitY();
  Eigen::Vector2d on_second = Eigen::Vector2d::Zero();
  /// The point of the second body around which the normal turns: a corner, a disc's centre or a
  /// track's centre of curvature; none on a straight edge, whose normal turns with its body.
  std::optional<Eigen::Vector2d> around = {};
};
Touch touch(const ContactPair& pair, const Frame& first, const Frame& second);

inline int second_body(const ContactPair& pair) {
  return std::visit([](const auto& feature) { return feature.body; }, pair.second);
}

}  // namespace routh::planar

namespace routh {

/// Memory of one evaluation, kept between calls.
struct PlanarMechanism::Scratch {
  Frame world;
  std::vector<Frame> frames;
  std::vector<planar::Motion> motions;
  std::vector<Eigen::Vector2d> columns, rates;
  Eigen::RowVectorXd row;
  Eigen::VectorXd zero;
  std::vector<char> closed;

  const Frame& frame(int body) const { return body == kWorld ? world : frames[body]; }
};

template <typename Row>
void PlanarMechanism::add_row(const Scratch& s, int body, const Eigen::Vector2d& x,
                              const Eigen::Vector2d& direction, double sign, Row&& row) const {
  if (body == kWorld) return;
  for (const int k : moves_[body]) row[k] += sign * direction.dot(s.motions[k].column(x));
}

}  // namespace routh
