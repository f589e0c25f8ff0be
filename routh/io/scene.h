#pragma once

#include <string>
#include <vector>

#include "routh/io/painter.h"
#include "routh/io/raster.h"
#include "routh/io/scenario.h"

/// Pictures of models in space.
namespace routh::io {

/// A view of a model that holds it in several configurations.
struct Scene {
  Camera camera;
  Stage stage;
  Eigen::Vector2d low, high;  ///< of the picture [m]
  bool meshes = false;        ///< too many faces to be painted one by one
};

/// Chooses among a few cameras one that sees most of the moving bodies.
Scene scene_of(const Scenario& scenario, const std::vector<Eigen::VectorXd>& configurations);

/// How many faces round shapes have around, in files of pixels and in files that keep every face.
inline int segments_of(const std::string& terminal) { return terminal == "pngcairo" ? 24 : 14; }

/// The model at q, painted.
std::vector<Stroke> picture(const Scenario& scenario, const Scene& scene, const Eigen::VectorXd& q,
                            int segments);

/// The model at q in pixels, so many from left to right.
Image pixels(const Scenario& scenario, const Scene& scene, const Eigen::VectorXd& q, int width);

/// For each point: is there nothing between it and the viewer, with the model at q?
std::vector<char> visible(const Scenario& scenario, const Scene& scene, const Eigen::VectorXd& q,
                          const std::vector<Eigen::Vector3d>& points);

/// A picture as gnuplot reads it: objects in place of all that were there before, the first part of
/// the plot command, and what follows that command's line.
struct GnuplotPicture {
  std::string objects, plot, data;
};

/// Painted where faces are few.
GnuplotPicture gnuplot_picture(const Scenario& scenario, const Scene& scene,
                               const Eigen::VectorXd& q, int segments);
/// In pixels, where they are many: an image is the same for all kinds of files.
GnuplotPicture gnuplot_picture(const Scene& scene, const Image& image);
/// The images of several configurations; none where faces are few.
std::vector<Image> images(const Scenario& scenario, const Scene& scene,
                          const std::vector<Eigen::VectorXd>& configurations);

/// Paths of an SVG whose upper left corner is (low.x, high.y), with this many pixels a metre.
std::string svg_paths(const std::vector<Stroke>& strokes, const Scene& scene, double scale);

}  // namespace routh::io
