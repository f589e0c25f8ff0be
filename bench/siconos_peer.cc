#include "siconos_peer.h"

#include <LCP_Solvers.h>
#include <LinearComplementarityProblem.h>
#include <NonSmoothDrivers.h>
#include <NumericsMatrix.h>
#include <SolverOptions.h>
#include <lcp_cst.h>

#include <utility>

namespace routh::bench {

struct SiconosLemke::Handle {
  Eigen::MatrixXd W;
  Eigen::VectorXd w, z, slack;
  NumericsMatrix* matrix = nullptr;
  LinearComplementarityProblem problem{};
  SolverOptions* options = nullptr;
};

SiconosLemke::SiconosLemke(const lcp::Problem& problem) : handle_(new Handle) {
  Handle& h = *handle_;
  const int n = problem.size();
  h.W = problem.W, h.w = problem.w;
  h.z.resize(n), h.slack.resize(n);
  h.matrix = NM_create_from_data(NM_DENSE, n, n, h.W.data());
  h.problem.size = n;
  h.problem.M = h.matrix;
  h.problem.q = h.w.data();
  h.options = solver_options_create(SICONOS_LCP_LEMKE);
}

SiconosLemke::SiconosLemke(SiconosLemke&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)) {}

SiconosLemke::~SiconosLemke() {
  if (!handle_) return;
  handle_->matrix->matrix0 = nullptr;  // the data is ours
  NM_free(handle_->matrix);
  solver_options_delete(handle_->options);
  delete handle_;
}

const Eigen::VectorXd& SiconosLemke::solve() {
  handle_->z.setZero();
  handle_->slack.setZero();
  (void)linearComplementarity_driver(&handle_->problem, handle_->z.data(), handle_->slack.data(),
                                     handle_->options);
  return handle_->z;
}

}  // namespace routh::bench
