#include "routh/io/mode_graph.h"

#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "routh/io/text.h"

namespace routh::io {
namespace {

using Eigen::Vector2d;

constexpr std::size_t kDrawnModes = 24;   // modes that fit
constexpr std::size_t kModeLetters = 34;  // of a name
constexpr double kRingMiddle = 430;       // of the ring [px]
constexpr double kRingRadius = 300;       // its radius
constexpr double kArrowBend = 0.16;       // of an arrow, of its length

std::string shortened(const std::string& name) {
  return name.size() > kModeLetters ? valid_utf8(name.substr(0, kModeLetters - 2)) + ".." : name;
}

std::string times(const ModeGraph::Edge& e) {
  return e.first == e.last ? fmt::format("{:.4g} s", e.first)
                           : fmt::format("{:.4g} to {:.4g} s", e.first, e.last);
}

/// Which modes are drawn, in the order of their first visits.
std::vector<int> shown(const ModeGraph& graph) {
  std::vector<int> order(graph.nodes.size());
  std::iota(order.begin(), order.end(), 0);
  if (order.size() <= kDrawnModes) return order;
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return graph.nodes[a].visits > graph.nodes[b].visits; });
  order.resize(kDrawnModes);
  std::sort(order.begin(), order.end());
  return order;
}

/// All transitions from a mode to another are one arrow.
struct Arrow {
  int from, to;
  std::uint64_t count = 0;
  double first = HUGE_VAL, last = -HUGE_VAL;
  std::string about;  // by kinds
};

std::vector<Arrow> arrows(const ModeGraph& graph) {
  std::vector<Arrow> all;
  for (const ModeGraph::Edge& e : graph.edges) {
    auto known = std::find_if(all.begin(), all.end(),
                              [&](const Arrow& a) { return a.from == e.from && a.to == e.to; });
    if (known == all.end()) known = all.insert(all.end(), {e.from, e.to});
    known->count += e.count;
    known->first = std::min(known->first, e.first), known->last = std::max(known->last, e.last);
    known->about += fmt::format("{}{} {}, {}", known->about.empty() ? "" : "; ", e.count,
                                to_string(e.kind), times(e));
  }
  return all;
}

}  // namespace

Json to_json(const ModeGraph& graph) {
  Json j{{"motions", graph.motions}, {"modes", Json::array()}, {"transitions", Json::array()}};
  for (const ModeGraph::Node& n : graph.nodes) {
    j["modes"].push_back({{"name", n.name},
                          {"visits", n.visits},
                          {"starts", n.starts},
                          {"ends", n.ends},
                          {"time", n.time}});
  }
  for (const ModeGraph::Edge& e : graph.edges) {
    j["transitions"].push_back({{"from", e.from},
                                {"to", e.to},
                                {"kind", to_string(e.kind)},
                                {"count", e.count},
                                {"first", e.first},
                                {"last", e.last}});
  }
  return j;
}

