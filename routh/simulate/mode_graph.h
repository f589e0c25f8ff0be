#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "routh/model/system.h"
#include "routh/simulate/trajectory.h"

namespace routh {

/// Modes that hybrid executions went through and the transitions between them, P4 Fig. 6: of one
/// motion or of many.
struct ModeGraph {
  struct Node {
    std::string name;          ///< "{l, r}"
    std::uint64_t visits = 0;  ///< how often it was entered, starts included
    std::uint64_t starts = 0;  ///< motions that begin in it
    std::uint64_t ends = 0;    ///< and that end in it
    double time = 0;           ///< spent in it, of all motions together [s]
  };
  struct Edge {
    int from = 0, to = 0;  ///< of nodes; the same where an event keeps the mode
    EventKind kind = EventKind::kImpact;
    std::uint64_t count = 0;
    double first = 0, last = 0;  ///< when [s]
  };
  std::uint64_t motions = 0;
  std::vector<Node> nodes;  ///< in the order of their first visits
  std::vector<Edge> edges;  ///< one for each pair of modes and kind of event

  /// Adds a motion. Those of methods without modes add nothing.
  void add(const Trajectory& trajectory, const std::vector<Contact>& contacts);
  /// Adds what others went through.
  void add(const ModeGraph& other);

 private:
  int node(const std::string& name);
  Edge& edge(int from, int to, EventKind kind);
};

}  // namespace routh
