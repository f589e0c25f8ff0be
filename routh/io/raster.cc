#include "routh/io/raster.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

namespace routh::io {
namespace {

using Eigen::Vector2d;
using Eigen::Vector3d;
using Eigen::Vector3f;

constexpr int kFine = 2;                 // pixels are means of so many squared
constexpr std::size_t kManyFaces = 300;  // of a shape whose inner edges are not drawn
constexpr double kCreaseCosine = 0.77;   // of the angle from which an edge is sharp
constexpr double kStep = 0.02;           // of the picture's size: a jump of depth that is an edge
constexpr double kBias = 0.012;          // of the picture's size: what throws no shadow on itself
constexpr int kShadowPixels = 900;
constexpr float kNothing = -std::numeric_limits<float>::infinity();
const Vector3d kPaperWhite(1, 1, 1), kDarkInk(0.08, 0.09, 0.12);

struct Vertex {
  double x, y, depth;  // pixels; [m]
};

/// The pixels whose middles may be in a triangle.
struct Block {
  int left, right, top, bottom;  // the last ones too
  bool empty() const { return left > right || top > bottom; }
};

Block block_of(const Vertex& a, const Vertex& b, const Vertex& c, int width, int height) {
  // the first middle at or after x, and the last one before; NaN has none
  const auto first = [](double x, int most) {
    if (!(x < most)) return most;
    const double at = std::max(x - 0.5, 0.0);
    const int whole = static_cast<int>(at);
    return whole + (whole < at);
  };
  const auto last = [](double x, int most) {
    return x >= 0.5 ? static_cast<int>(std::min(x - 0.5, most - 1.0)) : -1;
  };
  return {first(std::min({a.x, b.x, c.x}), width), last(std::max({a.x, b.x, c.x}), width),
          first(std::min({a.y, b.y, c.y}), height), last(std::max({a.y, b.y, c.y}), height)};
}

/// Calls visit(column, row, depth) for each pixel of the block whose middle is in the triangle.
template <class Visit>
void scan(const Vertex& a, const Vertex& b, const Vertex& c, const Block& block,
          const Visit& visit) {
  const double area = (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
  if (area == 0 || !std::isfinite(area)) return;
  // weights of b and c, linear over the picture
  const double wb_x = (c.y - a.y) / area, wb_y = -(c.x - a.x) / area;
  const double wc_x = -(b.y - a.y) / area, wc_y = (b.x - a.x) / area;
  for (int row = block.top; row <= block.bottom; ++row) {
    const double y = row + 0.5 - a.y;
    for (int column = block.left; column <= block.right; ++column) {
      const double x = column + 0.5 - a.x;
      const double wb = wb_x * x + wb_y * y, wc = wc_x * x + wc_y * y;
      if (wb < 0 || wc < 0 || wb + wc > 1) continue;
      visit(column, row, a.depth + wb * (b.depth - a.depth) + wc * (c.depth - a.depth));
    }
  }
}

/// Where a projection puts points in pixels.
struct Projection {
  Vector3d right, up, back;
  Vector2d low;
  double scale;
  int height;

  Vertex operator()(const Vector3d& p) const {
    return {scale * (right.dot(p) - low.x()), height - scale * (up.dot(p) - low.y()), back.dot(p)};
  }
  /// The point of space in the middle of a pixel.
  Vector3d operator()(int column, int row, double depth) const {
    return ((column + 0.5) / scale + low.x()) * right +
           ((height - row - 0.5) / scale + low.y()) * up + depth * back;
  }
};

Projection projection_of(const Camera& camera, const View& view) {
  return {camera.right, camera.up, camera.back, view.low, view.scale(), view.height()};
}

/// visit(surface, normal, column, row, depth) of all faces, triangle by triangle.
template <class Visit>
void scan_all(const std::vector<Surface>& surfaces, const Projection& to, int width,
              const Visit& visit) {
  std::vector<Vertex> corners;
  for (std::size_t s = 0; s < surfaces.size(); ++s) {
    const Surface& surface = surfaces[s];
    corners.clear();
    for (const Vector3d& p : surface.vertices) corners.push_back(to(p));
    for (const std::vector<int>& face : surface.faces) {
      for (std::size_t k = 1; k + 1 < face.size(); ++k) {
        const Vertex &p = corners[face[0]], &q = corners[face[k]], &r = corners[face[k + 1]];
        const Block block = block_of(p, q, r, width, to.height);
        if (block.empty()) continue;
        const Vector3d& a = surface.vertices[face[0]];
        Vector3d normal = (surface.vertices[face[k]] - a).cross(surface.vertices[face[k + 1]] - a);
        const double length = normal.norm();
        if (!(length > 0)) continue;
        normal /= normal.dot(to.back) < 0 ? -length : length;
        const Vector3f facing = normal.cast<float>();
        scan(p, q, r, block,
             [&](int column, int row, double depth) { visit(s, facing, column, row, depth); });
      }
    }
  }
}

/// How far the light comes.
struct Shadows {
  Projection to;
  int width = 0;
  std::vector<float> depth = {};
  double bias = 0;

  Shadows(const std::vector<Surface>& surfaces, const Camera& camera, double size)
      : to{.right = camera.right,
           .up = camera.light.cross(camera.right).normalized(),
           .back = camera.light,
           .low = {0, 0},
           .scale = 1,
           .height = 0},
        bias(kBias * size) {
    to.right = to.up.cross(to.back);
    std::vector<Surface> casters;
    Eigen::AlignedBox2d box;
    for (const Surface& s : surfaces) {
      if (s.ground || s.fixed) continue;
      for (const Vector3d& p : s.vertices) box.extend(Vector2d(to.right.dot(p), to.up.dot(p)));
    }
    if (box.isEmpty() || !(box.sizes().maxCoeff() > 0)) return;
    to.low = box.min();
    to.scale = kShadowPixels / box.sizes().maxCoeff();
    width = static_cast<int>(std::ceil(to.scale * box.sizes().x())) + 1;
    to.height = static_cast<int>(std::ceil(to.scale * box.sizes().y())) + 1;
    depth.assign(static_cast<std::size_t>(width) * to.height, kNothing);
    scan_all(surfaces, to, width,
             [&](std::size_t s, const Vector3f&, int column, int row, double d) {
               if (surfaces[s].ground || surfaces[s].fixed) return;
               float& nearest = depth[static_cast<std::size_t>(row) * width + column];
               nearest = std::max(nearest, static_cast<float>(d));
             });
  }

  bool on(const Vector3d& p) const {
    if (depth.empty()) return false;
    const Vertex at = to(p);
    if (!(at.x >= 0 && at.x < width && at.y >= 0 && at.y < to.height)) return false;
    const std::size_t pixel =
        static_cast<std::size_t>(at.y) * width + static_cast<std::size_t>(at.x);
    return depth[pixel] > at.depth + bias;
  }
};

/// Five columns of seven bits, the lowest bit above.
struct Glyph {
  char c;
  std::array<std::uint8_t, 5> columns;
};
constexpr Glyph kGlyphs[] = {
    {'0', {0x3e, 0x51, 0x49, 0x45, 0x3e}}, {'1', {0x00, 0x42, 0x7f, 0x40, 0x00}},
    {'2', {0x42, 0x61, 0x51, 0x49, 0x46}}, {'3', {0x21, 0x41, 0x45, 0x4b, 0x31}},
    {'4', {0x18, 0x14, 0x12, 0x7f, 0x10}}, {'5', {0x27, 0x45, 0x45, 0x45, 0x39}},
    {'6', {0x3c, 0x4a, 0x49, 0x49, 0x30}}, {'7', {0x01, 0x71, 0x09, 0x05, 0x03}},
    {'8', {0x36, 0x49, 0x49, 0x49, 0x36}}, {'9', {0x06, 0x49, 0x49, 0x29, 0x1e}},
    {'.', {0x00, 0x60, 0x60, 0x00, 0x00}}, {'-', {0x08, 0x08, 0x08, 0x08, 0x08}},
    {'s', {0x48, 0x54, 0x54, 0x54, 0x20}}};

}  // namespace

int View::height() const {
  return std::max(1, static_cast<int>(std::lround(scale() * (high - low).y())));
}

bool DepthBuffer::hides(const Camera& camera, const Vector3d& point, double off) const {
  const Vertex at = projection_of(camera, view)(point);
  if (!(at.x >= 0 && at.x < view.width && at.y >= 0 && at.y < view.height())) return false;
  const std::size_t pixel =
      static_cast<std::size_t>(at.y) * view.width + static_cast<std::size_t>(at.x);
  return depth[pixel] > at.depth + off;
}

DepthBuffer seen_by(const std::vector<Surface>& surfaces, const Camera& camera, const Stage& stage,
                    const View& view) {
  const int width = view.width, height = view.height();
  const std::size_t pixels = static_cast<std::size_t>(width) * height;
  DepthBuffer seen{.view = view,
                   .depth = std::vector<float>(pixels, kNothing),
                   .surface = std::vector<std::int32_t>(pixels, -1),
                   .normal = std::vector<Vector3f>(pixels, Vector3f::Zero()),
                   .covered = std::vector<std::int64_t>(surfaces.size(), 0),
                   .shown = std::vector<std::int64_t>(surfaces.size(), 0)};
  const Projection to = projection_of(camera, view);
  std::vector<std::int32_t> last(pixels, -1);  // the last surface that covered a pixel
  scan_all(surfaces, to, width,
           [&](std::size_t s, const Vector3f& normal, int column, int row, double depth) {
             const std::size_t pixel = static_cast<std::size_t>(row) * width + column;
             if (surfaces[s].fixed) {
               const Vector3d p = to(column, row, depth);
               if ((p.head<2>().array() < stage.low.head<2>().array()).any() ||
                   (p.head<2>().array() > stage.high.head<2>().array()).any())
                 return;
             }
             const auto index = static_cast<std::int32_t>(s);
             if (last[pixel] != index) last[pixel] = index, ++seen.covered[s];
             if (!(static_cast<float>(depth) > seen.depth[pixel])) return;
             seen.depth[pixel] = static_cast<float>(depth);
             seen.surface[pixel] = index;
             seen.normal[pixel] = normal;
           });
  for (const std::int32_t s : seen.surface) {
    if (s >= 0) ++seen.shown[s];
  }
  return seen;
}

Image rendered(const std::vector<Surface>& surfaces, const Camera& camera, const Stage& stage,
               const View& view) {
  View fine = view;
  fine.width = kFine * view.width;
  const DepthBuffer seen = seen_by(surfaces, camera, stage, fine);
  const Projection to = projection_of(camera, fine);
  const int width = fine.width, height = fine.height();
  const double size = (stage.high - stage.low).norm();
  const Shadows shadows(surfaces, camera, size);

  // is there an edge between two pixels, and is this one in front?
  const auto edge = [&](std::size_t pixel, std::size_t other) {
    const std::int32_t s = seen.surface[pixel], t = seen.surface[other];
    if (s < 0) return false;
    const float ahead = seen.depth[pixel] - seen.depth[other];
    if (s != t) return t < 0 || (ahead > 0 && !(surfaces[s].ground && surfaces[t].ground));
    if (ahead > kStep * size) return true;
    return surfaces[s].faces.size() < kManyFaces &&
           seen.normal[pixel].dot(seen.normal[other]) < static_cast<float>(kCreaseCosine);
  };
  Image image{.width = view.width, .height = (height + kFine - 1) / kFine};
  std::vector<float> sums(static_cast<std::size_t>(3) * image.width * image.height, 0);
  std::vector<int> counts(static_cast<std::size_t>(image.width) * image.height, 0);
  for (int row = 0; row < height; ++row) {
    for (int column = 0; column < width; ++column) {
      const std::size_t pixel = static_cast<std::size_t>(row) * width + column;
      Vector3d colour = kPaperWhite;
      if (const std::int32_t s = seen.surface[pixel]; s >= 0) {
        const Surface& surface = surfaces[s];
        const Vector3d normal = seen.normal[pixel].cast<double>();
        const Vector3d p = to(column, row, seen.depth[pixel]);
        colour = shade(surface, normal, camera);
        bool grid = false;
        for (int axis = 0; surface.ground && stage.cell > 0 && axis < 2; ++axis) {
          const double off = p[axis] / stage.cell - std::round(p[axis] / stage.cell);
          grid |= std::abs(off) * stage.cell * fine.scale() < 0.6;
        }
        if (grid) colour *= 0.93;
        if (normal.dot(camera.light) > 0.05 && shadows.on(p)) colour *= surface.ground ? 0.8 : 0.85;
        const bool outline = (column > 0 && edge(pixel, pixel - 1)) ||
                             (column + 1 < width && edge(pixel, pixel + 1)) ||
                             (row > 0 && edge(pixel, pixel - width)) ||
                             (row + 1 < height && edge(pixel, pixel + width));
        if (outline)
          colour =
              surface.ground ? Vector3d(0.85 * colour) : Vector3d(0.5 * colour + 0.4 * kDarkInk);
      }
      const std::size_t of = static_cast<std::size_t>(row / kFine) * image.width + column / kFine;
      for (int k = 0; k < 3; ++k) sums[3 * of + k] += static_cast<float>(colour[k]);
      ++counts[of];
    }
  }
  image.rgb.resize(sums.size());
  for (std::size_t k = 0; k < sums.size(); ++k) {
    const float mean = sums[k] / static_cast<float>(std::max(1, counts[k / 3]));
    image.rgb[k] = static_cast<std::uint8_t>(std::lround(255 * std::clamp(mean, 0.0f, 1.0f)));
  }
  return image;
}

void write_on(Image& image, const std::string& text) {
  constexpr int kDot = 2, kLeft = 10, kTop = 8;
  int left = kLeft;
  for (const char c : text) {
    const auto* glyph = std::find_if(std::begin(kGlyphs), std::end(kGlyphs),
                                     [&](const Glyph& g) { return g.c == c; });
    for (int k = 0; glyph != std::end(kGlyphs) && k < 5 * kDot; ++k) {
      for (int row = 0; row < 7 * kDot; ++row) {
        const int x = left + k, y = kTop + row;
        if (!(glyph->columns[k / kDot] >> (row / kDot) & 1) || x >= image.width ||
            y >= image.height)
          continue;
        std::fill_n(image.rgb.begin() + 3 * (static_cast<std::ptrdiff_t>(y) * image.width + x), 3,
                    std::uint8_t{30});
      }
    }
    left += 6 * kDot;
  }
}

}  // namespace routh::io
