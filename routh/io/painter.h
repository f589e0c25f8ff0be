#pragma once

#include <vector>

#include "routh/io/drawing.h"
#include "routh/model/surface.h"

/// Surfaces in space as flat polygons in the order in which they must be painted.
namespace routh::io {

/// Orthographic, from above and from the side; z is up.
struct Camera {
  Eigen::Vector3d right, up, back;  ///< orthonormal; `back` points to the viewer
  Eigen::Vector3d light;            ///< unit, towards the light

  /// The viewer is at the azimuth [degrees] from x towards y, and at the elevation above the
  /// ground.
  explicit Camera(double azimuth = -50, double elevation = 24);

  Eigen::Vector2d project(const Eigen::Vector3d& p) const { return {right.dot(p), up.dot(p)}; }
  double depth(const Eigen::Vector3d& p) const { return back.dot(p); }  ///< larger is nearer
};

/// The part of the world in a picture, as a box.
struct Stage {
  Eigen::Vector3d low, high;
  double cell = 0;  ///< of the grid on the ground [m]; 0: none
};

/// A polygon or, where it is not filled, a line.
struct Stroke {
  Polyline points;
  Eigen::Vector3d colour;
  bool filled = true;
  double width = 1;  ///< of a line
  int surface = -1;  ///< what it belongs to
};

/// Faces turned away are left out, flat faces cut what they pass through (a BSP tree), small faces
/// of round shapes are sorted by depth. Shades by direction, casts shadows on flat faces and draws
/// the outlines and sharp edges of every shape. What does not move is cut off at the stage.
std::vector<Stroke> paint(std::vector<Surface> surfaces, const Camera& camera, const Stage& stage);

/// The colour of a face, from 0 to 1.
Eigen::Vector3d shade(const Surface& surface, const Eigen::Vector3d& normal, const Camera& camera);

}  // namespace routh::io
