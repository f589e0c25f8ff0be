#include "own_system.h"

#include <utility>

#include "gil.h"
#include "module.h"

namespace routh::python {

using Eigen::VectorXd;

template <class... Arguments>
py::object OwnSystem::ask(const char* method, const Arguments&... arguments) const {
  try {
    return self_.attr(method)(arguments...);
  } catch (py::error_already_set& raised) {
    if (!raised.matches(PyExc_KeyboardInterrupt) || interrupted_) throw;
    interrupted_ = true;
  }
  return self_.attr(method)(arguments...);
}

OwnSystem::OwnSystem(py::object self) : self_(std::move(self)) {
  nq_ = self_.attr("nq").cast<int>();
  nv_ = self_.attr("nv").cast<int>();
  coordinates_ = self_.attr("coordinates").cast<std::vector<std::string>>();
  velocities_ = self_.attr("velocities").cast<std::vector<std::string>>();
  integrates_ = self_.attr("_overrides")("integrate").cast<bool>();
  stores_energy_ = self_.attr("_overrides")("potential_energy").cast<bool>();
}

OwnSystem::~OwnSystem() {
  py::gil_scoped_acquire gil;
  self_ = py::object();
}

void OwnSystem::evaluate(double t, const VectorXd& q, const VectorXd& v, Terms& terms,
                         const Wanted&) const {
  const Gil gil;
  // (M, forces, Kq, Kv, A, joint gaps, joint biases, contacts), checked in Python
  const auto told = ask("_terms", t, q, v).cast<py::tuple>();
  terms.M = told[0].cast<Eigen::MatrixXd>();
  terms.forces = told[1].cast<VectorXd>();
  terms.Kq = told[2].cast<Eigen::MatrixXd>();
  terms.Kv = told[3].cast<Eigen::MatrixXd>();
  terms.A = told[4].cast<Eigen::MatrixXd>();
  terms.joint_gap = told[5].cast<VectorXd>();
  terms.joint_bias = told[6].cast<VectorXd>();
  terms.contacts.clear();
  for (const py::handle& each : told[7].cast<py::list>()) {
    const auto c = py::reinterpret_borrow<py::tuple>(each);
    terms.contacts.push_back({.name = c[0].cast<std::string>(),
                              .phi = c[1].cast<double>(),
                              .Jn = c[2].cast<VectorXd>().transpose(),
                              .Jt = c[3].cast<Eigen::MatrixXd>(),
                              .mu = c[4].cast<double>(),
                              .bias_n = c[5].cast<double>(),
                              .bias_t = c[6].cast<double>()});
    terms.contacts.back().e = c[7].cast<double>();
    if (terms.contacts.back().e > 0) bounces_ = true;
  }
}

void OwnSystem::gaps(const VectorXd& q, VectorXd& contact, VectorXd& joint,
                     std::vector<std::int64_t>*) const {
  const Gil gil;
  const auto told = ask("_gaps", q).cast<py::tuple>();
  contact = told[0].cast<VectorXd>();
  joint = told[1].cast<VectorXd>();
}

double OwnSystem::potential_energy(const VectorXd& q) const {
  if (!stores_energy_) return 0;
  const Gil gil;
  try {
    return ask("_energy", q).cast<double>();
  } catch (...) {
    if (!raised_) raised_ = std::current_exception();
    throw;
  }
}

void OwnSystem::raise_interrupt() const {
  if (!interrupted()) return;
  PyErr_SetNone(PyExc_KeyboardInterrupt);
  throw py::error_already_set();
}

void OwnSystem::raise_again() const {
  if (raised_) std::rethrow_exception(std::exchange(raised_, nullptr));
}

void OwnSystem::integrate(VectorXd& q, const VectorXd& v, double dt) const {
  if (!integrates_) return System::integrate(q, v, dt);
  const Gil gil;
  q = ask("_moved", q, v, dt).cast<VectorXd>();
}

}  // namespace routh::python
