#include "routh/io/scenario.h"

#include <fmt/format.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "routh/io/builtin_scenarios.h"
#include "routh/io/document.h"
#include "routh/io/files.h"

namespace routh::io {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector2d;
using Eigen::VectorXd;

const std::vector<std::string> kBoxCorners{"bottom_left", "bottom_right", "top_right", "top_left"};
const std::vector<std::string> kBoxEdges{"bottom", "right", "top", "left"};

/// Position in a list of names, or -1.
int index_of(const std::vector<std::string>& names, const std::string& name) {
  const auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? -1 : static_cast<int>(found - names.begin());
}

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts{""};
  for (const char c : text) {
    if (c == at) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

Shape read_shape(const std::string& name, const Field& field) {
  field.allow_keys({"point", "disc", "box", "polygon", "line", "at"});
  const Vector2d at = field.has("at") ? field["at"].vector2() : Vector2d::Zero();
  Shape shape{.name = name};
  if (field.has("point")) {
    shape.vertices = {field["point"].vector2()};
  } else if (field.has("disc")) {
    shape.vertices = {at};
    shape.radius = field["disc"].number();
    if (!(shape.radius > 0)) field["disc"].fail("the radius must be positive");
  } else if (field.has("box")) {
    const Vector2d half = 0.5 * field["box"].vector2();
    if (!(half.minCoeff() > 0)) field["box"].fail("width and height must be positive");
    for (const auto& [x, y] : {std::pair{-1, -1}, {1, -1}, {1, 1}, {-1, 1}})
      shape.vertices.push_back(at + Vector2d(x * half.x(), y * half.y()));
  } else if (field.has("polygon") || field.has("line")) {
    const Field list = field.has("polygon") ? field["polygon"] : field["line"];
    for (std::size_t i = 0; i < list.size(); ++i) shape.vertices.push_back(list[i].vector2());
    const std::size_t n = shape.vertices.size();
    if (field.has("line") ? n != 2 : n < 3)
      list.fail(field.has("line") ? "must be two points" : "must be at least three points");
    for (std::size_t i = 0; field.has("polygon") && i < n; ++i) {
      const Vector2d a = shape.vertices[(i + 1) % n] - shape.vertices[i];
      const Vector2d b = shape.vertices[(i + 2) % n] - shape.vertices[(i + 1) % n];
      if (a.x() * b.y() - a.y() * b.x() <= 0)
        list.fail("must be convex with its corners counter-clockwise");
    }
  } else {
    field.fail("must be a point, disc, box, polygon or line");
  }
  return shape;
}

/// Finds bodies, shapes and planes by name.
struct Directory {
  const PlanarMechanism& mechanism;
  std::map<std::string, Edge> planes = {};

  int body(const Field& field, const std::string& name) const {
    if (name == "world") return kWorld;
    std::vector<std::string> known;
    for (const Body& b : mechanism.bodies()) known.push_back(b.name);
    const int i = index_of(known, name);
    if (i < 0) {
      field.fail("there is no body '" + name + "'; " +
                 (known.empty() ? "bodies come first" : "known are " + join(known)));
    }
    return i;
  }

  /// "ground", "block.hull.bottom_left", "top.rim": a plane, an edge, a vertex or a disc.
  std::variant<Edge, Round> feature(const Field& field) const {
    const std::string name = field.text();
    if (const auto plane = planes.find(name); plane != planes.end()) return plane->second;
    const std::vector<std::string> parts = split(name, '.');
    if (parts.size() < 2) {
      std::vector<std::string> known;
      for (const auto& entry : planes) known.push_back(entry.first);
      field.fail("there is no plane '" + name + "' (known: " + join(known) +
                 "); features of bodies are named body.shape or body.shape.corner");
    }
    const int b = body(field, parts[0]);
    if (b == kWorld) field.fail("the world has planes only");
    const std::vector<Shape>& shapes = mechanism.bodies()[b].shapes;
    const auto shape = std::find_if(shapes.begin(), shapes.end(),
                                    [&](const Shape& s) { return s.name == parts[1]; });
    if (shape == shapes.end())
      field.fail("body '" + parts[0] + "' has no shape '" + parts[1] + "'");
    if (shape->vertices.size() == 1) return Round{b, shape->vertices[0], shape->radius};
    if (parts.size() != 3) field.fail("name a corner or an edge of '" + name + "'");

    // corner k by name or number, edge k by name or "edgek"
    const std::string& part = parts[2];
    const int n = static_cast<int>(shape->vertices.size());
    int corner = n == 4 ? index_of(kBoxCorners, part) : -1;
    int edge = n == 4 ? index_of(kBoxEdges, part) : -1;
    const auto numbered = [&](const std::string& digits) {
      return !digits.empty() && digits.size() < 4 &&
                     std::all_of(digits.begin(), digits.end(), ::isdigit)
                 ? std::stoi(digits)
                 : -1;
    };
    if (corner < 0) corner = numbered(part);
    if (edge < 0 && part.rfind("edge", 0) == 0) edge = numbered(part.substr(4));
    if (corner >= 0 && corner < n) return Round{b, shape->vertices[corner], 0};
    if (edge >= 0 && edge < n) {
      const Vector2d from = shape->vertices[edge], along = shape->vertices[(edge + 1) % n] - from;
      return Edge{b, from, Vector2d(along.y(), -along.x()).normalized(), along.norm()};
    }
    field.fail(fmt::format("'{}' has no corner or edge '{}'; it has corners 0 to {}{}", parts[1],
                           part, n - 1, n == 4 ? " or " + join(kBoxCorners) : ""));
  }
};

PlanarMechanism read_mechanism(const Field& field) {
  field.allow_keys({"bodies", "planes", "pins", "contacts", "gravity"});
  PlanarMechanism mechanism;
  Directory directory{mechanism};
  if (field.has("gravity")) mechanism.gravity = field["gravity"].vector2();

  // errors of the builder become errors of the field
  const auto add = [&](const Field& at, auto thing) {
    try {
      mechanism.add(std::move(thing));
    } catch (const std::invalid_argument& e) {
      at.fail(e.what());
    }
  };

  const Field bodies = field["bodies"];
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    const Field f = bodies[i];
    f.allow_keys(
        {"name", "parent", "joint", "at", "angle", "axis", "mass", "inertia", "centre", "shapes"});
    Body body{.name = f["name"].text()};
    const std::vector<std::string> joints{"floating", "revolute", "prismatic", "fixed"};
    const std::string joint = f.text_or("joint", "floating");
    if (index_of(joints, joint) < 0) f["joint"].fail("must be one of " + join(joints));
    body.joint = static_cast<Joint>(index_of(joints, joint));
    if (f.has("parent")) body.parent = directory.body(f["parent"], f["parent"].text());
    if (f.has("at")) body.at = f["at"].vector2();
    if (f.has("axis")) body.axis = f["axis"].vector2();
    if (f.has("centre")) body.centre = f["centre"].vector2();
    body.angle = f.number_or("angle", 0);
    body.mass = f.number_or("mass", 0);
    body.inertia = f.number_or("inertia", 0);
    if (f.has("shapes")) {
      for (const std::string& name : f["shapes"].keys())
        body.shapes.push_back(read_shape(name, f["shapes"][name]));
    }
    add(f, std::move(body));
  }

  if (field.has("planes")) {
    for (const std::string& name : field["planes"].keys()) {
      const Field f = field["planes"][name];
      f.allow_keys({"point", "normal"});
      const Vector2d normal = f["normal"].vector2();
      if (!(normal.norm() > 0)) f["normal"].fail("must not be zero");
      directory.planes[name] = Edge{kWorld, f["point"].vector2(), normal.normalized(), 0};
    }
  }

  if (field.has("pins")) {
    for (std::size_t i = 0; i < field["pins"].size(); ++i) {
      const Field f = field["pins"][i];
      f.allow_keys({"name", "body", "at", "other", "at_other"});
      Pin pin{.name = f.text_or("name", fmt::format("pin {}", i))};
      pin.body = directory.body(f["body"], f["body"].text());
      pin.at = f["at"].vector2();
      if (f.has("other")) pin.other = directory.body(f["other"], f["other"].text());
      if (f.has("at_other")) pin.at_other = f["at_other"].vector2();
      add(f, std::move(pin));
    }
  }

  const Field contacts = field["contacts"];
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const Field f = contacts[i];
    f.allow_keys({"name", "between", "friction"});
    const Field between = f["between"];
    if (!between.is_sequence() || between.size() != 2)
      between.fail("must be two features, such as [block.hull.bottom_left, ground]");
    const auto first = directory.feature(between[0]);
    if (!std::holds_alternative<Round>(first))
      between[0].fail("the first must be a corner, a point or a disc");
    add(f, ContactPair{.name = f["name"].text(),
                       .first = std::get<Round>(first),
                       .second = directory.feature(between[1]),
                       .mu = f["friction"].number()});
  }
  return mechanism;
}

