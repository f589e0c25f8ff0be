#include "module.h"
#include "routh/lcp/enumerate.h"
#include "routh/lcp/lemke.h"
#include "ticker.h"

namespace routh::python {

void define_lcp(py::module_& m) {
  using Eigen::MatrixXd, Eigen::VectorXd;
  m.def("lemke", [](MatrixXd W, VectorXd w, double tolerance, int max_pivots, VectorXd cover) {
    const lcp::Problem problem{std::move(W), std::move(w)};
    lcp::validate(problem);
    lcp::LemkeResult r;
    {
      py::gil_scoped_release without;
      r = lcp::lemke(problem, {tolerance, max_pivots, std::move(cover)});
    }
    return py::make_tuple(std::string(to_string(r.status)), r.z, r.residual, r.pivots);
  });
  m.def("enumerate", [](MatrixXd W, VectorXd w, double tolerance, double same, int max_size) {
    const lcp::Problem problem{std::move(W), std::move(w)};
    lcp::validate(problem);
    lcp::Solutions found;
    Ticker ticker(py::none{});
    {
      py::gil_scoped_release without;
      found = lcp::enumerate(
          problem,
          {.tolerance = tolerance, .same = same, .max_size = max_size, .stop = ticker.stop()});
    }
    ticker.finish();
    py::list all, continua;
    for (const lcp::Solution& s : found.all) all.append(py::make_tuple(s.z, s.residual));
    for (const lcp::Continuum& c : found.continua)
      continua.append(py::make_tuple(c.corners, rows(c.rays, problem.size())));
    return py::make_tuple(all, continua, found.complete);
  });
  m.def("residual", [](MatrixXd W, VectorXd w, const VectorXd& z) {
    return lcp::residual({std::move(W), std::move(w)}, z);
  });
}

}  // namespace routh::python
