#pragma once

#include "module.h"
#include "routh/io/methods.h"

namespace routh::python {

/// Options of routh.simulate, routh.stepper and routh.ensemble, whose names and values Python has
/// checked.
io::Course course_of(const py::dict& options);

}  // namespace routh::python
