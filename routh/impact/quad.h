#pragma once

#include <boost/multiprecision/cpp_bin_float.hpp>

namespace routh {

/// Floating point with 113 bits.
using Quad = boost::multiprecision::number<boost::multiprecision::cpp_bin_float_quad::backend_type,
                                           boost::multiprecision::et_off>;

}  // namespace routh
