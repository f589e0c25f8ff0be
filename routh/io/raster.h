#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "routh/io/painter.h"

/// Surfaces in space as pixels by a depth buffer: the cost grows with faces and pixels alike,
/// however shapes pass through each other. For meshes; what has few faces is painted (painter.h)
/// and stays sharp at any size.
namespace routh::io {

/// The part of a camera's plane in a picture [m], and how finely.
struct View {
  Eigen::Vector2d low, high;
  int width = 0;  ///< pixels

  double scale() const { return width / (high - low).x(); }
  int height() const;
};

/// What a camera sees, pixel by pixel, row by row from above.
struct DepthBuffer {
  View view;
  std::vector<float> depth;                  ///< as Camera::depth; -infinity where nothing is
  std::vector<std::int32_t> surface;         ///< the nearest, or -1
  std::vector<Eigen::Vector3f> normal;       ///< towards the viewer
  std::vector<std::int64_t> covered, shown;  ///< pixels of each surface: behind others or not

  bool hides(const Camera& camera, const Eigen::Vector3d& point, double off) const;
};

/// Faces are seen from both sides. What is fixed ends at the stage.
DepthBuffer seen_by(const std::vector<Surface>& surfaces, const Camera& camera, const Stage& stage,
                    const View& view);

/// Red, green and blue of each pixel, row by row from above.
struct Image {
  int width = 0, height = 0;
  std::vector<std::uint8_t> rgb;
};

/// Shaded as the painter does, with shadows on everything, a grid on the ground and the outlines of
/// shapes; each pixel is the mean of four.
Image rendered(const std::vector<Surface>& surfaces, const Camera& camera, const Stage& stage,
               const View& view);

/// Writes into the upper left corner; of characters digits, point, minus, space and s.
void write_on(Image& image, const std::string& text);

}  // namespace routh::io
