#include <atomic>
#include <thread>

#include "module.h"
#include "routh/impact/ambiguity.h"
#include "routh/impact/sequential.h"
#include "routh/io/ask.h"
#include "routh/io/check.h"
#include "routh/io/document.h"
#include "routh/simulate/laws.h"
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
  take(options, "limit", asked.limit);
  take(options, "threads", asked.threads);
  take(options, "order", asked.order);
  take(options, "single", asked.single);
  take(options, "contact", asked.contact);
  take(options, "stiffness", asked.stiffness);
  take(options, "exponent", asked.exponent);
  take(options, "coverage", asked.coverage);
  take(options, "figure", asked.figure);
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
  Ticker ticker(std::move(show));
  made->asked.stop = ticker.stop();
  made->asked.progress = ticker.counter<std::uint64_t>();
#ifdef ROUTH_HAS_EXACT
  made->asked.exact_law = [&](const ImpactProblem& problem, const ExactOptions& o) {
    return ticker.elsewhere([&] { return exact(problem, o); });
  };
#endif
  {
    py::gil_scoped_release without;
    // few samples are done before anybody could ask how far they are
    if (made->asked.law == "set" && io::set_options(*made->impact, made->asked).samples < 1 << 14)
      made->asked.progress = {};
    made->report = io::ask(*made->impact, made->asked);
    if (options.contains("compare"))
      made->report.comparison = io::compare_with_mujoco(*made->impact, made->report);
    if (const SetResult* set = made->report.set(); set && set->packed.impulse.size() > 0)
      made->velocities = io::lift_velocities(*made->impact, set->packed.impulse);
  }
  made->interrupted = ticker.finish();
  made->asked.stop = {}, made->asked.progress = {}, made->asked.exact_law = {};
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