/// The start of a mechanism: named coordinates, then conditions that determine the rest.
void read_start(const Field& field, Scenario& scenario) {
  field.allow_keys({"q", "v", "touch", "rest"});
  const PlanarMechanism& mechanism = *scenario.mechanism;
  const auto coordinate = [&](const Field& at, const std::string& name) {
    const int i = index_of(mechanism.coordinates(), name);
    if (i < 0)
      at.fail("there is no coordinate '" + name + "'; known are " + join(mechanism.coordinates()));
    return i;
  };
  const auto assign = [&](const std::string& key, VectorXd& x) {
    x = VectorXd::Zero(mechanism.nv());
    if (!field.has(key)) return;
    for (const std::string& name : field[key].keys())
      x[coordinate(field[key], name)] = field[key][name].number();
  };
  assign("q", scenario.q);
  assign("v", scenario.v);

  const auto contact = [&](const Field& at, const std::string& name) {
    std::vector<std::string> known;
    for (const ContactPair& c : mechanism.contacts()) known.push_back(c.name);
    const int i = index_of(known, name);
    if (i < 0) at.fail("there is no contact '" + name + "'; known are " + join(known));
    return i;
  };

  // touch: Newton on the named coordinates closes the named gaps
  if (field.has("touch")) {
    const Field touch = field["touch"];
    std::vector<int> which, by;
    for (const std::string& name : touch.keys()) {
      which.push_back(contact(touch, name));
      by.push_back(coordinate(touch[name], touch[name].text()));
    }
    double worst = 0;
    for (int iteration = 0; iteration < 50; ++iteration) {
      const Terms terms = mechanism.terms(scenario.q, scenario.v);
      VectorXd gap(which.size());
      MatrixXd slope(which.size(), by.size());
      for (std::size_t i = 0; i < which.size(); ++i) {
        gap[i] = terms.contacts[which[i]].phi;
        for (std::size_t k = 0; k < by.size(); ++k)
          slope(i, k) = terms.contacts[which[i]].Jn[by[k]];
      }
      worst = gap.lpNorm<Eigen::Infinity>();
      if (worst < 1e-14) break;
      scenario.q(by) -= slope.fullPivLu().solve(gap);
    }
    if (!(worst < 1e-9)) touch.fail("the contacts cannot be closed by these coordinates");
  }

  // rest: the named velocities make the named contacts stand still
  if (field.has("rest")) {
    const Field rest = field["rest"];
    const Terms terms = mechanism.terms(scenario.q, scenario.v);
    for (const std::string& name : rest.keys()) {
      const Contact& at = terms.contacts[contact(rest, name)];
      std::vector<int> by;
      for (std::size_t i = 0; i < rest[name].size(); ++i)
        by.push_back(coordinate(rest[name][i], rest[name][i].text()));
      MatrixXd rows(2, mechanism.nv());
      rows << at.Jn, at.Jt;
      VectorXd others = scenario.v;
      others(by).setZero();
      const Eigen::FullPivLU<MatrixXd> lu(rows(Eigen::all, by));
      if (by.size() != 2 || !lu.isInvertible())
        rest[name].fail("must be two coordinates whose velocities move the contact");
      scenario.v(by) = lu.solve(-rows * others);
    }
  }
}

