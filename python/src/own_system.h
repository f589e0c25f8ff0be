#pragma once

#include <pybind11/pybind11.h>

#include <atomic>
#include <exception>

#include "routh/model/system.h"

namespace routh::python {

/// A mechanism written in Python, a subclass of routh.System. Every call takes the GIL; what Python
/// raises goes through the library to the caller.
class OwnSystem final : public System {
 public:
  explicit OwnSystem(pybind11::object self);
  ~OwnSystem() override;

  int nq() const override { return nq_; }
  int nv() const override { return nv_; }
  void evaluate(double t, const Eigen::VectorXd& q, const Eigen::VectorXd& v, Terms& terms,
                const Wanted& wanted) const override;
  void gaps(const Eigen::VectorXd& q, Eigen::VectorXd& contact, Eigen::VectorXd& joint,
            std::vector<std::int64_t>* id) const override;
  double potential_energy(const Eigen::VectorXd& q) const override;
  void integrate(Eigen::VectorXd& q, const Eigen::VectorXd& v, double dt) const override;
  std::vector<std::string> coordinate_names() const override { return coordinates_; }
  std::vector<std::string> velocity_names() const override { return velocities_; }

  /// As its contacts said so far; they are asked when the scenario is made.
  bool bounces() const override { return bounces_; }

  /// Was Ctrl-C heard while Python was asked? The call was made again, so that the motion can end
  /// with what it has; the answer is given once.
  bool interrupted() const { return interrupted_.exchange(false); }
  /// The same as an exception: the GIL is needed.
  void raise_interrupt() const;
  /// Raises what potential_energy did: the library takes an energy that cannot be told for none.
  void raise_again() const;

 private:
  /// Calls a method of Python's.
  template <class... Arguments>
  pybind11::object ask(const char* method, const Arguments&... arguments) const;

  mutable std::atomic<bool> interrupted_ = false;
  mutable std::atomic<bool> bounces_ = false;  // did a contact ever?
  mutable std::exception_ptr raised_;
  pybind11::object self_;
  int nq_, nv_;
  std::vector<std::string> coordinates_, velocities_;
  bool integrates_, stores_energy_;  // does the subclass say how?
};

}  // namespace routh::python
