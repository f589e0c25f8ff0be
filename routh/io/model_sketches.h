#pragma once

#include <string>
#include <vector>

#include "routh/io/figures.h"
#include "routh/io/scene.h"

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

/// A model a moment before the impact, and a moment after it with each of several outcomes.
struct ModelSketches {
  std::vector<std::string> titles;
  std::vector<Eigen::VectorXd> q, v;
  Scene scene;
  std::vector<Image> images;  ///< where faces are many

  double aspect() const { return (scene.high - scene.low).x() / (scene.high - scene.low).y(); }
};
ModelSketches sketch(const ImpactCase& impact, const std::vector<Marked>& outcomes);

/// Where pictures are in a figure, in pixels from its upper end.
struct SketchRow {
  double figure = 0;  ///< height of the whole figure
  double top = 0, height = 0;
  int segments = 20;  ///< of round shapes
};

/// The sketches side by side in a multiplot. Arrows show how bodies move against each other at the
/// contacts.
std::string sketch_row(const ImpactCase& impact, const ModelSketches& sketches,
                       const SketchRow& place);

}  // namespace routh::io
