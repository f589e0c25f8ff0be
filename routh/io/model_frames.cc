#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "routh/io/frames.h"
#include "routh/io/gif.h"
#include "routh/io/gnuplot.h"
#include "routh/io/scene.h"
#include "routh/io/text.h"

namespace routh::io {
namespace {

using Eigen::Vector2d;
using Eigen::VectorXd;

constexpr int kMeasured = 25;  // configurations that the picture must hold
constexpr int kCoarse = 12;    // segments of round shapes in animations

Scene scene_of(const Motion& motion) {
  std::vector<VectorXd> configurations;
  for (int k = 0; k < kMeasured; ++k)
    configurations.push_back(
        at_time(motion.trajectory, frame_time(motion.trajectory, k, kMeasured)));
  return scene_of(motion.scenario, configurations);
}

/// An animation of pixels within an SVG; its first frame is there where nothing moves.
std::string svg_of_gif(const std::string& animation, const std::string& title) {
  static constexpr char kDigits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const auto byte = [&](std::size_t k) {
    return k < animation.size() ? static_cast<unsigned char>(animation[k]) : 0u;
  };
  std::string base64;
  for (std::size_t k = 0; k < animation.size(); k += 3) {
    const unsigned three = byte(k) << 16 | byte(k + 1) << 8 | byte(k + 2);
    for (int digit = 0; digit < 4; ++digit)
      base64 += k + digit > animation.size() ? '=' : kDigits[three >> (18 - 6 * digit) & 63];
  }
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\">\n<title>{2}</title>\n<image width=\"{0}\" height=\"{1}\" "
      "href=\"data:image/gif;base64,{3}\"/>\n</svg>\n",
      byte(6) | byte(7) << 8, byte(8) | byte(9) << 8, xml_text(title), base64);
}

}  // namespace

ModelStrip model_strip(const Motion& motion) {
  ModelStrip strip{.scene = scene_of(motion)};
  const Trajectory& t = motion.trajectory;
  for (int k = 0; k < kFrames; ++k) strip.q.push_back(at_time(t, frame_time(t, k, kFrames)));
  strip.images = images(motion.scenario, strip.scene, strip.q);
  return strip;
}

std::string script(const Motion& motion, const ModelStrip& strip, const std::string& terminal) {
  const Trajectory& t = motion.trajectory;
  const Scene& scene = strip.scene;
  const Vector2d size = scene.high - scene.low;
  const double aspect = size.x() / size.y();
  const int columns = aspect > 2.2 ? 2 : aspect < 0.5 ? kFrames : 4, rows = kFrames / columns;
  const double width = 1200, heading = 46, label = 22, panel = width / columns;
  const double height = rows * (panel / aspect + label) + heading;
  std::string text = fmt::format(
      "set terminal {} size {},{:.0f} font 'Helvetica,13' noenhanced\n"
      "set encoding utf8\nset multiplot title {} font ',16'\nunset key\nunset tics\n"
      "unset border\nset lmargin 0\nset rmargin 0\nset tmargin 0\nset bmargin 0\n"
      "set xrange [{}:{}]\nset yrange [{}:{}]\n",
      terminal, width, height, gnuplot_text(short_title(motion)), scene.low.x(), scene.high.x(),
      scene.low.y(), scene.high.y());
  for (int k = 0; k < kFrames; ++k) {
    const double time = frame_time(t, k, kFrames);
    const double from = height - heading - (k / columns + 1) * (panel / aspect + label);
    const GnuplotPicture drawn =
        scene.meshes ? gnuplot_picture(scene, strip.images[k])
                     : gnuplot_picture(motion.scenario, scene, strip.q[k], segments_of(terminal));
    text += fmt::format(
        "set origin {},{}\nset size {},{}\nset label 1 '{:.3g} s' at graph 0.04,0.95 front\n{}"
        "plot {}\n{}",
        (k % columns) / static_cast<double>(columns), from / height, 1.0 / columns,
        panel / aspect / height, time, drawn.objects, drawn.plot, drawn.data);
  }
  return text + "unset multiplot\n";
}

std::string model_gif(const Motion& motion) {
  const Trajectory& t = motion.trajectory;
  const Scene scene = scene_of(motion);
  const Vector2d size = scene.high - scene.low;
  const double width = 640 * std::min(1.0, size.x() / size.y());
  const Timing time = timing(t, 20, 200);
  return gif(
      time.frames, std::max(2, static_cast<int>(std::lround(100 * time.seconds / time.frames))),
      [&](int k) {
        const double at = frame_time(t, k, time.frames);
        Image image =
            pixels(motion.scenario, scene, at_time(t, at), std::max(16, static_cast<int>(width)));
        write_on(image, fmt::format("{:.2f} s", at));
        return image;
      });
}

std::string model_animated_svg(const Motion& motion) {
  const Trajectory& t = motion.trajectory;
  const Scene scene = scene_of(motion);
  if (scene.meshes) return svg_of_gif(model_gif(motion), short_title(motion));
  const Vector2d size = scene.high - scene.low;
  const double width = 640, scale = width / size.x(), height = scale * size.y();
  const Timing time = timing(t, 20, 120);
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.1f} {1:.1f}\" width=\"{0:.0f}\" "
      "height=\"{1:.0f}\" stroke-linejoin=\"round\" stroke-linecap=\"round\">\n<title>{2}</title>\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
      width, height, xml_text(short_title(motion)));
  // every frame is there all the time and visible in its turn
  for (int k = 0; k < time.frames; ++k) {
    const double at = frame_time(t, k, time.frames);
    const double from = k / static_cast<double>(time.frames), to = (k + 1.0) / time.frames;
    const bool last = k + 1 == time.frames;
    text += fmt::format(
        "<g visibility=\"{}\"><animate attributeName=\"visibility\" calcMode=\"discrete\" "
        "dur=\"{:.4g}s\" repeatCount=\"indefinite\" keyTimes=\"0;{}{}\" values=\"{}{}\"/>\n{}"
        "<text x=\"12\" y=\"22\" font-family=\"Helvetica\" font-size=\"14\">{:.2f} s</text></g>\n",
        k ? "hidden" : "visible", time.seconds, k ? fmt::format("{:.6f}", from) : "",
        last ? "" : fmt::format("{}{:.6f}", k ? ";" : "", to), k ? "hidden;visible" : "visible",
        last ? "" : ";hidden",
        svg_paths(picture(motion.scenario, scene, at_time(t, at), kCoarse), scene, scale), at);
  }
  return text + "</svg>\n";
}

}  // namespace routh::io
