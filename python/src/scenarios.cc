#include "module.h"
#include "own_system.h"
#include "routh/io/ask.h"
#include "routh/io/document.h"
#include "routh/io/matrices.h"

namespace routh::python {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// What belongs to every scenario: friction cones and touching.
Scene finished(io::Scenario scenario, const py::dict& options) {
  take(options, "touching", scenario.run.touching);
  take(options, "extreme_points", scenario.run.extreme_points);
  if (options.contains("edges")) scenario.run.edges = options["edges"].cast<int>();
  return std::make_shared<Loaded>(Loaded{std::move(scenario)});
}

Scene load(const std::string& name, const py::dict& parameters, const py::dict& start,
           const py::dict& options) {
  std::vector<io::Override> overrides;
  for (const auto& [key, value] : parameters)
    overrides.push_back({key.cast<std::string>(), value.cast<double>()});
  const io::ModelStart begin = start_of(start);
  py::gil_scoped_release without;
  io::Scenario scenario = io::load_scenario(name, overrides, begin);
  py::gil_scoped_acquire again;
  return finished(std::move(scenario), options);
}

Scene own(py::object system, VectorXd q, VectorXd v, const std::string& name) {
  io::Scenario scenario{.name = name, .title = name};
  const auto moving = std::make_shared<const OwnSystem>(std::move(system));
  scenario.what = io::OwnSystem{moving};
  scenario.coordinates = moving->coordinate_names();
  scenario.velocities = moving->velocity_names();
  scenario.q = std::move(q), scenario.v = std::move(v);
  moving->evaluate(0, scenario.q, scenario.v, scenario.terms, {});
  moving->raise_interrupt();
  return finished(std::move(scenario), {});
}

const char* kind(const io::Scenario& s) {
  return s.model()           ? "model"
         : s.mechanism()     ? "mechanism"
         : s.selected()      ? "event-selected system"
         : s.contact_space() ? "contact space"
         : s.moving()        ? "system"
                             : "matrices";
}

/// What the contacts have of something, one below the other.
template <class Part>
MatrixXd stacked(const Terms& terms, Part&& part) {
  std::vector<MatrixXd> parts;
  Eigen::Index count = 0;
  for (const Contact& c : terms.contacts) {
    parts.push_back(part(c));
    count += parts.back().rows();
  }
  MatrixXd all(count, parts.empty() ? terms.M.cols() : parts[0].cols());
  count = 0;
  for (const MatrixXd& one : parts) {
    all.middleRows(count, one.rows()) = one;
    count += one.rows();
  }
  return all;
}

py::dict terms_dict(const Terms& terms) {
  py::dict d;
  d["M"] = terms.M;
  d["forces"] = terms.forces;
  d["A"] = terms.A;
  d["Jn"] = stacked(terms, [](const Contact& c) { return MatrixXd(c.Jn); });
  d["Jt"] = stacked(terms, [](const Contact& c) { return c.Jt; });
  const auto size = static_cast<Eigen::Index>(terms.contacts.size());
  VectorXd mu(size), e(size), phi(size);
  std::vector<std::string> names;
  for (Eigen::Index i = 0; i < size; ++i) {
    const Contact& c = terms.contacts[static_cast<std::size_t>(i)];
    mu[i] = c.mu, e[i] = c.e, phi[i] = c.phi;
    names.push_back(c.name);
  }
  d["mu"] = mu;
  d["e"] = e;
  d["phi"] = phi;
  d["names"] = names;
  return d;
}

}  // namespace

io::ModelStart start_of(const py::dict& start) {
  io::ModelStart begin;
  take(start, "state", begin.state);
  take(start, "qpos", begin.qpos);
  take(start, "qvel", begin.qvel);
  take(start, "ctrl", begin.ctrl);
  if (start.contains("drop")) begin.drop = start["drop"].cast<double>();
  take(start, "as_is", begin.as_is);
  take(start, "floating", begin.floating);
  take(start, "floor", begin.floor);
  return begin;
}

