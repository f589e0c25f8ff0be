#pragma once

#include <string>

#include "routh/io/json.h"
#include "routh/simulate/mode_graph.h"

/// The graph of modes as a drawing and as JSON.
namespace routh::io {

/// Nodes in the order of their first visits, edges by their numbers.
Json to_json(const ModeGraph& graph);

/// An SVG: modes on a ring in the order of their first visits, larger the longer they last; arrows
/// as thick as they are often taken, with counts and times. Of more than two dozen modes the most
/// visited, and the title says so.
std::string to_svg(const ModeGraph& graph, const std::string& title);

}  // namespace routh::io
