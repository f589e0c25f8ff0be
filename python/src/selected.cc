#include "module.h"
#include "routh/event_selected/derivative.h"
#include "routh/io/document.h"

namespace routh::python {
namespace {

using namespace event_selected;
using Eigen::MatrixXd, Eigen::VectorXd;

/// Fields, guards and their Jacobian written in Python; sizes are checked there. The GIL stays with
/// the caller: there is nothing to do without it.
py::dict selected(const py::function& f, const py::function& h, const py::function& Dh,
                  const VectorXd& x0, const py::dict& given, const MatrixXd& directions) {
  Options options;
  take(given, "eps", options.eps);
  take(given, "exact", options.exact);
  take(given, "end", options.t_end);
  take(given, "every", options.sample_every);
  take(given, "simultaneous", options.simultaneous);
  int pairs = 0;
  take(given, "alternate", pairs);
  if (pairs > 0) options.reset = alternate(pairs);

  const auto field = [&](const VectorXd& x, const Crossed& crossed) -> VectorXd {
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    return f(x, crossed).cast<VectorXd>();
  };
  const auto guards = [&](const VectorXd& x) -> VectorXd { return h(x).cast<VectorXd>(); };
  const auto rows_of = [&](const VectorXd& x) -> MatrixXd { return Dh(x).cast<MatrixXd>(); };

  Solution<VectorXd> motion;
  py::dict d;
  if (directions.size() > 0) {
    const auto derived = b_derivative(field, guards, rows_of, x0, directions, options);
    motion = derived.solution;
    d["D"] = derived.D;
    d["differentiable"] = derived.differentiable;
    motion.status = derived.status;
  } else {
    motion = integrate(field, guards, rows_of, x0, options);
    d["D"] = py::none();
    d["differentiable"] = py::none();
  }
  d["status"] = std::string(to_string(motion.status));
  d["message"] = motion.finished() ? "" : describe(motion, options);
  d["time"] = motion.time;
  d["x"] = motion.x;
  py::list events;
  for (const event_selected::Event<VectorXd>& e : motion.events)
    events.append(py::make_tuple(e.time, e.guard, e.x));
  d["events"] = events;
  return d;
}

}  // namespace

void define_selected(py::module_& m) { m.def("selected", selected); }

}  // namespace routh::python
