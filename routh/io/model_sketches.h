#pragma once

#include <string>
#include <vector>

#include "routh/io/figures.h"

/// Pictures of a model before and after an impact; inside this folder alone.
namespace routh::io {

/// An outcome among those shown that has a letter of its own.
struct Marked {
  std::string letter, title, colour;
  Eigen::VectorXd velocity, c_plus;
};

/// Up to three outcomes of the laws and the set that differ most in their contact velocities.
std::vector<Marked> marked_outcomes(const ImpactCase& impact, const ImpactFigure& figure);

/// A row of pictures in a multiplot: a moment before, and a moment after with each of these
/// outcomes. `height` is that of the whole figure, `top` where the row begins, both in pixels.
std::string model_sketches(const ImpactCase& impact, const std::vector<Marked>& outcomes,
                           double width, double height, double top, double row);

}  // namespace routh::io
