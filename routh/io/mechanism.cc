#include "routh/io/mechanism.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <set>

#include "routh/io/text.h"

namespace routh::io {
namespace {

using Eigen::Vector2d;
using Eigen::VectorXd;

// what dense matrices of a mechanism have room for
constexpr int kMostRepeats = 10'000;
constexpr int kMostCoordinates = 6'000;
constexpr std::size_t kLargestJacobian = 30'000'000;  // numbers

const std::vector<std::string> kBoxCorners{"bottom_left", "bottom_right", "top_right", "top_left"};
const std::vector<std::string> kBoxEdges{"bottom", "right", "top", "left"};

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
  std::map<std::string, std::variant<Edge, Round, Polygon, Track>> planes = {};

  int body(const Field& field, const std::string& name) const {
    if (name == "world") return kWorld;
    const std::vector<Body>& bodies = mechanism.bodies();
    const auto found =
        std::find_if(bodies.begin(), bodies.end(), [&](const Body& b) { return b.name == name; });
    if (found != bodies.end()) return static_cast<int>(found - bodies.begin());
    std::vector<std::string> known;
    for (const Body& b : bodies) known.push_back(b.name);
    field.fail("there is no body '" + name + "'; " +
               (known.empty() ? "bodies come first" : "known are " + join(known)));
  }

  const Shape& named_shape(const Field& field, const std::string& owner,
                           const std::string& name) const {
    const int b = body(field, owner);
    if (b == kWorld) field.fail("the world has planes only");
    const std::vector<Shape>& shapes = mechanism.bodies()[b].shapes;
    const auto found =
        std::find_if(shapes.begin(), shapes.end(), [&](const Shape& s) { return s.name == name; });
    if (found == shapes.end()) field.fail("body '" + owner + "' has no shape '" + name + "'");
    return *found;
  }

  /// A whole shape, when the field names one that has corners.
  const Shape* shape(const Field& field, int& owner) const {
    const std::vector<std::string> parts = split(field.text(), '.');
    if (parts.size() != 2) return nullptr;
    owner = body(field, parts[0]);
    if (owner == kWorld) return nullptr;
    for (const Shape& s : mechanism.bodies()[owner].shapes) {
      if (s.name == parts[1] && s.vertices.size() > 2) return &s;
    }
    return nullptr;
  }

