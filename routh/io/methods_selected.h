#pragma once

#include "routh/io/methods.h"

/// A part of methods.cc: event-selected systems, and mechanisms with their contacts as springs.
namespace routh::io {

Simulated simulate_event_selected(const Scenario& scenario, const Course& course);

}  // namespace routh::io