std::string to_svg(const ModeGraph& graph, const std::string& title) {
  const std::vector<int> order = shown(graph);
  const auto n = static_cast<double>(order.size());
  double longest = 1e-300, total = 0;
  for (const ModeGraph::Node& node : graph.nodes)
    longest = std::max(longest, node.time), total += node.time;
  std::vector<Vector2d> place(graph.nodes.size(), Vector2d::Constant(NAN));
  std::vector<double> radius(graph.nodes.size(), 0);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(i) / std::max(1.0, n);
    place[order[i]] = Vector2d(kRingMiddle + 130, kRingMiddle) +
                      (n > 1 ? kRingRadius : 0) * Vector2d(std::sin(angle), -std::cos(angle));
    radius[order[i]] = 9 + 15 * std::sqrt(graph.nodes[order[i]].time / longest);
  }
  const std::string left_out =
      order.size() == graph.nodes.size()
          ? ""
          : fmt::format("; {} of {} modes are drawn", order.size(), graph.nodes.size());
  std::string svg = fmt::format(
      "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 1120 860' font-family='Helvetica, "
      "Arial, sans-serif' font-size='13'>\n"
      "<defs><marker id='tip' viewBox='0 0 8 8' refX='7' refY='4' markerWidth='9' "
      "markerHeight='9' markerUnits='userSpaceOnUse' orient='auto'><path d='M0,0 L8,4 L0,8 z' "
      "fill='#5a6472'/></marker></defs>\n<rect width='1120' height='860' fill='white'/>\n"
      "<text x='24' y='34' font-size='18'>{}</text>\n<text x='24' y='56' fill='#5a6472'>{} "
      "motion{}, {:.4g} s in {} modes{}</text>\n",
      xml_text(title), graph.motions, graph.motions == 1 ? "" : "s", total, graph.nodes.size(),
      left_out);

  // arrows bend to their left, so that there and back are two
  std::uint64_t most = 1;
  const std::vector<Arrow> all = arrows(graph);
  for (const Arrow& a : all) most = std::max(most, a.count);
  std::string labels;
  for (const Arrow& a : all) {
    if (!place[a.from].allFinite() || !place[a.to].allFinite()) continue;
    const double width =
        1 + 4 * std::sqrt(static_cast<double>(a.count) / static_cast<double>(most));
    const Vector2d from = place[a.from], to = place[a.to];
    Vector2d start, control, end;
    if (a.from == a.to) {
      const Vector2d out =
          n > 1 ? (from - Vector2d(kRingMiddle + 130, kRingMiddle)).normalized() : Vector2d(0, -1);
      const Vector2d side(-out.y(), out.x());
      start = from + radius[a.from] * (0.6 * out + 0.8 * side);
      end = from + radius[a.from] * (0.6 * out - 0.8 * side);
      control = from + (radius[a.from] + 52) * out;
    } else {
      const Vector2d way = to - from, left(way.y(), -way.x());
      control = 0.5 * (from + to) + kArrowBend * left;
      start = from + radius[a.from] * (control - from).normalized();
      end = to + (radius[a.to] + 2) * (control - to).normalized();
    }
    svg += fmt::format(
        "<path d='M{:.1f},{:.1f} Q{:.1f},{:.1f} {:.1f},{:.1f}' fill='none' stroke='#9aa5b4' "
        "stroke-width='{:.1f}' marker-end='url(#tip)'><title>{} to {}: {}</title></path>\n",
        start.x(), start.y(), control.x(), control.y(), end.x(), end.y(), width,
        xml_text(graph.nodes[a.from].name), xml_text(graph.nodes[a.to].name), xml_text(a.about));
    const Vector2d at = 0.25 * start + 0.5 * control + 0.25 * end;
    const std::string when = a.first == a.last ? fmt::format("{:.4g} s", a.first)
                                               : fmt::format("{:.3g}-{:.3g} s", a.first, a.last);
    labels += fmt::format(
        "<text x='{:.1f}' y='{:.1f}' font-size='11' fill='#5a6472' text-anchor='middle' "
        "paint-order='stroke' stroke='white' stroke-width='3'>{}× {}</text>\n",
        at.x(), at.y(), a.count, when);
  }
  for (const int k : order) {
    const ModeGraph::Node& node = graph.nodes[k];
    const Vector2d p = place[k];
    const bool right = p.x() >= kRingMiddle + 130;
    svg += fmt::format(
        "<circle cx='{:.1f}' cy='{:.1f}' r='{:.1f}' fill='{}' stroke='#1f3a5f' "
        "stroke-width='{}'><title>{}: entered {} times, {:.6g} s</title></circle>\n",
        p.x(), p.y(), radius[k], node.starts > 0 ? "#1f5fbf" : "#cfe0f5", node.ends > 0 ? 4 : 1.2,
        xml_text(node.name), node.visits, node.time);
    labels += fmt::format(
        "<text x='{:.1f}' y='{:.1f}' text-anchor='{}' paint-order='stroke' stroke='white' "
        "stroke-width='4'>{}<tspan fill='#5a6472'> {}×, {:.3g} s</tspan></text>\n",
        p.x() + (right ? 1 : -1) * (radius[k] + 8), p.y() + 4, right ? "start" : "end",
        xml_text(shortened(node.name)), node.visits, node.time);
  }
  svg += labels;
  svg +=
      "<text x='24' y='836' fill='#5a6472'>filled: motions begin here; thick rim: motions end "
      "here; size: time spent; arrows: count and when</text>\n";
  return svg + "</svg>\n";
}

}  // namespace routh::io
