#pragma once

#include <string>

#include "routh/io/motion.h"
#include "routh/io/scene.h"

/// Frames of a motion; inside this folder alone.
namespace routh::io {

constexpr int kFrames = 8;  // of a strip

/// Configuration at a time, between the recorded states.
Eigen::VectorXd at_time(const Trajectory& t, double time);
/// When the k-th of several frames is.
double frame_time(const Trajectory& t, int k, int frames);

/// Seconds that an animation lasts, and its number of frames.
struct Timing {
  double seconds;
  int frames;
};
Timing timing(const Trajectory& t, double per_second, int most);

std::string short_title(const Motion& motion);

/// "m" or "rad" of a coordinate, by what its name ends in, or "m/s" and "rad/s" of its velocity;
/// empty where the name does not tell.
std::string unit_of(const std::string& name, bool velocity);
/// The name with its unit, where it tells: "block.angle [rad]".
std::string with_unit(const std::string& name, bool velocity);

/// Of models in space.
struct ModelStrip {
  Scene scene;
  std::vector<Eigen::VectorXd> q;
  std::vector<Image> images;  ///< where faces are many
};
ModelStrip model_strip(const Motion& motion);
std::string script(const Motion& motion, const ModelStrip& strip, const std::string& terminal);
std::string model_gif(const Motion& motion);
std::string model_animated_svg(const Motion& motion);

}  // namespace routh::io
