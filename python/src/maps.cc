#include "module.h"
#include "routh/io/ask.h"
#include "routh/io/document.h"
#include "routh/io/map.h"
#include "ticker.h"

namespace routh::python {
namespace {

/// A map and what the caller asked it of.
struct Mapped {
  io::MapResult result;
  bool interrupted = false;

  const io::Map& map() const { return *result.map; }
};

std::shared_ptr<Mapped> mapped(const Scene& scene, const py::dict& from, const py::dict& options,
                               int threads, py::object show) {
  io::MapPlan plan;
  std::vector<std::string> vary, draw;
  take(options, "vary", vary);
  take(options, "draw", draw);
  for (const std::string& text : vary) plan.vary.push_back(io::parse_range(text));
  for (const std::string& text : draw) plan.draw.push_back(io::parse_draw(text));
  take(options, "points", plan.points);
  take(options, "runs", plan.runs);
  take(options, "measure", plan.measures);
  take(options, "law", plan.batch.law);
  take(options, "samples", plan.batch.samples);
  take(options, "seed", plan.batch.seed);
  take(options, "step", plan.step);
  take(options, "limit", plan.limit);
  std::string device = "cpu";
  take(options, "device", device);
  plan.device = device_named(device);
  take(options, "method", plan.course.method);
  take(options, "end", plan.course.end);
  std::string draws = plan.batch.law == "all" ? "corners" : "uniform", restitution;
  take(options, "draws", draws);
  if (draws == "corners") plan.batch.draws = Draws::kCorners;
  take(options, "restitution", restitution);

  std::vector<io::Override> overrides;
  if (from.contains("parameters")) {
    for (const auto& [key, value] : from["parameters"].cast<py::dict>())
      overrides.push_back({key.cast<std::string>(), value.cast<double>()});
  }
  const io::ModelStart begin =
      from.contains("start") ? start_of(from["start"].cast<py::dict>()) : io::ModelStart{};
  const bool named = from.contains("name");
  double touching = 0;  // of models each start has its own
  take(from, "touching", touching);
  const std::string name = named ? from["name"].cast<std::string>() : "";
  Ticker ticker(std::move(show));
  auto made = std::make_shared<Mapped>();
  {
    py::gil_scoped_release without;
    io::Family family = named ? io::Family(name, overrides, begin, "vary", plan.names())
                              : io::Family(scene->scenario, "vary", plan.names());
    // what load() was told of contacts
    const io::RunDefaults& told = scene->scenario.run;
    family.prepare_by([edges = told.edges, touching, patches = told.extreme_points,
                       means = io::restitution_named(restitution)](io::Scenario& scenario) {
      scenario.run.edges = edges;
      scenario.run.extreme_points = patches;
      if (touching > 0) scenario.run.touching = touching;
      scenario.run.restitution = means;
    });
    auto map = std::make_shared<const io::Map>(std::move(family), std::move(plan));
    if (map->size() > 10'000'000)
      throw io::InputError("vary: " + std::to_string(map->size()) +
                           " cells; at most 10000000 are possible");
    const auto size = static_cast<double>(map->size());
    std::atomic<bool> stop = false;
    made->result = io::compute(map, {.threads = threads,
                                     .progress =
                                         [&](std::uint64_t done) {
                                           if (!ticker.goes_on(static_cast<double>(done) / size))
                                             stop = true;
                                           return !stop;
                                         },
                                     .stop = [&] { return stop.load(); }});
  }
  made->interrupted = ticker.finish();
  warn_of_device(device, made->map().device_trouble());
  return made;
}

/// One array a column; without a value NaN.
template <class Value>
py::dict columns(const Mapped& m, const std::vector<std::string>& names, const Value& value) {
  std::vector<py::array_t<double>> arrays;
  const auto size = static_cast<py::ssize_t>(m.result.cells.size());
  for (std::size_t k = 0; k < names.size(); ++k) arrays.emplace_back(size);
  for (py::ssize_t cell = 0; cell < size; ++cell) {
    const std::vector<double> row = value(static_cast<std::uint64_t>(cell));
    for (std::size_t k = 0; k < names.size(); ++k)
      arrays[k].mutable_at(cell) = row.empty() ? std::nan("") : row[k];
  }
  py::dict d;
  for (std::size_t k = 0; k < names.size(); ++k) d[names[k].c_str()] = arrays[k];
  return d;
}

}  // namespace

void define_maps(py::module_& m) {
  py::class_<Mapped, std::shared_ptr<Mapped>>(m, "Mapped")
      .def_readonly("interrupted", &Mapped::interrupted)
      .def_property_readonly("law", [](const Mapped& x) { return x.map().plan().batch.law; })
      .def_property_readonly("complete", [](const Mapped& x) { return x.result.complete(); })
      .def_property_readonly("size", [](const Mapped& x) { return x.result.cells.size(); })
      .def_property_readonly("shape",
                             [](const Mapped& x) {
                               std::vector<std::uint64_t> shape;
                               for (const io::MapRange& r : x.map().plan().vary)
                                 shape.push_back(r.count);
                               if (x.map().plan().points > 1 || shape.empty())
                                 shape.push_back(x.map().plan().points);
                               return shape;
                             })
      .def_property_readonly("parameters",
                             [](const Mapped& x) {
                               return columns(x, x.map().plan().names(), [&](std::uint64_t k) {
                                 return x.map().parameters(k);
                               });
                             })
      .def_property_readonly("measures",
                             [](const Mapped& x) {
                               return columns(x, x.map().plan().measures, [&](std::uint64_t k) {
                                 return x.result.cells[k].values;
                               });
                             })
      .def_property_readonly("about",
                             [](const Mapped& x) {
                               py::dict d;
                               const std::vector<std::string> about = x.map().about();
                               for (std::size_t k = 0; k < about.size(); ++k)
                                 d[x.map().plan().measures[k].c_str()] = about[k];
                               return d;
                             })
      .def_property_readonly("status",
                             [](const Mapped& x) {
                               std::vector<std::string> list;
                               for (const io::MapCell& cell : x.result.cells)
                                 list.emplace_back(to_string(cell.status));
                               return list;
                             })
      .def_property_readonly("why",
                             [](const Mapped& x) {
                               std::vector<std::string> list;
                               for (const io::MapCell& cell : x.result.cells)
                                 list.push_back(cell.why);
                               return list;
                             })
      .def("json",
           [](const Mapped& x, int indent) {
             io::Json result = io::to_json(x.result);
             io::Json options = result["options"];
             return whole_json(std::move(options), std::move(result), indent);
           })
      .def("csv", [](const Mapped& x) { return io::to_csv(x.result); })
      .def("draw", [](const Mapped& x, const std::string& name, const std::string& folder) {
        py::gil_scoped_release without;
        return io::draw(x.result, name, folder);
      });
  m.def("map", mapped);
  m.def("map_laws", &routh::batch_laws);
}

}  // namespace routh::python