/// Plain matrices: M, Jn, Jt, mu, v and optionally A, contact names, gaps and step.
void read_matrices(const Field& field, Scenario& scenario) {
  field.allow_keys({"title", "parameters", "M", "Jn", "Jt", "mu", "v", "A", "names", "impact"});
  Terms& terms = scenario.terms;
  scenario.v = field["v"].vector();
  const Eigen::Index nv = scenario.v.size();
  terms.M = field["M"].matrix();
  if (terms.M.rows() != nv || terms.M.cols() != nv) {
    field["M"].fail(fmt::format("is {} x {}; v has {} entries, so M must be {} x {}",
                                terms.M.rows(), terms.M.cols(), nv, nv, nv));
  }
  terms.forces = VectorXd::Zero(nv);
  const MatrixXd Jn = field["Jn"].matrix(), Jt = field["Jt"].matrix();
  const Eigen::Index m = Jn.rows();
  for (const auto& [name, J] : {std::pair<std::string, const MatrixXd&>{"Jn", Jn}, {"Jt", Jt}}) {
    if (J.cols() != nv)
      field[name].fail(fmt::format("has {} columns; v has {} entries", J.cols(), nv));
  }
  if (m == 0) field["Jn"].fail("there must be at least one contact");
  if (Jt.rows() != m && Jt.rows() != 2 * m) {
    field["Jt"].fail(
        fmt::format("has {} rows; with {} contacts it must have {} (planar) or {} (in space)",
                    Jt.rows(), m, m, 2 * m));
  }
  VectorXd mu = field["mu"].is_sequence() ? field["mu"].vector()
                                          : VectorXd::Constant(m, field["mu"].number());
  if (mu.size() != m)
    field["mu"].fail(fmt::format("has {} entries; there are {} contacts", mu.size(), m));
  if (mu.minCoeff() < 0) field["mu"].fail("friction must not be negative");
  terms.A = field.has("A") ? field["A"].matrix() : MatrixXd(0, nv);
  if (terms.A.cols() != nv)
    field["A"].fail(fmt::format("has {} columns; v has {} entries", terms.A.cols(), nv));
  if (terms.A.rows() > 0 &&
      (terms.A * scenario.v).lpNorm<Eigen::Infinity>() >
          1e-9 * (terms.A.cwiseAbs() * scenario.v.cwiseAbs()).lpNorm<Eigen::Infinity>())
    field["v"].fail("violates the bilateral rows: A v must be zero");
  terms.joint_gap = VectorXd::Zero(terms.A.rows());

  const Eigen::Index tangents = Jt.rows() / m;
  if (field.has("names") && field["names"].size() != static_cast<std::size_t>(m))
    field["names"].fail(fmt::format("must name all {} contacts", m));
  for (Eigen::Index i = 0; i < m; ++i) {
    terms.contacts.push_back({.name = field.has("names") ? field["names"][i].text()
                                      : i < 26 ? std::string(1, static_cast<char>('A' + i))
                                               : fmt::format("C{}", i),
                              .phi = 0,
                              .Jn = Jn.row(i),
                              .Jt = Jt.middleRows(i * tangents, tangents),
                              .mu = mu[i]});
  }
}