Scene meant(const Scene& scene, const py::dict& options) {
  if (!options.contains("restitution")) return scene;
  auto other = std::make_shared<Loaded>(*scene);
  other->scenario.run.restitution =
      io::restitution_named(options["restitution"].cast<std::string>());
  return other;
}

void define_scenarios(py::module_& m) {
  py::class_<Loaded, std::shared_ptr<Loaded>>(m, "Scenario")
      .def_property_readonly("name", [](const Loaded& l) { return l.scenario.name; })
      .def_property_readonly("title", [](const Loaded& l) { return l.scenario.title; })
      .def_property_readonly("kind", [](const Loaded& l) { return kind(l.scenario); })
      .def_property_readonly("coordinates", [](const Loaded& l) { return l.scenario.coordinates; })
      .def_property_readonly("velocities", [](const Loaded& l) { return l.scenario.velocities; })
      .def_property_readonly("q", [](const Loaded& l) { return l.scenario.q; })
      .def_property_readonly("v", [](const Loaded& l) { return l.scenario.v; })
      .def_property_readonly("inputs",
                             [](const Loaded& l) {
                               std::vector<std::string> names;
                               if (!io::has_inputs(l.scenario)) return names;
                               for (const Input& input : l.scenario.mechanism()->inputs())
                                 names.push_back(input.name);
                               return names;
                             })
      .def_property_readonly("end", [](const Loaded& l) { return l.scenario.run.simulation.end; })
      .def_property_readonly("step", [](const Loaded& l) { return l.scenario.run.simulation.step; })
      .def_property_readonly("method",
                             [](const Loaded& l) { return l.scenario.run.simulation.method; })
      .def_property_readonly("terms", [](const Loaded& l) { return terms_dict(l.scenario.terms); })
      .def("terms_at",
           [](const Loaded& l, const VectorXd& q, const VectorXd& v, double t) {
             if (!l.scenario.moving())
               throw io::InputError(l.scenario.name + ": is one instant, or no mechanism");
             Terms terms;
             {
               py::gil_scoped_release without;
               terms = l.scenario.moving()->terms(q, v, t);
             }
             if (const auto* own = dynamic_cast<const OwnSystem*>(l.scenario.moving()))
               own->raise_interrupt();
             return terms_dict(terms);
           })
      .def_property_readonly("parameters",
                             [](const Loaded& l) {
                               py::list list;
                               for (const io::Parameter& p : l.scenario.parameters)
                                 list.append(py::make_tuple(p.name, p.value, p.unit, p.about));
                               return list;
                             })
      .def_property_readonly("states",
                             [](const Loaded& l) {
                               const auto* model = std::get_if<io::Model>(&l.scenario.what);
                               return model ? model->states : std::vector<std::string>();
                             })
      .def_property_readonly("notes", [](const Loaded& l) {
        const auto* model = std::get_if<io::Model>(&l.scenario.what);
        std::vector<std::string> notes = model ? model->notes : std::vector<std::string>();
        if (model && !model->moved.empty()) notes.push_back(model->moved);
        return notes;
      });
  m.def("scenario_names", io::scenario_names);
  m.def("scenario_text", io::scenario_text);
  m.def("is_model", io::is_model);
  m.def("load", load);
  m.def("matrices", [](MatrixXd M, MatrixXd Jn, MatrixXd Jt, VectorXd mu, VectorXd v, MatrixXd A,
                       std::vector<std::string> names, VectorXd e, const py::dict& options) {
    return finished(io::scenario_of(io::PlainMatrices{std::move(M), std::move(Jn), std::move(Jt),
                                                      std::move(mu), std::move(v), std::move(A),
                                                      std::move(names), std::move(e)}),
                    options);
  });
  m.def("contact_space", [](MatrixXd G, VectorXd c, VectorXd mu, int tangents,
                            std::vector<std::string> names, VectorXd e, const py::dict& options) {
    return finished(
        io::scenario_of(io::PlainContactSpace{std::move(G), std::move(c), std::move(mu), tangents,
                                              std::move(names), std::move(e)}),
        options);
  });
  m.def("own", own);
}

}  // namespace routh::python
