#include <algorithm>
#include <cmath>
#include <limits>

#include "routh/model/planar_kinematics.h"

/// How much gaps can bend while coordinates stay within bounds. In the frame of the second body the
/// gap is the distance from a convex feature, a convex function of the point of the first that
/// never changes faster than the point moves. So it bends down no more than the point accelerates
/// there,
///
///   |c̈ - ö| + 2 |Ω| |ċ - ȯ| + (|Ω̇| + Ω²) |c - o|,
///
/// o, Ω: the origin of the second body and its rate of turning.
namespace routh {
namespace {

using Eigen::VectorXd;

constexpr double kUnknown = std::numeric_limits<double>::infinity();

/// What a frame does at most, and its points at some distance from its origin.
struct Fastest {
  double speed = 0, bend = 0;      // of the origin [m/s], [m/s²]
  double turn = 0, turn_bend = 0;  // [rad/s], [rad/s²]

  double speed_at(double arm) const { return speed + turn * arm; }
  double bend_at(double arm) const { return bend + (turn_bend + turn * turn) * arm; }
};

/// How far from the origin of the second body a feature reaches.
struct Extent {
  double operator()(const Round& round) const { return round.at.norm() + round.radius; }
  double operator()(const Edge& edge) const {
    if (edge.length == 0) return kUnknown;
    const Eigen::Vector2d end = edge.at + edge.length * planar::turned(edge.normal.normalized());
    return std::max(edge.at.norm(), end.norm());
  }
  double operator()(const Polygon& polygon) const {
    double farthest = 0;
    for (const Eigen::Vector2d& vertex : polygon.vertices)
      farthest = std::max(farthest, vertex.norm());
    return farthest;
  }
  double operator()(const Track&) const { return kUnknown; }
};

}  // namespace

void PlanarMechanism::gap_bends(const MotionBounds& bounds, const VectorXd& gap,
                                VectorXd& bend) const {
  // every frame, carried along by its parent as move() does it
  thread_local std::vector<Fastest> frames;
  frames.resize(bodies_.size());
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    const Body& body = bodies_[i];
    const int k = first_coordinate_[i];
    Fastest& f = frames[i];
    if (body.joint == Joint::kFloating) {
      f = {bounds.rate.segment<2>(k).norm(), bounds.bend.segment<2>(k).norm(), bounds.rate[k + 2],
           bounds.bend[k + 2]};
      continue;
    }
    const Fastest parent = body.parent == kWorld ? Fastest{} : frames[body.parent];
    const bool slides = body.joint == Joint::kPrismatic;
    const double arm = body.at.norm() + (slides ? bounds.q[k] : 0);
    f = {parent.speed_at(arm), parent.bend_at(arm), parent.turn, parent.turn_bend};
    if (slides) {
      f.speed += bounds.rate[k];
      f.bend += 2 * parent.turn * bounds.rate[k] + bounds.bend[k];
    } else if (body.joint == Joint::kRevolute) {
      f.turn += bounds.rate[k];
      f.turn_bend += bounds.bend[k];
    }
  }

  bend.resize(static_cast<Eigen::Index>(contacts_.size()));
  for (std::size_t i = 0; i < contacts_.size(); ++i) {
    const ContactPair& pair = contacts_[i];
    const auto row = static_cast<Eigen::Index>(i);
    const auto* track = std::get_if<Track>(&pair.second);
    if (track && track->coefficients.size() > 2) {
      bend[row] = kUnknown;  // valleys are not convex
      continue;
    }
    const int second = planar::second_body(pair);
    const Fastest a = pair.first.body == kWorld ? Fastest{} : frames[pair.first.body];
    const Fastest b = second == kWorld ? Fastest{} : frames[second];
    const double arm = pair.first.at.norm();
    bend[row] = a.bend_at(arm) + b.bend;
    if (b.turn == 0 && b.turn_bend == 0) continue;
    const double extent = std::visit(Extent{}, pair.second);
    const double apart = a.speed_at(arm) + b.speed;
    const double reach = extent + pair.first.radius + std::max(0.0, gap[row]) +
                         bounds.time * (apart + b.turn * extent);
    bend[row] += 2 * b.turn * apart + (b.turn_bend + b.turn * b.turn) * reach;
  }
}

}  // namespace routh
