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

/// Names of the touching contacts, without what they have in common.
std::vector<std::string> short_names(const ImpactCase& impact);

/// Where pictures are in a figure, in pixels from its upper end.
struct SketchRow {
  double figure = 0;  ///< height of the whole figure
  double top = 0, height = 0;
};

/// A row of pictures in a multiplot: a moment before, and a moment after with each of these
/// outcomes. Arrows show how the bodies move against each other at the contacts.
std::string model_sketches(const ImpactCase& impact, const std::vector<Marked>& outcomes,
                           const SketchRow& place);

}  // namespace routh::io
