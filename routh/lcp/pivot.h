#pragma once

namespace routh::lcp {

/// The loops of Lemke's algorithm that take time, over a dictionary  basic = T nonbasic + b, stored
/// by columns that are `stride` (a multiple of 8) apart and padded with zeros. Compiled once per
/// instruction set.
struct PivotKernel {
  /// Exchanges the basic variable of a row with the nonbasic variable of a column.
  void (*exchange)(double* T, int stride, int columns, int row, int column);
  /// How far a nonbasic variable with the column t can grow until each basic variable vanishes:
  /// max(0, b) / -t where -t > smallest, infinite elsewhere. Returns the least of these.
  double (*ratios)(const double* t, const double* b, int stride, double smallest, double* ratio);
};

/// The fastest version this machine runs.
PivotKernel pivot_kernel();

}  // namespace routh::lcp
