// Pixels: what is nearer is seen, as many of each as its area; GIF gives the colours back.

#include "routh/io/raster.h"

#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <random>

#include "routh/io/gif.h"

namespace routh::io {
namespace {

using Eigen::Vector2d;
using Eigen::Vector3d;

Surface triangle(const Vector3d& a, const Vector3d& b, const Vector3d& c) {
  Surface s;
  s.vertices = {a, b, c};
  s.faces = {{0, 1, 2}};
  return s;
}

const Stage kWorld{Vector3d(-9, -9, -9), Vector3d(9, 9, 9), 0};

TEST(Raster, APixelShowsTheNearestOfManyTriangles) {
  // against rays through the middles of pixels, one triangle after the other
  std::mt19937 random(5);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const auto point = [&] { return Vector3d(uniform(random), uniform(random), uniform(random)); };
  std::vector<Surface> all;
  for (int k = 0; k < 40; ++k) all.push_back(triangle(point(), point(), point()));
  const Camera camera;
  const View view{Vector2d(-1, -1), Vector2d(1, 1), 50};
  const DepthBuffer seen = seen_by(all, camera, kWorld, view);
  int shown = 0;
  for (int row = 0; row < view.height(); ++row) {
    for (int column = 0; column < view.width; ++column) {
      const Vector2d at(-1 + (column + 0.5) / view.scale(), 1 - (row + 0.5) / view.scale());
      const Vector3d from = at.x() * camera.right + at.y() * camera.up;
      int nearest = -1;
      double depth = 0, margin = 1;
      for (int s = 0; s < static_cast<int>(all.size()); ++s) {
        // from + d back = a + x (b - a) + y (c - a)
        const std::vector<Vector3d>& p = all[s].vertices;
        Eigen::Matrix3d sides;
        sides << p[1] - p[0], p[2] - p[0], -camera.back;
        const Vector3d xyd = sides.inverse() * (from - p[0]);
        const double in = std::min({xyd.x(), xyd.y(), 1 - xyd.x() - xyd.y()});
        margin = std::min(margin, std::abs(in));
        if (in >= 0 && (nearest < 0 || xyd.z() > depth)) nearest = s, depth = xyd.z();
      }
      if (margin < 1e-9) continue;
      const std::size_t pixel = static_cast<std::size_t>(row) * view.width + column;
      EXPECT_EQ(seen.surface[pixel], nearest) << column << " " << row;
      if (nearest < 0) continue;
      EXPECT_NEAR(seen.depth[pixel], depth, 1e-5);
      ++shown;
    }
  }
  EXPECT_GT(shown, 1000);
}

TEST(Raster, WhatIsBehindIsHiddenAndCountedSo) {
  const Camera camera;
  const auto facing = [&](double depth, double half) {
    const Vector3d r = half * camera.right, u = half * camera.up, b = depth * camera.back;
    Surface s;
    s.vertices = {b - r - u, b + r - u, b + r + u, b - r + u};
    s.faces = {{0, 1, 2, 3}};
    return s;
  };
  const View view{Vector2d(-1, -1), Vector2d(1, 1), 100};
  const DepthBuffer seen = seen_by({facing(0, 0.8), facing(1, 0.4)}, camera, kWorld, view);
  EXPECT_EQ(seen.covered[0], 80 * 80);
  EXPECT_EQ(seen.covered[1], 40 * 40);
  EXPECT_EQ(seen.shown[0], 80 * 80 - 40 * 40);
  EXPECT_EQ(seen.shown[1], 40 * 40);
  EXPECT_TRUE(seen.hides(camera, 0.5 * camera.back, 0.01));
  EXPECT_FALSE(seen.hides(camera, 1.5 * camera.back, 0.01));
  EXPECT_FALSE(seen.hides(camera, 0.6 * camera.right + 0.1 * camera.back, 0.01));
}

TEST(Raster, FacesWithoutAreaAndPointsWithoutNumberDrawNothing) {
  const double nan = std::nan("");
  const Image image = rendered(
      {triangle({0, 0, 0}, {1, 0, 0}, {1, 0, 0}), triangle({nan, 0, 0}, {1, 0, 0}, {0, 1, 0})},
      Camera(), kWorld, {Vector2d(-1, -1), Vector2d(1, 1), 20});
  EXPECT_TRUE(std::all_of(image.rgb.begin(), image.rgb.end(), [](int x) { return x == 255; }));
}

/// Pixels of the frames of a GIF, by a decoder of its own.
std::vector<std::vector<std::uint8_t>> decoded(const std::string& gif) {
  const auto byte = [&](std::size_t k) { return static_cast<std::uint8_t>(gif.at(k)); };
  const std::size_t pixels = (byte(6) | byte(7) << 8) * (byte(8) | byte(9) << 8);
  std::vector<std::vector<std::uint8_t>> frames;
  std::size_t at = 13 + 3 * 256;
  while (byte(at) != 0x3b) {
    if (byte(at) == 0x21) {  // an extension
      for (at += 2; byte(at) != 0; at += 1 + byte(at)) {
      }
      ++at;
      continue;
    }
    EXPECT_EQ(byte(at), 0x2c);
    at += 10;
    EXPECT_EQ(byte(at++), 8);
    std::string data;
    for (; byte(at) != 0; at += 1 + byte(at)) data.append(gif, at + 1, byte(at));
    ++at;
    std::vector<std::string> table;
    std::string out, last;
    int width = 9;
    std::size_t bit = 0;
    while (true) {
      int code = 0;
      for (int k = 0; k < width; ++k, ++bit)
        code |= (static_cast<std::uint8_t>(data.at(bit / 8)) >> bit % 8 & 1) << k;
      if (code == 257) break;
      if (code == 256) {
        table.clear();
        for (int k = 0; k < 258; ++k) table.emplace_back(1, static_cast<char>(k));
        last.clear(), width = 9;
        continue;
      }
      std::string now;
      if (code < static_cast<int>(table.size()))
        now = table[code];
      else
        now = last + last.at(0);
      out += now;
      if (!last.empty()) table.push_back(last + now[0]);
      if (static_cast<int>(table.size()) == 1 << width && width < 12) ++width;
      last = now;
    }
    EXPECT_EQ(out.size(), pixels);
    std::vector<std::uint8_t> rgb;
    for (const char c : out) {
      for (int k = 0; k < 3; ++k) rgb.push_back(byte(13 + 3 * static_cast<std::uint8_t>(c) + k));
    }
    frames.push_back(rgb);
  }
  return frames;
}

TEST(Gif, EveryFrameHasItsColours) {
  // noise spends all codes, areas the long ones
  std::mt19937 random(7);
  std::vector<Image> frames(9, Image{.width = 120, .height = 90});
  for (std::size_t f = 0; f < frames.size(); ++f) {
    for (int p = 0; p < 120 * 90; ++p) {
      const bool noisy = p % 120 < 60;
      for (int c = 0; c < 3; ++c)
        frames[f].rgb.push_back(
            static_cast<std::uint8_t>(noisy ? 40 * (random() % 5) : (60 * c + 10 * f) % 256));
    }
  }
  const std::string text = gif(9, 5, [&](int k) { return frames[k]; });
  const auto back = decoded(text);
  ASSERT_EQ(back.size(), frames.size());
  for (std::size_t f = 0; f < frames.size(); ++f) {
    ASSERT_EQ(back[f].size(), frames[f].rgb.size());
    int worst = 0;
    for (std::size_t k = 0; k < back[f].size(); ++k)
      worst = std::max(worst, std::abs(back[f][k] - frames[f].rgb[k]));
    EXPECT_LT(worst, 24) << f;
  }
}

}  // namespace
}  // namespace routh::io
