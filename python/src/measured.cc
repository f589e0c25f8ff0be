#include "routh/io/measured.h"

#include "module.h"
#include "ticker.h"

namespace routh::python {
namespace {

/// A table of measured impacts, what was asked and the answer.
struct Measured {
  Scene scene;  // none: the table says what it is about
  io::MeasuredTable table;
  StudyOptions options;
  MeasuredStudy study;
  bool interrupted = false;
};

std::shared_ptr<Measured> measured(const std::string& file, const py::object& scene,
                                   const py::dict& given, py::object show) {
  auto made = std::make_shared<Measured>();
  if (!scene.is_none()) made->scene = scene.cast<Scene>();
  io::MeasuredOptions reading{.scenario = made->scene ? &made->scene->scenario : nullptr};
  std::string compare;
  if (given.contains("centre")) {
    const auto centre = given["centre"].cast<std::vector<double>>();
    for (int i = 0; i < 3; ++i) reading.centre[i] = centre.at(static_cast<std::size_t>(i));
  }
  take(given, "touching", reading.touching);
  take(given, "compare", compare);
  take(given, "samples", made->options.samples);
  take(given, "seed", made->options.seed);
  take(given, "most", made->options.most);
  Ticker ticker(std::move(show));
  {
    py::gil_scoped_release without;
    made->table = io::read_measured(file, reading);
    StudyOptions options = made->options;
    if (!compare.empty()) options.peers = {io::measured_peer(compare, made->table, reading)};
    options.progress = [&](double done) { return ticker.goes_on(done); };
    made->study = study(made->table.impacts, options);
  }
  made->interrupted = ticker.finish();
  return made;
}

io::Json json_of(const Measured& m) { return io::to_json(m.table, m.study); }

}  // namespace

void define_measured(py::module_& m) {
  py::class_<Measured, std::shared_ptr<Measured>>(m, "Measured")
      .def_readonly("interrupted", &Measured::interrupted)
      .def_property_readonly("text",
                             [](const Measured& x) { return io::describe(x.table, x.study); })
      .def_property_readonly("rows",
                             [](const Measured& x) {
                               py::list list;
                               for (const StudyRow& row : x.study.rows) {
                                 const MeasuredImpact& impact = x.table.impacts[row.impact];
                                 py::dict nearest;
                                 for (std::size_t k = 0; k < row.laws.size(); ++k)
                                   nearest[py::str(io::law_names(x.study)[k])] =
                                       row.laws[k].nearest;
                                 list.append(py::make_tuple(impact.name, impact.contacts, row.noise,
                                                            row.unexplained, nearest));
                               }
                               return list;
                             })
      .def("json",
           [](const Measured& x, int indent) {
             return whole_json({{"samples", x.options.samples},
                                {"seed", x.options.seed},
                                {"most", x.options.most}},
                               json_of(x), indent);
           })
      .def("csv", [](const Measured& x) { return io::to_csv(x.table, x.study); })
      .def("draw", [](const Measured& x, const std::string& name, const std::string& folder) {
        py::gil_scoped_release without;
        return io::draw(x.table, x.study, name, folder);
      });
  m.def("measured", measured);
}

}  // namespace routh::python
