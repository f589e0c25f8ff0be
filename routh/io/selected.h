#pragma once

#include "routh/io/document.h"
#include "routh/io/scenario.h"

namespace routh::io {

/// An event-selected system: of P5 by its name, made with the parameters of the scenario, or
/// written down as a map of states, field and guards; with its coordinates, contacts and picture.
/// Throws InputError.
void read_selected(const Field& field, const Values& values, Scenario& scenario);

}  // namespace routh::io