  /// "ground", "block.hull.bottom_left", "top.rim": a plane, an edge, a vertex or a disc; a whole
  /// polygon "block.hull" where a corner may meet any of its edges.
  std::variant<Edge, Round, Polygon, Track> feature(const Field& field) const {
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
    const Shape* shape = &named_shape(field, parts[0], parts[1]);
    if (shape->vertices.size() == 1) return Round{b, shape->vertices[0], shape->radius};
    if (parts.size() == 2 && shape->vertices.size() > 2) return Polygon{b, shape->vertices};
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

/// Calls read(item) for every item of a list. An item with `for: {i: [first, last]}` is read once
/// for each i, which its expressions and {..} in its names may use.
template <typename Read>
void each(const Field& list, Values& values, const Read& read, bool needed = false) {
  if (!list.is_sequence()) list.fail("must be a list, each item after a dash");
  for (std::size_t k = 0; k < list.size(); ++k) {
    const Field item = list[k];
    if (!item.has("for")) {
      read(item);
      continue;
    }
    const Field loop = item["for"];
    const std::vector<std::string> names = loop.is_map() ? loop.keys() : std::vector<std::string>{};
    if (names.size() != 1 || loop[names[0]].size() != 2)
      loop.fail("must be one name with its first and last value, such as {i: [1, n]}");
    if (values.count(names[0])) loop.fail("'" + names[0] + "' is already a parameter");
    // a list of nothing but repeats needs at least one of them
    const Field bounds = loop[names[0]];
    const double first = bounds[0].number(), last = bounds[1].number();
    const double least = list.size() == 1 && needed ? first : first - 1;
    if (first != std::floor(first)) bounds[0].fail("must be a whole number");
    if (last != std::floor(last) || last < least) {
      bounds[1].fail(fmt::format("'{}' is {}; it must be a whole number of at least {}",
                                 bounds[1].text(), last, least));
    }
    if (last - first >= kMostRepeats)
      bounds.fail(fmt::format("repeats {:.0f} times; at most {} are possible", last - first + 1,
                              kMostRepeats));
    for (double i = first; i <= last; ++i) {
      values[names[0]] = i;
      read(item);
    }
    values.erase(names[0]);
  }
}

/// Reads the parts of a mechanism one after the other.
struct Reader {
  Values& values;
  LoadedMechanism loaded = {};
  Directory directory{loaded.mechanism};
  std::vector<double> q = {}, v = {};
  std::set<std::string> contacts = {};   ///< names
  std::vector<std::string> senses = {};  ///< that forces may read

  /// Errors of the builder become errors of the field.
  template <typename Thing>
  void add(const Field& at, Thing thing) {
    try {
      loaded.mechanism.add(std::move(thing));
    } catch (const std::invalid_argument& e) {
      at.fail(e.what());
    }
  }

  int coordinate(const Field& field) const {
    const std::vector<std::string>& known = loaded.mechanism.coordinates();
    const int i = index_of(known, field.text());
    if (i < 0) {
      field.fail("there is no coordinate '" + field.text() + "'; known are " + join(known));
    }
    return i;
  }

  void body(const Field& f) {
    f.allow_keys({"name", "parent", "joint", "at", "angle", "axis", "mass", "inertia", "centre",
                  "shapes", "q", "v", "for"});
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
    if (loaded.mechanism.nv() > kMostCoordinates)
      f.fail(fmt::format("too many bodies: more than {} coordinates", kMostCoordinates));

    // where it starts: one number per coordinate of its joint
    const auto start = [&](const char* key, std::vector<double>& x) {
      const std::size_t own = loaded.mechanism.nv() - x.size();
      VectorXd given = VectorXd::Zero(own);
      if (f.has(key)) {
        given = f[key].is_sequence() ? f[key].vector() : VectorXd::Constant(1, f[key].number());
        if (static_cast<std::size_t>(given.size()) != own)
          f[key].fail(fmt::format("must have {} numbers for a {} joint", own, joint));
      }
      x.insert(x.end(), given.begin(), given.end());
    };
    start("q", q);
    start("v", v);
  }

  void plane(const std::string& name, const Field& f) {
    if (f.has("curve")) {
      f.allow_keys({"curve"});
      const VectorXd curve = f["curve"].vector();
      directory.planes[name] = Track{{curve.begin(), curve.end()}};
      return;
    }
    f.allow_keys({"point", "normal"});
    const Vector2d normal = f["normal"].vector2();
    if (!(normal.norm() > 0)) f["normal"].fail("must not be zero");
    directory.planes[name] = Edge{kWorld, f["point"].vector2(), normal.normalized(), 0};
  }

  void pin(const Field& f) {
    f.allow_keys({"name", "body", "at", "other", "at_other", "for"});
    Pin pin{.name = f.text_or("name", fmt::format("pin {}", loaded.mechanism.pins().size()))};
    ends(f, pin);
    add(f, std::move(pin));
  }

  /// The two points of a pin or a spring.
  template <typename Thing>
  void ends(const Field& f, Thing& thing) const {
    thing.body = directory.body(f["body"], f["body"].text());
    thing.at = f["at"].vector2();
    if (f.has("other")) thing.other = directory.body(f["other"], f["other"].text());
    if (f.has("at_other")) thing.at_other = f["at_other"].vector2();
  }

  void lock(const Field& f) {
    f.allow_keys({"name", "coordinate", "value", "for"});
    const std::string name = f["coordinate"].text();
    add(f, Lock{.name = f.text_or("name", name),
                .coordinate = coordinate(f["coordinate"]),
                .value = f.number_or("value", 0)});
  }

  void spring(const Field& f) {
    if (f.has("coordinate")) {
      f.allow_keys({"name", "coordinate", "stiffness", "damping", "rest", "for"});
      add(f, CoordinateSpring{.name = f.text_or("name", f["coordinate"].text()),
                              .coordinate = coordinate(f["coordinate"]),
                              .stiffness = f.number_or("stiffness", 0),
                              .damping = f.number_or("damping", 0),
                              .rest = f.number_or("rest", 0)});
      return;
    }
    f.allow_keys(
        {"name", "body", "at", "other", "at_other", "stiffness", "damping", "length", "for"});
    Spring spring{.name = f.text_or("name", f["body"].text()),
                  .stiffness = f.number_or("stiffness", 0),
                  .damping = f.number_or("damping", 0),
                  .length = f.number_or("length", 0)};
    ends(f, spring);
    add(f, std::move(spring));
  }

  /// What forces may read by name besides t, q and v: coordinates, "leg.angle", their rates,
  /// "leg.angle.rate", and 1 where a contact is closed, "closed.foot"; else 0.
  void name_senses() {
    const auto plain = [](std::string name) {
      for (char& c : name) {
        const auto letter = static_cast<unsigned char>(c);
        if (!(letter < 128 && std::isalnum(letter)) && c != '.') c = '_';
      }
      return name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) ? "_" + name : name;
    };
    senses = {"t", "q", "v"};
    const std::vector<std::string>& coordinates = loaded.mechanism.coordinates();
    for (const std::string& name : coordinates) senses.push_back(plain(name));
    for (const std::string& name : coordinates) senses.push_back(plain(name) + ".rate");
    for (const ContactPair& contact : loaded.mechanism.contacts())
      senses.push_back(plain("closed." + contact.name));
  }

  /// An expression of a controller, with what it reads.
  struct Controller {
    Script script;
    double operator()(const Sensed& s, double of = 0, double rate = 0) const {
      std::vector<double> at{s.t, of, rate};
      at.insert(at.end(), s.q.begin(), s.q.end());
      at.insert(at.end(), s.v.begin(), s.v.end());
      at.insert(at.end(), s.closed.begin(), s.closed.end());
      return script(at);
    }
    /// More than t, q and v?
    bool reads() const { return !script.reads().empty() && script.reads().back() > 2; }
  };

  /// What a force is: an expression, or {between: [low, high]}, of which each motion keeps one
  /// value.
  struct Push {
    Controller low;
    std::optional<Controller> high = {};
    std::size_t input = 0;
    double operator()(const Sensed& s, double of = 0, double rate = 0) const {
      const double from = low(s, of, rate);
      return high ? from + s.inputs[input] * ((*high)(s, of, rate) - from) : from;
    }
    /// More than t, q and v?
    bool reads() const { return high || low.reads(); }
  };

  Push push(const Field& f, const std::string& name) {
    if (!f.is_map()) return {{f.script(senses)}};
    f.allow_keys({"between"});
    const Field bounds = f["between"];
    if (!bounds.is_sequence() || bounds.size() != 2)
      bounds.fail("must be two expressions, such as [-5, 5]");
    Push set{{bounds[0].script(senses)}, Controller{bounds[1].script(senses)}};
    const std::vector<double> none(senses.size(), 0);
    if (set.low.script.reads().empty() && set.high->script.reads().empty() &&
        set.low.script(none) > set.high->script(none))
      bounds.fail("the first must not be above the second");
    set.input = static_cast<std::size_t>(loaded.mechanism.add(Input{name}));
    return set;
  }

  void force(const Field& f) {
    if (senses.empty()) name_senses();
    if (f.has("coordinate")) {
      f.allow_keys({"name", "coordinate", "force", "for"});
      const int k = coordinate(f["coordinate"]);
      Force force{.name = f.text_or("name", f["coordinate"].text())};
      const Push controller = push(f["force"], force.name);
      if (controller.reads())
        force.feedback = [k, controller](const Sensed& s, VectorXd& forces) {
          forces[k] += controller(s, s.q[k], s.v[k]);
        };
      else
        force.apply = [k, script = controller.low.script](double t, const VectorXd& at,
                                                          const VectorXd& rate, VectorXd& forces) {
          forces[k] += script(t, at[k], rate[k]);
        };
      add(f, std::move(force));
      return;
    }
    f.allow_keys({"name", "body", "at", "force", "for"});
    if (!f["force"].is_sequence() || f["force"].size() != 2)
      f["force"].fail("must be two expressions, such as [10*cos(t), 0]");
    const std::string name = f.text_or("name", f["body"].text());
    const Push x = push(f["force"][0], name + ".x"), y = push(f["force"][1], name + ".y");
    PointForce force{.name = name,
                     .body = directory.body(f["body"], f["body"].text()),
                     .at = f.has("at") ? f["at"].vector2() : Vector2d::Zero()};
    if (x.reads() || y.reads())
      force.feedback = [x, y](const Sensed& s) { return Vector2d(x(s), y(s)); };
    else
      force.force = [x, y](double t) {
        return Vector2d(x.low.script(t, 0, 0), y.low.script(t, 0, 0));
      };
    add(f, std::move(force));
  }

  /// A coordinate without mass and its law in the air, P4 A6.
  void limb(const Field& f) {
    f.allow_keys(
        {"name", "coordinate", "in_air", "rate", "angle", "frequency", "acceleration", "for"});
    Limb limb{.name = f.text_or("name", f["coordinate"].text()),
              .coordinate = coordinate(f["coordinate"])};
    const std::vector<std::string> laws{"hold", "retract", "follow", "accelerate"};
    const std::string law = f.text_or("in_air", "hold");
    if (law == "retract") {
      limb.rate = f["rate"].script();
    } else if (law == "accelerate") {
      limb.acceleration = f["acceleration"].script();
    } else if (law == "follow") {
      const double frequency = f["frequency"].number();
      if (!(frequency > 0)) f["frequency"].fail("must be positive");
      limb.acceleration = [frequency, angle = f["angle"].script()](double t, double at,
                                                                   double rate) {
        return follow(angle(t, at, rate), frequency)(t, at, rate);
      };
    } else if (law != "hold") {
      f["in_air"].fail("must be one of " + join(laws));
    }
    loaded.limbs.push_back(std::move(limb));
  }

  void contact(const Field& f) {
    f.allow_keys({"name", "between", "friction", "restitution", "for"});
    const Field between = f["between"];
    if (!between.is_sequence() || between.size() != 2)
      between.fail("must be two features, such as [block.hull.bottom_left, ground]");
    const std::string name = f["name"].text();
    if (!contacts.insert(name).second) f["name"].fail("another contact is called '" + name + "'");
    const double mu = f["friction"].number(), e = f.number_or("restitution", 0);
    if (!(e >= 0 && e <= 1)) f["restitution"].fail(fmt::format("{} must be between 0 and 1", e));
    if (loaded.mechanism.contacts().size() * static_cast<std::size_t>(loaded.mechanism.nv()) >
        kLargestJacobian)
      f.fail(fmt::format("too many contacts: {} of {} coordinates",
                         loaded.mechanism.contacts().size(), loaded.mechanism.nv()));

    // a whole polygon stands for its corners, two of them for the corners of both
    int owner = kWorld, other_owner = kWorld;
    const Shape* shape = directory.shape(between[0], owner);
    auto second = directory.feature(between[1]);
    if (!shape) {
      const auto first = directory.feature(between[0]);
      if (!std::holds_alternative<Round>(first))
        between[0].fail("the first must be a corner, a point, a disc or a whole shape");
      if (Polygon* polygon = std::get_if<Polygon>(&second)) {
        const std::vector<std::string> parts = split(between[0].text(), '.');
        if (parts.size() == 3)
          polygon->other = directory.named_shape(between[0], parts[0], parts[1]).vertices;
      }
      add(f, ContactPair{name, std::get<Round>(first), second, mu, e});
      return;
    }
    const auto corners = [&](const Shape& s, int body, auto against, bool both) {
      if (Polygon* polygon = std::get_if<Polygon>(&against)) polygon->other = s.vertices;
      for (std::size_t k = 0; k < s.vertices.size(); ++k) {
        const std::string corner = s.vertices.size() == 4 ? kBoxCorners[k] : fmt::format("{}", k);
        const std::string whose =
            both ? fmt::format("{}.{}", loaded.mechanism.bodies()[body].name, corner) : corner;
        add(f, ContactPair{
                   fmt::format("{}.{}", name, whose), {body, s.vertices[k], 0}, against, mu, e});
      }
    };
    const Shape* other = directory.shape(between[1], other_owner);
    corners(*shape, owner, second, other != nullptr);
    if (other) {
      const decltype(ContactPair::second) hull = Polygon{owner, shape->vertices};
      corners(*other, other_owner, hull, true);
    }
  }
};

}  // namespace

LoadedMechanism read_mechanism(const Field& field, Values& values) {
  field.allow_keys(
      {"bodies", "planes", "pins", "locks", "springs", "forces", "limbs", "contacts", "gravity"});
  Reader reader{values};
  if (field.has("gravity")) reader.loaded.mechanism.gravity = field["gravity"].vector2();
  each(
      field["bodies"], values, [&](const Field& f) { reader.body(f); }, true);
  if (reader.loaded.mechanism.nv() == 0)
    field["bodies"].fail("none of them can move; a mechanism needs a body with a joint");
  if (field.has("planes")) {
    for (const std::string& name : field["planes"].keys())
      reader.plane(name, field["planes"][name]);
  }
  const auto optional = [&](const char* key, void (Reader::*read)(const Field&)) {
    if (field.has(key)) each(field[key], values, [&](const Field& f) { (reader.*read)(f); });
  };
  optional("pins", &Reader::pin);
  optional("locks", &Reader::lock);
  optional("springs", &Reader::spring);
  optional("limbs", &Reader::limb);
  optional("contacts", &Reader::contact);
  optional("forces", &Reader::force);  // they may read what contacts do
  reader.loaded.q = Eigen::Map<const VectorXd>(reader.q.data(), reader.loaded.mechanism.nv());
  reader.loaded.v = Eigen::Map<const VectorXd>(reader.v.data(), reader.loaded.mechanism.nv());
  return std::move(reader.loaded);
}

}  // namespace routh::io
