#include "module.h"
#include "routh/impact/ambiguity.h"
#include "routh/io/ask.h"
#include "routh/io/check.h"
#include "routh/io/document.h"
#include "ticker.h"

namespace routh::python {
namespace {

using Eigen::VectorXd;

constexpr std::uint64_t kPackedNumbers = 1 << 26;  // of samples as arrays: half a gigabyte

/// An impact, what was asked and the answer.
struct Impact {
  Scene scene;
  std::optional<io::ImpactCase> impact;
  io::Asked asked;
  io::ImpactReport report;
  bool interrupted = false;
  Eigen::MatrixXd velocities;  ///< of the packed samples, one column each
};

struct Checked {
  std::optional<io::ImpactCase> impact;
  AmbiguityOptions options;
  io::CheckReport report;
  bool interrupted = false;
};

io::Asked asked_of(const py::dict& options) {
  io::Asked asked;
  take(options, "law", asked.law);
  if (options.contains("samples")) asked.samples = options["samples"].cast<std::uint64_t>();
  take(options, "seed", asked.seed);
  take(options, "keep", asked.keep);
  take(options, "draws", asked.draws);
  take(options, "step", asked.step);
  take(options, "final_step", asked.final_step);
  take(options, "epsilon", asked.epsilon);
  take(options, "delta", asked.delta);
  take(options, "limit", asked.limit);
  take(options, "threads", asked.threads);
  take(options, "order", asked.order);
  take(options, "single", asked.single);
  take(options, "contact", asked.contact);
  take(options, "stiffness", asked.stiffness);
  take(options, "exponent", asked.exponent);
  take(options, "coverage", asked.coverage);
  std::string device = "cpu";
  take(options, "device", device);
  asked.device = device_named(device);
  take(options, "figure", asked.figure);
  take(options, "derivative", asked.derivative);
  take(options, "sensitivity", asked.sensitivity);
  take(options, "max_polyhedra", asked.exact.max_polyhedra);
  take(options, "max_seconds", asked.exact.max_seconds);
  return asked;
}

io::Questions questions_of(const io::ImpactCase& impact, const py::dict& options) {
  io::Questions questions;
  std::vector<std::string> maximize, minimize;
  take(options, "maximize", maximize);
  take(options, "minimize", minimize);
  take(options, "contains", questions.contains);
  for (const std::string& name : maximize)
    questions.maximize.push_back(io::parse_objective(impact, "--maximize", name));
  for (const std::string& name : minimize)
    questions.minimize.push_back(io::parse_objective(impact, "--minimize", name));
  for (const VectorXd& c : questions.contains) {
    if (c.size() != impact.problem().c.size())
      throw io::InputError("contains: needs " + std::to_string(impact.problem().c.size()) +
                           " contact velocities, normals first, and has " +
                           std::to_string(c.size()));
  }
  return questions;
}

std::shared_ptr<Impact> ask(const Scene& given, const py::dict& options, py::object show) {
  const Scene scene = meant(given, options);
  auto made = std::make_shared<Impact>();
  made->scene = scene;
  made->asked = asked_of(options);
  io::Scenario scenario = scene->scenario;
  io::prepare_cone(scenario, made->asked.law);
  made->impact = io::impact_case(std::move(scenario));
  made->asked.questions = questions_of(*made->impact, options);
  io::check(*made->impact, made->asked);
  const auto each = static_cast<std::uint64_t>(2 * made->impact->problem().c.size() +
                                               made->impact->scenario.v.size());
  if (made->asked.law == "set") made->asked.packed = kPackedNumbers / each;
  const bool compare = options.contains("compare");
  Ticker ticker(std::move(show));
  made->asked.stop = ticker.stop();
  made->asked.progress = ticker.counter<std::uint64_t>();
  {
    py::gil_scoped_release without;
    // few samples are done before anybody could ask how far they are
    if (made->asked.law == "set" && io::set_options(*made->impact, made->asked).samples < 1 << 14)
      made->asked.progress = {};
    made->report = io::ask(*made->impact, made->asked);
    if (compare) made->report.comparison = io::compare_with_mujoco(*made->impact, made->report);
    if (const SetResult* set = made->report.set(); set && set->packed.impulse.size() > 0)
      made->velocities = io::lift_velocities(*made->impact, set->packed.impulse);
  }
  made->interrupted = ticker.finish();
  if (const SetResult* set = made->report.set())
    warn_of_device(made->asked.device.name, set->device_trouble);
  made->asked.stop = {}, made->asked.progress = {};
  return made;
}

py::list states(const std::vector<ContactState>& modes) {
  py::list names;
  for (const ContactState s : modes) names.append(std::string(to_string(s)));
  return names;
}

py::list outcomes(const io::ImpactCase& impact, const std::vector<io::OutcomeRow>& rows) {
  const ImpactProblem& p = impact.problem();
  const int m = p.contacts();
  const auto by_contact = [&](const VectorXd& c) {
    py::array_t<double> array({m, p.tangents});
    std::copy(c.begin() + m, c.end(), array.mutable_data());
    return array;
  };
  py::list list;
  for (const io::OutcomeRow& row : rows) {
    py::dict d;
    d["laws"] = row.laws;
    d["velocity"] = row.velocity;
    d["normal"] = VectorXd(row.outcome.c_plus.head(m));
    d["tangential"] = by_contact(row.outcome.c_plus);
    d["impulse"] = row.outcome.impulse;
    d["contact_velocity"] = row.outcome.c_plus;
    d["modes"] = states(row.modes);
    d["energy"] = row.energy;
    d["residual"] = row.outcome.residual;
    py::list order;
    if (row.order) {
      for (const int i : *row.order) order.append(impact.names[i]);
    }
    d["order"] = row.order ? py::object(order) : py::object(py::none());
    list.append(d);
  }
  return list;
}

py::dict moves(const PathSensitivity& s) {
  py::dict d;
  const bool moves = !s.mixed;
  d["smooth"] = s.smooth();
  d["bodies"] = s.bodies;
  d["by_velocity"] = moves ? py::cast(s.v.c_plus) : py::none();
  d["by_friction"] = moves ? py::cast(s.friction.c_plus) : py::none();
  d["by_mass"] = moves ? py::cast(s.mass.c_plus) : py::none();
  return d;
}

py::object sensitivity(const std::optional<io::Sensitivity>& s) {
  if (!s) return py::none();
  py::dict d = moves(s->path);
  d["velocity"] = s->velocity, d["friction"] = s->friction, d["mass"] = s->mass;
  return d;
}

py::dict extreme(const io::ImpactCase& impact, const io::Extreme& e) {
  py::dict d;
  d["value"] = e.value;
  d["contact_velocity"] = e.c;
  d["velocity"] = io::lift_velocity(impact, e.c);
  d["bound"] = e.bound;
  if (!e.witness) return d;
  py::list order;
  std::vector<VectorXd> path, impulses;
  for (const WitnessPhase& phase : e.witness->phases) {
    order.append(io::phase_text(impact, phase));
    path.push_back(phase.c);
    impulses.push_back(phase.impulse);
  }
  d["order"] = order;
  d["path"] = rows(path, impact.problem().c.size());
  d["impulses"] = rows(impulses, impact.problem().c.size());
  d["sensitivity"] = sensitivity(e.sensitivity);
  return d;
}

/// Those that were asked for, by name; what was not found is left out.
py::dict extremes(const io::ImpactCase& impact, const std::vector<io::Extreme>& list) {
  py::dict d;
  for (const io::Extreme& e : list) {
    if (e.c.size() > 0) d[py::str(e.name)] = extreme(impact, e);
  }
  return d;
}

const std::vector<Polytope>& pieces(const Impact& i) {
  if (!i.report.known.exact)
    throw io::InputError("only an exact set has pieces: ask for it by .exact()");
  return i.report.known.exact->pieces;
}

py::object unique(const Ambiguity& known) {
  return known.unique() ? py::object(py::bool_(*known.unique())) : py::object(py::none());
}

void define_result(py::module_& m) {
  py::class_<Impact, std::shared_ptr<Impact>>(m, "Impact")
      .def_readonly("scene", &Impact::scene)
      .def_readonly("interrupted", &Impact::interrupted)
      .def_property_readonly("law", [](const Impact& i) { return i.report.law; })
      .def_property_readonly("verdict",
                             [](const Impact& i) { return io::verdict(*i.impact, i.report); })
      .def_property_readonly("unique", [](const Impact& i) { return unique(i.report.known); })
      .def_property_readonly("spread", [](const Impact& i) { return i.report.known.spread; })
      .def_property_readonly("complete", [](const Impact& i) { return i.report.complete; })
      .def_property_readonly("incomplete", [](const Impact& i) { return i.report.incomplete; })
      .def_property_readonly("names", [](const Impact& i) { return i.impact->names; })
      .def_property_readonly("tangents",
                             [](const Impact& i) { return i.impact->problem().tangents; })
      .def_property_readonly("G", [](const Impact& i) { return i.impact->problem().G; })
      .def_property_readonly("c", [](const Impact& i) { return i.impact->problem().c; })
      .def_property_readonly("mu", [](const Impact& i) { return i.impact->problem().mu; })
      .def_property_readonly("e",
                             [](const Impact& i) {
                               const ImpactProblem& p = i.impact->problem();
                               return p.e.size() ? p.e : VectorXd(VectorXd::Zero(p.contacts()));
                             })
      .def_property_readonly("before_modes",
                             [](const Impact& i) {
                               const ImpactProblem& p = i.impact->problem();
                               return states(contact_states(p, p.c));
                             })
      .def_property_readonly("energy_before",
                             [](const Impact& i) {
                               return kinetic_energy(i.impact->scenario.terms,
                                                     i.impact->scenario.v);
                             })
      .def_property_readonly("outcomes",
                             [](const Impact& i) { return outcomes(*i.impact, i.report.outcomes); })
      .def_property_readonly(
          "unfinished", [](const Impact& i) { return outcomes(*i.impact, i.report.unfinished); })
      .def_property_readonly(
          "borderline", [](const Impact& i) { return outcomes(*i.impact, i.report.borderline); })
      .def_property_readonly("nothing_text",
                             [](const Impact& i) { return io::nothing_text(*i.impact, i.report); })
      .def("json",
           [](const Impact& i, int indent) {
             return whole_json(io::options_json(*i.impact, i.report, i.asked),
                               io::to_json(*i.impact, i.report), indent);
           })
      .def("csv", [](const Impact& i) { return io::to_csv(*i.impact, i.report); })
      .def("draw",
           [](const Impact& i, const std::string& name, const std::string& folder) {
             py::gil_scoped_release without;
             return io::draw(*i.impact, i.report, i.asked, name, folder);
           })
      // exact sets and witnesses
      .def_property_readonly(
          "maxima", [](const Impact& i) { return extremes(*i.impact, i.report.answers.maximize); })
      .def_property_readonly(
          "minima", [](const Impact& i) { return extremes(*i.impact, i.report.answers.minimize); })
      // sampled sets
      .def_property_readonly(
          "samples", [](const Impact& i) { return i.report.set() ? i.report.set()->samples : 0; })
      .def_property_readonly(
          "terminated",
          [](const Impact& i) { return i.report.set() ? i.report.set()->terminated : 0; })
      .def_property_readonly(
          "velocities",
          [](const py::object& self) { return view(self.cast<Impact&>().velocities, self); })
      .def_property_readonly("contact_velocities",
                             [](const py::object& self) {
                               return view(self.cast<Impact&>().report.set()->packed.c_plus, self);
                             })
      .def_property_readonly("impulses",
                             [](const py::object& self) {
                               return view(self.cast<Impact&>().report.set()->packed.impulse, self);
                             })
      .def_property_readonly("steps",
                             [](const py::object& self) {
                               return view(self.cast<Impact&>().report.set()->packed.steps, self);
                             })
      .def_property_readonly("ended",
                             [](const py::object& self) {
                               return view(self.cast<Impact&>().report.set()->packed.terminated,
                                           self);
                             })
      .def_property_readonly("ranges",
                             [](const Impact& i) {
                               const SetResult* set = i.report.set();
                               return set ? py::make_tuple(set->c_min, set->c_max)
                                          : py::make_tuple(VectorXd(), VectorXd());
                             })
      // exact sets
      .def_property_readonly("status",
                             [](const Impact& i) {
                               return i.report.known.exact
                                          ? std::string(to_string(i.report.known.exact->status))
                                          : std::string();
                             })
      .def_property_readonly(
          "pieces",
          [](const Impact& i) {
            py::list list;
            for (const Polytope& piece : pieces(i)) {
              py::list corners;
              for (const VectorXd& c : piece.corners) {
                const PathSensitivity* known = io::moves_of(*i.impact, i.report, c);
                corners.append(known ? py::object(moves(*known)) : py::object(py::none()));
              }
              list.append(py::make_tuple(piece.dimension,
                                         rows(piece.corners, i.impact->problem().c.size()),
                                         states(piece.modes), corners));
            }
            return list;
          })
      .def("maximize",
           [](const Impact& i, const std::string& what) {
             return extreme(*i.impact,
                            io::maximize(*i.impact, pieces(i),
                                         io::parse_objective(*i.impact, "maximize", what)));
           })
      .def("minimize",
           [](const Impact& i, const std::string& what) {
             return extreme(*i.impact,
                            io::minimize(*i.impact, pieces(i),
                                         io::parse_objective(*i.impact, "minimize", what)));
           })
      .def("contains", [](const Impact& i, const VectorXd& c) {
        py::dict one;
        one["contains"] = std::vector<VectorXd>{c};
        const bool exact =
            i.report.known.exact && i.report.known.exact->status == ExactStatus::kExact;
        const io::Answers found =
            io::answers(*i.impact, pieces(i), exact, questions_of(*i.impact, one));
        const io::Contained& answer = found.contains.at(0);
        return py::make_tuple(answer.reachable, answer.nearest.distance, answer.nearest.point);
      });
}

}  // namespace

void define_impacts(py::module_& m) {
  define_result(m);
  m.def("impact", ask);

  py::class_<Checked, std::shared_ptr<Checked>>(m, "Checked")
      .def_readonly("interrupted", &Checked::interrupted)
      .def_property_readonly(
          "verdict", [](const Checked& c) { return io::verdict(*c.impact, c.report.known); })
      .def_property_readonly("unique", [](const Checked& c) { return unique(c.report.known); })
      .def_property_readonly("spread", [](const Checked& c) { return c.report.known.spread; })
      .def_property_readonly("pointed", [](const Checked& c) { return c.report.cone.pointed; })
      .def_property_readonly("searched",
                             [](const Checked& c) { return io::searched_text(c.report.known); })
      .def_property_readonly("incomplete", [](const Checked& c) { return c.report.known.stopped; })
      .def("json", [](const Checked& c, int indent) {
        return whole_json(io::options_json(*c.impact, c.options, c.report.known),
                          io::to_json(*c.impact, c.report), indent);
      });
  m.def("check", [](const Scene& given, const py::dict& options, py::object show) {
    const Scene scene = meant(given, options);
    auto made = std::make_shared<Checked>();
    io::Scenario scenario = scene->scenario;
    io::check_restitution(scenario, "all");
    scenario.run.edges = scenario.run.edges.value_or(0);
    made->impact = io::impact_case(std::move(scenario));
    made->options = io::check_options(*made->impact);
    Ticker ticker(std::move(show));
    AmbiguityOptions asked = made->options;
    asked.stop = ticker.stop();
    {
      py::gil_scoped_release without;
      made->report = io::check(*made->impact, asked);
    }
    made->interrupted = ticker.finish();
    return made;
  });
}

}  // namespace routh::python
