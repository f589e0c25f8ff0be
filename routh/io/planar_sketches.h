#pragma once

#include <map>
#include <string>
#include <vector>

#include "routh/io/figures.h"

/// Pictures of a mechanism before and after an impact; inside this folder alone.
namespace routh::io {

/// Colours of the laws in turn.
class Colours {
 public:
  /// Has the law of the row a colour that is not taken?
  bool left(const OutcomeRow& row) { return taken_[row.laws.front()] < of(row).size(); }
  std::string next(const OutcomeRow& row);

 private:
  static const std::vector<std::string>& of(const OutcomeRow& row);
  std::map<std::string, std::size_t> taken_;
};

/// The mechanism at the impact in grey, and a moment before or after it in colour.
struct PlanarSketch {
  std::string title, colour;
  Eigen::VectorXd q, v;
};
struct PlanarSketches {
  std::vector<PlanarSketch> all;
  Eigen::Vector2d low, high;  ///< of each [m]

  double aspect() const { return (high - low).x() / (high - low).y(); }
};
/// Before, and up to three outcomes of the laws.
PlanarSketches planar_sketches(const ImpactCase& impact, const ImpactFigure& figure);

/// The sketches side by side in a multiplot of so many pixels, from so far below its upper end.
/// Arrows show how bodies move against each other at the contacts.
std::string sketch_row(const ImpactCase& impact, const PlanarSketches& sketches,
                       const Eigen::Vector2d& figure, double top, double height);

}  // namespace routh::io
