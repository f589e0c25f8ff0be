#pragma once

#include <string>
#include <vector>

#include "routh/model/planar.h"

/// Planar mechanisms as lines, for gnuplot and for animations.
namespace routh::io {

using Polyline = std::vector<Eigen::Vector2d>;

/// The shape in its body's frame: closed polygons, lines, discs with a spoke.
std::vector<Polyline> outline(const Shape& shape);

/// All bodies that move, and the springs, at q.
std::vector<Polyline> outlines(const PlanarMechanism& mechanism, const Eigen::VectorXd& q);

/// The half-planes and other parts that never move, long enough for the given window.
std::vector<Polyline> planes(const PlanarMechanism& mechanism, const Eigen::Vector2d& low,
                             const Eigen::Vector2d& high);

/// Enlarges the box low..high until it holds the bodies that move, at q.
void extent(const PlanarMechanism& mechanism, const Eigen::VectorXd& q, Eigen::Vector2d& low,
            Eigen::Vector2d& high);

/// Corners of the convex hull, counter-clockwise.
std::vector<Eigen::Vector2d> convex_hull(std::vector<Eigen::Vector2d> points);

/// Lines of "x y", an empty one after each polyline.
std::string polylines(const std::vector<Polyline>& lines);

}  // namespace routh::io
