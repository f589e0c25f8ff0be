// What Python does, done in C++: lower quartiles, in microseconds of the processor, of a small
// impact by two laws, and of 2^20 samples with their velocities. bench/python_bench.py runs it
// beside the package.

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <ctime>

#include "routh/io/ask.h"
#include "routh/io/matrices.h"

namespace {

/// Time of the processor: others may use the machine.
double used() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return 1e6 * static_cast<double>(t.tv_sec) + 1e-3 * static_cast<double>(t.tv_nsec);
}

/// In the program itself; memory that is touched for the first time costs the system's, and varies.
double used_by_program() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return 1e6 * static_cast<double>(usage.ru_utime.tv_sec) +
         static_cast<double>(usage.ru_utime.tv_usec);
}

template <class Work>
double quartile(int count, double (*clock)(), Work&& work) {
  std::vector<double> times;
  for (int i = 0; i < count; ++i) {
    const double began = clock();
    work();
    times.push_back(clock() - began);
  }
  std::nth_element(times.begin(), times.begin() + count / 4, times.end());
  return times[count / 4];
}

}  // namespace

int main() {
  using namespace routh;
  Eigen::MatrixXd M = Eigen::Vector3d(1, 1, 5.0 / 12).asDiagonal(), Jn(2, 3), Jt(2, 3);
  Jn << 0, 1, -0.5, 0, 1, 0.5;
  Jt << 1, 0, 1, 1, 0, 1;
  const auto impact = [&] {
    return io::impact_case(io::scenario_of(
        io::PlainMatrices{M, Jn, Jt, Eigen::Vector2d(1, 1), Eigen::Vector3d(0, -0.4429, 0)}));
  };
  for (const std::string law : {"simultaneous", "single"})
    fmt::print("{} {:.3f}\n", law,
               quartile(1000, used, [&] { (void)io::ask(impact(), {.law = law}); }));
  const io::Asked set{.law = "set", .samples = 1 << 20, .seed = 7, .packed = 1 << 20};
  fmt::print("set {:.0f}\n", quartile(15, used_by_program, [&] {
               const io::ImpactCase one = impact();
               const io::ImpactReport report = io::ask(one, set);
               (void)io::lift_velocities(one, report.set()->packed.impulse);
             }));
}
