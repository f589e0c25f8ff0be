#pragma once

#include "routh/io/document.h"
#include "routh/io/scenario.h"

namespace routh::io {

/// Plain matrices: M, Jn, Jt, mu, v and optionally A and names of contacts. Throws InputError.
void read_matrices(const Field& field, Scenario& scenario);

/// Contact space itself: the Delassus matrix G, c, mu and optionally the number of tangents, the
/// order of the rows and names of contacts. Throws InputError.
void read_contact_space(const Field& field, Scenario& scenario);

}  // namespace routh::io
