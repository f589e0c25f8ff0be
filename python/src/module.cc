#include "module.h"

#include "gil.h"
#include "routh/io/document.h"
#include "routh/io/files.h"
#include "routh/io/methods.h"
#include "routh/io/text.h"
#include "routh/simulate/laws.h"
#include "routh/version.h"

namespace routh::python {

bool has_exact() {
#ifdef ROUTH_HAS_EXACT
  return true;
#else
  return false;
#endif
}

std::string whole_json(io::Json options, io::Json result, int indent) {
  io::Json json = io::top({}, std::move(options), has_exact());
  for (auto& [key, value] : result.items()) {
    if (key != "options") json[key] = std::move(value);
  }
  return io::json_text(json, indent);
}

}  // namespace routh::python

PYBIND11_MODULE(_core, m) {
  using namespace routh;
  m.doc() = "The compiled half of routh; import routh instead.";
  m.attr("version") = kVersion;
  m.attr("has_exact") = python::has_exact();
  m.attr("has_models") = io::has_models();
  m.attr("kEdges") = kEdges;

  // a caller's mistake is a ValueError, what the world refuses an OSError
  pybind11::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const io::InputError& e) {
      PyErr_SetString(PyExc_ValueError, e.what());
    } catch (const io::OutputError& e) {
      PyErr_SetString(PyExc_OSError, e.what());
    }
  });

  m.def("laws", [] {
    pybind11::list list;
    for (const Law& law : laws())
      list.append(pybind11::make_tuple(law.name, law.about, law.options, law.colours));
    return list;
  });
  m.def("methods", [] {
    pybind11::list list;
    for (const io::Method& method : io::methods())
      list.append(pybind11::make_tuple(method.name, method.about));
    return list;
  });
  m.def("through_time", impact_law_names);

  pybind11::module_::import("atexit").attr("register")(pybind11::cpp_function(python::leave));

  python::define_scenarios(m);
  python::define_batch(m);
  python::define_impacts(m);
  python::define_motions(m);
  python::define_ensembles(m);
  python::define_lcp(m);
  python::define_measured(m);
  python::define_maps(m);
  python::define_selected(m);
}
