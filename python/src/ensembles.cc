#include "courses.h"
#include "own_system.h"
#include "routh/io/ask.h"
#include "routh/io/document.h"
#include "routh/io/ensemble.h"
#include "ticker.h"

namespace routh::python {
namespace {

/// An ensemble and how it was made.
struct Many {
  Scene scene;
  std::string method;
  io::Json method_options;
  EnsembleOptions options;
  EnsembleResult result;
  bool interrupted = false;
};

std::shared_ptr<Many> run(const Scene& given, const py::dict& options, EnsembleOptions many,
                          py::object show) {
  const Scene scene = meant(given, options);
  auto made = std::make_shared<Many>();
  made->scene = scene;
  const io::Scenario& scenario = scene->scenario;
  io::check_restitution(scenario, many.law);
  many.restitution = scenario.run.restitution;
  const State start{0, scenario.q, scenario.v};
  const io::Moves moves = io::moves_of(scenario, start, course_of(options));
  const auto numbers = static_cast<double>(scenario.q.size() + scenario.v.size() + 4);
  io::check_budget(moves.end, moves.step, moves.every,
                   numbers * static_cast<double>(std::max<std::uint64_t>(1, many.keep)));
  made->method = moves.method;
  made->method_options = moves.options;
  Ticker ticker(std::move(show));
  const auto* own = dynamic_cast<const OwnSystem*>(scenario.moving());
  many.progress = [&](std::uint64_t done) {
    if (own && own->interrupted()) return ticker.interrupt();
    return ticker.goes_on(static_cast<double>(done) / static_cast<double>(many.runs));
  };
  {
    py::gil_scoped_release without;
    made->result = ensemble(*scenario.moving(), start, moves.motion, many);
  }
  made->interrupted = ticker.finish();
  many.progress = {};
  made->options = many;
  return made;
}

/// A tree of branches.
struct Tree {
  Scene scene;
  io::Json options;
  BranchTree tree;
  bool interrupted = false;
};

std::shared_ptr<Tree> follow(const Scene& given, const py::dict& options, int depth,
                             py::object show) {
  const Scene scene = meant(given, options);
  auto made = std::make_shared<Tree>();
  made->scene = scene;
  const io::Scenario& scenario = scene->scenario;
  io::check_restitution(scenario, "all");
  const State start{0, scenario.q, scenario.v};
  const io::Moves moves = io::moves_of(scenario, start, course_of(options));
  io::check_budget(moves.end, moves.step, moves.every,
                   static_cast<double>(scenario.q.size() + scenario.v.size() + 4));
  made->options = moves.options;
  made->options["branch"] = depth;
  Ticker ticker(std::move(show));
  const auto* own = dynamic_cast<const OwnSystem*>(scenario.moving());
  const auto stop = [&] {
    return own && own->interrupted() ? !ticker.interrupt() : !ticker.goes_on(0);
  };
  {
    py::gil_scoped_release without;
    made->tree = branch(*scenario.moving(), start, moves.motion, depth, 10'000, stop);
  }
  made->interrupted = ticker.finish();
  if (own) own->raise_again();
  return made;
}

py::list branch_list(const Tree& t) {
  py::list list;
  for (const Branch& b : t.tree.branches) {
    py::dict d;
    d["parent"] = b.parent;
    d["depth"] = b.depth;
    d["choice"] = b.choice;
    d["ways"] = b.ways;
    d["outcomes"] = b.outcomes;
    d["state"] = py::make_tuple(b.state.time, b.state.q, b.state.v);
    d["final"] = py::make_tuple(b.final.time, b.final.q, b.final.v);
    d["word"] = b.word;
    list.append(d);
  }
  return list;
}

py::list groups(const std::vector<EnsembleGroup>& of) {
  py::list list;
  for (const EnsembleGroup& g : of) list.append(py::make_tuple(g.name, g.count, g.first));
  return list;
}

py::list run_list(const Many& m) {
  py::list list;
  for (const EnsembleRun& r : m.result.runs) {
    py::dict d;
    d["index"] = r.index;
    d["status"] = std::string(to_string(r.status));
    d["time"] = r.final.time;
    d["q"] = r.final.q;
    d["v"] = r.final.v;
    d["word"] = r.word;
    d["final_mode"] = r.final_mode;
    d["message"] = r.message;
    d["impacts"] = r.impacts;
    d["energy_start"] = r.energy_start;
    d["energy_end"] = r.energy_end;
    list.append(d);
  }
  return list;
}

}  // namespace

void define_ensembles(py::module_& m) {
  py::class_<Many, std::shared_ptr<Many>>(m, "Many")
      .def_readonly("scene", &Many::scene)
      .def_readonly("method", &Many::method)
      .def_readonly("interrupted", &Many::interrupted)
      .def_property_readonly("stopped", [](const Many& x) { return x.result.stopped; })
      .def_property_readonly("early", [](const Many& x) { return x.result.early; })
      .def_property_readonly("seconds", [](const Many& x) { return x.result.seconds; })
      .def_property_readonly("words", [](const Many& x) { return groups(x.result.words); })
      .def_property_readonly("modes", [](const Many& x) { return groups(x.result.modes); })
      .def_property_readonly("reasons", [](const Many& x) { return groups(x.result.reasons); })
      .def_property_readonly("runs", run_list)
      .def_property_readonly("count", [](const Many& x) { return x.result.runs.size(); })
      .def_property_readonly("final_q",
                             [](const Many& x) {
                               std::vector<Eigen::VectorXd> q;
                               for (const EnsembleRun& r : x.result.runs) q.push_back(r.final.q);
                               return rows(q, x.scene->scenario.q.size());
                             })
      .def_property_readonly(
          "kept",
          [](const Many& x) {
            py::list list;
            for (const Trajectory& t : x.result.kept) {
              if (t.q.empty()) continue;
              list.append(py::make_tuple(
                  py::array_t<double>(static_cast<py::ssize_t>(t.time.size()), t.time.data()),
                  rows(t.q, t.q[0].size()), rows(t.v, t.v[0].size())));
            }
            return list;
          })
      .def("json",
           [](const Many& x, int indent) {
             io::Json result =
                 io::to_json(x.scene->scenario, x.method, x.method_options, x.options, x.result);
             io::Json options = result.value("options", io::Json::object());
             return whole_json(std::move(options), std::move(result), indent);
           })
      .def("csv", [](const Many& x) { return io::to_csv(x.scene->scenario, x.result); })
      .def("draw", [](const Many& x, const std::string& name, const std::string& folder) {
        py::gil_scoped_release without;
        return io::draw(x.scene->scenario, x.result, name, folder);
      });
  py::class_<Tree, std::shared_ptr<Tree>>(m, "Tree")
      .def_readonly("interrupted", &Tree::interrupted)
      .def_property_readonly("complete", [](const Tree& t) { return t.tree.complete; })
      .def_property_readonly("branches", branch_list)
      .def("json", [](const Tree& t, int indent) {
        return whole_json(t.options, io::to_json(t.scene->scenario, t.tree), indent);
      });
  m.def("branch", follow);
  m.def("ensemble_method", [](const Scene& scene) { return io::ensemble_method(scene->scenario); });
  m.def("ensemble",
        [](const Scene& scene, const py::dict& options, std::uint64_t runs, std::uint64_t seed,
           const std::string& law, int threads, std::uint64_t keep, py::object show) {
          return run(scene, options,
                     {.runs = runs, .seed = seed, .law = law, .threads = threads, .keep = keep},
                     std::move(show));
        });
}

}  // namespace routh::python
