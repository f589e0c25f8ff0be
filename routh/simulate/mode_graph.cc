#include "routh/simulate/mode_graph.h"

#include <algorithm>

#include "routh/simulate/mode_kernel.h"

namespace routh {

int ModeGraph::node(const std::string& name) {
  const auto known =
      std::find_if(nodes.begin(), nodes.end(), [&](const Node& n) { return n.name == name; });
  if (known != nodes.end()) return static_cast<int>(known - nodes.begin());
  nodes.push_back({.name = name});
  return static_cast<int>(nodes.size()) - 1;
}

ModeGraph::Edge& ModeGraph::edge(int from, int to, EventKind kind) {
  const auto known = std::find_if(edges.begin(), edges.end(), [&](const Edge& e) {
    return e.from == from && e.to == to && e.kind == kind;
  });
  if (known != edges.end()) return *known;
  edges.push_back({.from = from, .to = to, .kind = kind});
  return edges.back();
}

void ModeGraph::add(const Trajectory& trajectory, const std::vector<Contact>& contacts) {
  const HybridExtras* hybrid = trajectory.hybrid();
  if (!hybrid || hybrid->modes.empty()) return;
  ++motions;
  int at = node(to_string(hybrid->modes.front(), contacts));
  ++nodes[at].visits, ++nodes[at].starts;
  double since = trajectory.time.front();
  for (const Event& e : trajectory.events) {
    if (e.kind == EventKind::kAmbiguity) continue;  // nothing happens
    nodes[at].time += e.time - since;
    since = e.time;
    const int next = node(to_string(e.mode_after, contacts));
    Edge& edge = this->edge(at, next, e.kind);
    if (edge.count++ == 0) edge.first = edge.last = e.time;
    edge.first = std::min(edge.first, e.time), edge.last = std::max(edge.last, e.time);
    if (next != at) ++nodes[next].visits;
    at = next;
  }
  nodes[at].time += trajectory.final.time - since;
  ++nodes[at].ends;
}

void ModeGraph::add(const ModeGraph& other) {
  motions += other.motions;
  std::vector<int> places;
  for (const Node& n : other.nodes) {
    places.push_back(node(n.name));
    Node& mine = nodes[places.back()];
    mine.visits += n.visits, mine.starts += n.starts, mine.ends += n.ends, mine.time += n.time;
  }
  for (const Edge& e : other.edges) {
    Edge& mine = edge(places[e.from], places[e.to], e.kind);
    mine.first = mine.count > 0 ? std::min(mine.first, e.first) : e.first;
    mine.last = mine.count > 0 ? std::max(mine.last, e.last) : e.last;
    mine.count += e.count;
  }
}

}  // namespace routh
