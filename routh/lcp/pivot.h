#pragma once

namespace routh::lcp {

/// The loops of Lemke's algorithm that take time, over a dictionary  basic = T nonbasic + b.  Rows
/// are `stride` (a multiple of 8) apart, b is a column like the others. Compiled once per
/// instruction set.
struct PivotKernel {
  /// Exchanges the basic variable of a row with the nonbasic variable of a column.
  void (*exchange)(double* T, int rows, int stride, int row, int column);
  /// How far the nonbasic variable of a column can grow until each basic variable vanishes: max(0,
  /// b) / -T where -T > smallest, infinite elsewhere. Returns the least of these.
  double (*ratios)(const double* T, int rows, int stride, int column, int b, double smallest,
                   double* ratio);
};

/// The fastest version this machine runs.
PivotKernel pivot_kernel();

}  // namespace routh::lcp
