#pragma once

#include "routh/lcp/lcp.h"

namespace routh::bench {

/// Siconos' Lemke on one problem, prepared once so that only the solver is timed.
class SiconosLemke {
 public:
  explicit SiconosLemke(const lcp::Problem& problem);
  ~SiconosLemke();
  SiconosLemke(const SiconosLemke&) = delete;
  SiconosLemke(SiconosLemke&&) noexcept;

  const Eigen::VectorXd& solve();

 private:
  struct Handle;
  Handle* handle_;
};

}  // namespace routh::bench
