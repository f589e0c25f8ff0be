#pragma once

#include <pybind11/pybind11.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <thread>

#include "gil.h"

/// Long work without the GIL that still hears Ctrl-C and shows how far it is.
namespace routh::python {

namespace py = pybind11;

/// Made with the GIL, by the thread that does the work; asked without it, by any. That thread looks
/// after Python's signals now and then; the first KeyboardInterrupt ends the work with what it has.
class Ticker {
 public:
  /// `show`, None or a function of the part that is done (from 0 to 1), may raise.
  explicit Ticker(py::object show) : show_(std::move(show)) {
    const py::module_ threading = py::module_::import("threading");
    listens_ =
        !show_.is_none() || threading.attr("current_thread")().is(threading.attr("main_thread")());
  }

  /// How far it is. False: the work is to end.
  bool goes_on(double part) {
    if (stopped_ || !listens_ || std::this_thread::get_id() != owner_) return !stopped_;
    const auto now = std::chrono::steady_clock::now();
    if (now - asked_ < std::chrono::milliseconds(40)) return true;
    asked_ = now;
    const Gil gil;
    try {
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
      if (!show_.is_none() && now - shown_ > std::chrono::milliseconds(200)) {
        shown_ = now;
        show_(part);
      }
    } catch (py::error_already_set& raised) {
      stopped_ = true;
      interrupted_ = raised.matches(PyExc_KeyboardInterrupt);
      if (!interrupted_) failure_ = std::current_exception();
    }
    return !stopped_;
  }
  /// Ctrl-C was heard elsewhere.
  bool interrupt() {
    interrupted_ = stopped_ = true;
    return false;
  }
  std::function<bool()> stop() {
    return [this] { return !goes_on(part_); };
  }
  template <class Count>
  std::function<bool(Count, Count)> counter() {
    return [this](Count done, Count total) {
      return goes_on(part_ = static_cast<double>(done) / static_cast<double>(total));
    };
  }

  /// With the GIL again: raises what `show` did. True: interrupted.
  bool finish() {
    if (failure_) std::rethrow_exception(failure_);
    return interrupted_;
  }

 private:
  py::object show_;
  bool listens_;  // Python tells the main thread alone of signals
  Working working_;
  std::thread::id owner_ = std::this_thread::get_id();
  std::chrono::steady_clock::time_point asked_ = std::chrono::steady_clock::now(), shown_ = asked_;
  std::atomic<bool> stopped_ = false;
  bool interrupted_ = false;
  double part_ = 0;
  std::exception_ptr failure_;
};

}  // namespace routh::python
