#pragma once

#include <functional>
#include <string>
#include <vector>

#include "routh/io/results.h"

/// Writing many outcomes while somebody waits for the end.
namespace routh::io {

inline constexpr std::size_t kHasty =
    2000;  // outcomes that are written while one waits for the end

/// Texts of all outcomes, one after the other; of the first few once `stop` says so.
template <class Write>
std::size_t write_outcomes(const std::vector<OutcomeRow>& rows, const std::function<bool()>& stop,
                           std::string& text, Write&& write) {
  std::size_t few = std::string::npos;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    if (k == kHasty) few = text.size();
    if (k >= kHasty && stop && stop()) {
      text.resize(few);
      return kHasty;
    }
    write(k, rows[k]);
  }
  return rows.size();
}

}  // namespace routh::io
