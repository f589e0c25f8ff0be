#pragma once

#include <nlohmann/json.hpp>

namespace routh::io {

/// Keys stay in the order they were written.
using Json = nlohmann::ordered_json;

}  // namespace routh::io