py::dict extreme(const io::ImpactCase& impact, const io::Extreme& e) {
  py::dict d;
  d["value"] = e.value;
  d["contact_velocity"] = e.c;
  d["velocity"] = io::lift_velocity(impact, e.c);
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

/// Laws that list their outcomes.
std::vector<std::string> batch_laws() {
  std::vector<std::string> names;
  for (const Law& law : laws()) {
    if (law.outcomes || law.name == "sequential" || law.name == "all") names.push_back(law.name);
  }
  return names;
}

/// Many problems of one size on all cores: offsets of each problem's outcomes, and all outcomes.
py::tuple batch(const py::array_t<double>& G, const py::array_t<double>& c,
                const py::array_t<double>& mu, const py::array_t<double>& e,
                const std::string& restitution, int tangents, int edges, const std::string& law,
                int threads, py::object show) {
  const Restitution means = io::restitution_named(restitution);
  io::check_restitution(means, law);
  const auto n = static_cast<std::size_t>(c.shape(0));
  const Eigen::Index size = c.shape(1), m = mu.shape(1);
  struct Answer {
    std::vector<Outcome> outcomes;
    int unique = -1;  // not known
  };
  std::vector<Answer> answers(n);
  using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const double *G0 = G.data(), *c0 = c.data(), *mu0 = mu.data(), *e0 = e.data();
  const auto solve = [&](std::size_t k) {
    const ImpactProblem p{.G = Eigen::Map<const Rows>(G0 + k * size * size, size, size),
                          .c = Eigen::Map<const VectorXd>(c0 + k * size, size),
                          .mu = Eigen::Map<const VectorXd>(mu0 + k * m, m),
                          .tangents = tangents,
                          .edges = edges,
                          .e = Eigen::Map<const VectorXd>(e0 + k * m, m),
                          .restitution = means};
    Answer& a = answers[k];
    Ambiguity known;
    if (law == "all") {
      known = ambiguity(p, {.threads = 1});
      for (const FoundOutcome& o : known.outcomes) a.outcomes.push_back(o);
    } else if (law == "sequential") {
      known.sequential = sequential(p);
      for (const SequentialOutcome& s : known.sequential->outcomes) a.outcomes.push_back(s.outcome);
      known = judged(p, std::move(known));
    } else if (law == "simultaneous") {
      known.simultaneous = simultaneous(p);
      a.outcomes = known.simultaneous->outcomes;
      known = judged(p, std::move(known));
    } else {
      Listed listed = law_named(law).outcomes(p, {});
      known.listed = a.outcomes = std::move(listed.outcomes);
      known.all_listed = listed.all;
      known = judged(p, std::move(known));
    }
    if (const std::optional<bool> is = known.unique()) a.unique = *is;
  };
  Ticker ticker(std::move(show));
  std::size_t failed = n;
  std::string why;
  {
    py::gil_scoped_release without;
    std::atomic<std::size_t> next = 0;
    std::atomic<bool> stop = false;
    std::mutex trouble;
    const auto work = [&](bool reports) {
      for (std::size_t k = next++; k < n && !stop; k = next++) {
        try {
          solve(k);
        } catch (const std::exception& error) {
          const std::lock_guard lock(trouble);
          if (k < failed) failed = k, why = error.what();
          stop = true;
        }
        if (reports && !ticker.goes_on(static_cast<double>(k) / static_cast<double>(n)))
          stop = true;
      }
    };
    const unsigned cores = threads > 0 ? static_cast<unsigned>(threads)
                                       : std::max(1u, std::thread::hardware_concurrency());
    std::vector<std::thread> pool;
    for (unsigned i = 1; i < std::min<std::size_t>(cores, n); ++i) pool.emplace_back(work, false);
    work(true);
    for (std::thread& t : pool) t.join();
  }
  if (failed < n) throw io::InputError("problem " + std::to_string(failed) + ": " + why);
  const bool interrupted = ticker.finish();

  std::size_t total = 0;
  for (const Answer& a : answers) total += a.outcomes.size();
  py::array_t<std::int64_t> offsets(static_cast<py::ssize_t>(n + 1));
  py::array_t<std::int8_t> is_unique(static_cast<py::ssize_t>(n));
  const auto count = static_cast<py::ssize_t>(total);
  py::array_t<double> c_plus({count, size}), impulse({count, size}), residual(count);
  std::int64_t at = 0;
  for (std::size_t k = 0; k < n; ++k) {
    offsets.mutable_at(k) = at;
    is_unique.mutable_at(k) = static_cast<std::int8_t>(answers[k].unique);
    for (const Outcome& o : answers[k].outcomes) {
      std::copy(o.c_plus.begin(), o.c_plus.end(), c_plus.mutable_data(at, 0));
      std::copy(o.impulse.begin(), o.impulse.end(), impulse.mutable_data(at, 0));
      residual.mutable_at(at++) = o.residual;
    }
  }
  offsets.mutable_at(n) = at;
  return py::make_tuple(offsets, c_plus, impulse, residual, is_unique, interrupted);
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
            for (const Polytope& piece : pieces(i))
              list.append(py::make_tuple(piece.dimension,
                                         rows(piece.corners, i.impact->problem().c.size()),
                                         states(piece.modes)));
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
  m.def("batch", batch);
  m.def("batch_laws", batch_laws);

  py::class_<Checked, std::shared_ptr<Checked>>(m, "Checked")
      .def_readonly("interrupted", &Checked::interrupted)
      .def_property_readonly(
          "verdict", [](const Checked& c) { return io::verdict(*c.impact, c.report.known); })
      .def_property_readonly("unique", [](const Checked& c) { return unique(c.report.known); })
      .def_property_readonly("spread", [](const Checked& c) { return c.report.known.spread; })
      .def_property_readonly("pointed", [](const Checked& c) { return c.report.cone.pointed; })
      .def_property_readonly("searched",
                             [](const Checked& c) { return io::searched_text(c.report.known); })
      .def_property_readonly("outcomes",
                             [](const Checked& c) { return c.report.known.outcomes.size(); })
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
