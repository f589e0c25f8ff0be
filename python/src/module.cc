#include "module.h"

#include "gil.h"
#include "routh/io/document.h"
#include "routh/io/files.h"
#include "routh/io/methods.h"
#include "routh/io/text.h"
#include "routh/simulate/laws.h"
#include "routh/version.h"
#ifdef ROUTH_HAS_CUDA
#include "routh/impact/cuda.h"
#endif

namespace routh::python {

namespace {

io::CudaDevice cuda() {
#ifdef ROUTH_HAS_CUDA
  return cuda_device;
#else
  return {};
#endif
}

}  // namespace

bool has_cuda() { return static_cast<bool>(cuda()); }
io::Device device_named(const std::string& name) { return io::device_named(name, cuda()); }

void warn_of_device(const std::string& name, const std::string& trouble) {
  if (trouble.empty()) return;
  if (PyErr_WarnEx(PyExc_RuntimeWarning, io::device_text(name, trouble).c_str(), 2) != 0)
    throw py::error_already_set();
}

std::string whole_json(io::Json options, io::Json result, int indent) {
  io::Json json = io::top({}, std::move(options), has_cuda());
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
  m.attr("has_exact") = true;  // of all builds; it once was a choice
  m.attr("has_cuda") = python::has_cuda();
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
