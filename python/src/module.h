#pragma once

#include <pybind11/eigen.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>
#include <string>
#include <vector>

#include "routh/io/device.h"
#include "routh/io/json.h"
#include "routh/io/scenario.h"

/// The compiled half of the package: plain functions over the library's types. What people see,
/// with its words, is written in Python above it (python/routh).
namespace routh::python {

namespace py = pybind11;

/// Scenarios never change once they are made.
struct Loaded {
  io::Scenario scenario;
};
using Scene = std::shared_ptr<Loaded>;

/// The scene with another meaning of its coefficients of restitution, where `options` name one.
Scene meant(const Scene& scene, const py::dict& options);

/// How a model begins, from the keywords of load().
io::ModelStart start_of(const py::dict& start);

void define_scenarios(py::module_& m);
void define_batch(py::module_& m);
void define_impacts(py::module_& m);
void define_motions(py::module_& m);
void define_ensembles(py::module_& m);
void define_lcp(py::module_& m);
void define_measured(py::module_& m);
void define_maps(py::module_& m);
void define_selected(py::module_& m);

/// Was it built with CUDA?
bool has_cuda();
/// What samples, by name: a GPU that is not there leaves it to the CPU.
io::Device device_named(const std::string& name);
/// A warning of Python where the CPU did what a device was asked for.
void warn_of_device(const std::string& name, const std::string& trouble);

/// JSON with the first keys that all results have.
std::string whole_json(io::Json options, io::Json result, int indent);

/// What a dictionary has under a name, or nothing.
template <class T>
void take(const py::dict& options, const char* name, T& value) {
  if (options.contains(name)) value = options[name].cast<T>();
}

/// Vectors of equal size as the rows of one array.
inline py::array_t<double> rows(const std::vector<Eigen::VectorXd>& vectors, Eigen::Index size) {
  py::array_t<double> array({static_cast<py::ssize_t>(vectors.size()), size});
  double* to = array.mutable_data();
  for (const Eigen::VectorXd& v : vectors) to = std::copy(v.begin(), v.end(), to);
  return array;
}

/// The columns of a matrix as the rows of an array that reads its memory; `owner` keeps it alive.
inline py::array view(const Eigen::MatrixXd& columns, const py::object& owner) {
  py::array_t<double> array({columns.cols(), columns.rows()}, columns.data(), owner);
  array.attr("flags").attr("writeable") = false;
  return array;
}
template <class T>
py::array view(const std::vector<T>& list, const py::object& owner) {
  py::array_t<T> array({static_cast<py::ssize_t>(list.size())}, list.data(), owner);
  array.attr("flags").attr("writeable") = false;
  return array;
}

}  // namespace routh::python