/// Declared parameters with the overrides put in; their values become known to all expressions.
void read_parameters(const Field& root, const std::vector<Override>& overrides, Values& values,
                     Scenario& scenario) {
  std::vector<std::string> known;
  if (root.has("parameters")) known = root["parameters"].keys();
  for (const Override& o : overrides) {
    if (index_of(known, o.name) >= 0) continue;
    const std::string close = nearest(o.name, known);
    throw InputError(fmt::format("--set {}: {} has no such parameter; {}", o.name, scenario.name,
                                 !close.empty()  ? "did you mean '" + close + "'?"
                                 : known.empty() ? "it has none"
                                                 : "known are " + join(known)));
  }
  for (const std::string& name : known) {
    const Field f = root["parameters"][name];
    f.allow_keys({"value", "unit", "about"});
    Parameter parameter{name, 0, f.text_or("unit", ""), f.text_or("about", "")};
    const auto given = std::find_if(overrides.rbegin(), overrides.rend(),
                                    [&](const Override& o) { return o.name == name; });
    parameter.value = given != overrides.rend() ? given->value : f["value"].number();
    values[name] = parameter.value;
    scenario.parameters.push_back(std::move(parameter));
  }
}

}  // namespace

std::vector<std::string> scenario_names() {
  std::vector<std::string> names;
  for (const BuiltinScenario& s : builtin_scenarios()) names.emplace_back(s.name);
  std::sort(names.begin(), names.end());
  return names;
}

Scenario load_scenario(const std::string& name_or_path, const std::vector<Override>& overrides) {
  // a built-in name or a file
  std::string text, file = name_or_path;
  for (const BuiltinScenario& s : builtin_scenarios()) {
    if (name_or_path == s.name) text = s.text, file = "scenarios/" + name_or_path + ".yaml";
  }
  if (text.empty()) {
    if (!std::filesystem::exists(name_or_path)) {
      const std::string close = nearest(name_or_path, scenario_names());
      throw InputError(fmt::format(
          "there is no scenario or file '{}'; {}", name_or_path,
          close.empty() ? "'routh list' shows the scenarios" : "did you mean '" + close + "'?"));
    }
    text = read_file(name_or_path);
  }

  Scenario scenario{.name = name_or_path};
  Values values;
  const Field root = parse(text, file, &values);
  scenario.title = root.text_or("title", name_or_path);
  read_parameters(root, overrides, values, scenario);
  if (root.has("mechanism")) {
    root.allow_keys({"title", "parameters", "mechanism", "start", "impact"});
    scenario.mechanism = read_mechanism(root["mechanism"]);
    read_start(root["start"], scenario);
    scenario.terms = scenario.mechanism->terms(scenario.q, scenario.v);
  } else if (root.has("M")) {
    read_matrices(root, scenario);
  } else {
    root.fail("must have either 'mechanism' or the matrices M, Jn, Jt, mu, v");
  }
  if (root.has("impact")) {
    const Field impact = root["impact"];
    impact.allow_keys({"step", "limit", "samples"});
    scenario.impact.step = impact.number_or("step", scenario.impact.step);
    scenario.impact.limit = static_cast<int>(impact.number_or("limit", scenario.impact.limit));
    scenario.impact.samples =
        static_cast<std::uint64_t>(impact.number_or("samples", static_cast<double>(1 << 14)));
    if (!(scenario.impact.step > 0)) impact["step"].fail("must be positive");
    if (scenario.impact.limit < 1) impact["limit"].fail("must be at least 1");
  }
  return scenario;
}

}  // namespace routh::io
