#pragma once

#include <functional>
#include <string>

#include "routh/io/raster.h"

/// Animations of pixels in GIF: one palette for all frames.
namespace routh::io {

/// frame(k) for k from 0 to frames - 1, all of one size, asked by several threads at once; `delay`
/// in hundredths of a second. A few frames are asked for twice, for the palette.
std::string gif(int frames, int delay, const std::function<Image(int)>& frame);

}  // namespace routh::io
