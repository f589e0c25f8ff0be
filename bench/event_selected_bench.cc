// P5 against MuJoCo: Table 5.1 (hopper), Fig. 5.2 (plate, time against contacts) and work against
// precision. Prints the tables and writes CSV files and figures into a folder:
//
//   event_selected_bench [folder [hopper] [work] [plate]]

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "routh/event_selected/integrate.h"
#include "routh/event_selected/systems.h"
#include "routh/io/files.h"
#include "routh/io/gnuplot.h"
#ifdef ROUTH_HAS_MUJOCO
#include "routh/mujoco/own_outcome.h"
#include "routh/mujoco/spring_bed.h"
#endif

namespace routh::bench {
namespace {

using namespace event_selected;
/// Processor time of this thread [s]: what else the machine does is not counted.
double now() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}
double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}
/// Median time of one call, over at least five calls and 30 ms.
double time_of(const std::function<void()>& work) {
  std::vector<double> times;
  for (double total = 0; times.size() < 5 || total < 0.03;) {
    const double begin = now();
    work();
    times.push_back(now() - begin);
    total += times.back();
  }
  return median(times);
}

/// Positions on the grid 0, every, 2 every, .. of a motion, one column each.
using Positions = Eigen::MatrixXd;
double rms(const Positions& a, const Positions& b) {
  return std::sqrt((a - b).squaredNorm() / static_cast<double>(a.size()));
}
constexpr double kEnd = 2, kGrid = 0.02;
constexpr int kSamples = 101;

template <class State>
Positions on_grid(const Solution<State>& s, int coordinates) {
  Positions p(coordinates, kSamples);
  int k = 0;
  for (std::size_t i = 0; i < s.times.size() && k < kSamples; ++i)
    if (std::abs(s.times[i] - k * kGrid) < 1e-9) p.col(k++) = s.states[i].head(coordinates);
  if (k < kSamples) p.rightCols(kSamples - k).setConstant(NAN);
  return p;
}

Options projecting(double eps, double tolerance) {
  return {.eps = eps, .t_end = kEnd, .step = {.rtol = tolerance, .atol = tolerance}};
}
Options locating(double tolerance) {
  return {.exact = true, .t_end = kEnd, .step = {.rtol = tolerance, .atol = tolerance}};
}

template <class System>
Positions positions(System& system, const typename System::State& x0, Options options, int q) {
  options.reset = system.reset();
  options.sample_every = kGrid;
  return on_grid(integrate(system, x0, options), q);
}
template <class System>
double seconds(System& system, const typename System::State& x0, Options options) {
  options.reset = system.reset();
  options.record = false;
  return time_of([&] { (void)integrate(system, x0, options); });
}

#ifdef ROUTH_HAS_MUJOCO
Positions positions(mujoco::SpringBed& peer, double height, double angle, double step) {
  peer.reset(height, angle);
  Positions p(peer.position().size(), kSamples);
  const long stride = std::lround(kGrid / step);
  p.col(0) = peer.position();
  for (int k = 1; k < kSamples; ++k) {
    for (long i = 0; i < stride; ++i) peer.step();
    p.col(k) = peer.position();
  }
  return p;
}
double seconds(mujoco::SpringBed& peer, double height, double angle, double step) {
  return time_of([&] {
    peer.reset(height, angle);
    for (long i = std::lround(kEnd / step); i > 0; --i) peer.step();
  });
}
mujoco::SpringBed hopper_peer(double step, bool rk4 = false) {
  return mujoco::SpringBed(
      {.springs = 1, .stiffness = 100, .step = step, .rk4 = rk4, .planar = false});
}
mujoco::SpringBed plate_peer(const PlateParameters& p, double step, bool rk4 = false) {
  return mujoco::SpringBed({.springs = p.springs,
                            .stiffness = p.stiffness,
                            .damping = p.damping,
                            .step = step,
                            .rk4 = rk4});
}
#endif

// Table 5.1

double table_5_1(const std::string& folder) {
  Hopper hopper;
  Positions exact(1, kSamples);
  for (int k = 0; k < kSamples; ++k) exact(0, k) = hopper.exact(k * kGrid)[0];
  const auto error = [&](Options o) { return rms(positions(hopper, hopper.start(), o, 1), exact); };
  fmt::print("\nTable 5.1: hopper, 0 to 2 s, RMS error of z against the closed form\n");
  fmt::print("{:<44}{:>12}{:>14}\n", "", "RMS [m]", "time [us]");
  std::string csv = "method,eps,rms_m,seconds\n";
  const auto row = [&](const std::string& name, double eps, double e, double t) {
    fmt::print("{:<44}{:>12.3e}{:>14.1f}\n", name, e, 1e6 * t);
    csv += fmt::format("{},{},{},{}\n", name, eps, e, t);
  };
  double eps = 0.13, target = NAN;
#ifdef ROUTH_HAS_MUJOCO
  mujoco::SpringBed peer = hopper_peer(0.002);
  target = rms(positions(peer, 2, 0, 0.002), exact);
  row("MuJoCo " + mujoco::version() + ", Euler, step 0.002 s", 0, target,
      seconds(peer, 2, 0, 0.002));
  // ε of the same error with the same greatest step
  double low = 1e-5, high = 0.5;
  for (int i = 0; i < 40; ++i) {
    eps = std::sqrt(low * high);
    Options o = projecting(eps, 1e-6);
    o.step.max_step = 0.002;
    (error(o) < target ? low : high) = eps;
  }
#endif
  Options stepped = projecting(eps, 1e-6);
  stepped.step.max_step = 0.002;
  const auto ours = [&](const std::string& name, double e, const Options& o) {
    row(name, e, error(o), seconds(hopper, hopper.start(), o));
  };
  ours(fmt::format("Routh, eps = {:.3g}, steps up to 0.002 s", eps), eps, stepped);
  ours(fmt::format("Routh, eps = {:.3g}, steps by tolerance", eps), eps, projecting(eps, 1e-6));
  ours("Routh, exact location, steps by tolerance", 0, locating(1e-6));
  fmt::print("{:<44}{:>12}{:>14}\n", "printed: MuJoCo, step 0.002 s", "", "2436");
  fmt::print("{:<44}{:>12}{:>14}\n", "printed: NumPy, eps' = 0.13", "", "10251");
  io::write_file(folder + "/p5-table-5.1.csv", csv);
  return eps;
}

// Fig. 5.2

struct Start {
  double height, angle;
};
std::vector<Start> starts(int count) {
  std::mt19937 random(52);
  std::uniform_real_distribution<double> height(2, 3), angle(-0.1, 0.1);
  std::vector<Start> s;
  for (int i = 0; i < count; ++i) {
    const double h = height(random);
    s.push_back({h, angle(random)});
  }
  return s;
}

/// The plate without the hint which guards can be next: the integrator looks at all of them, as it
/// does for a system it knows nothing about.
struct PlainPlate {
  using State = Plate::State;
  Plate plate;
  void select(const Crossed& crossed, int k) { plate.select(crossed, k); }
  void field(const State& x, const Crossed& crossed, State& dx) { plate.field(x, crossed, dx); }
  void guards(const State& x, Eigen::VectorXd& h) { plate.guards(x, h); }
  void rates(const State& x, const State& dx, Eigen::VectorXd& hdot) { plate.rates(x, dx, hdot); }
  double guard(const State& x, int k) { return plate.guard(x, k); }
  double rate(const State& x, const State& dx, int k) { return plate.rate(x, dx, k); }
};

/// Median time of single runs over all starts [s].
double median_time(int springs, double damping, int count, const Options& options, bool plain) {
  std::vector<double> times;
  for (const Start& s : starts(count)) {
    Plate plate({.springs = springs, .damping = damping, .height = s.height, .angle = s.angle});
    PlainPlate all{plate};
    Options o = options;
    o.reset = plate.reset();
    o.record = false;
    const Plate::State x0 = plate.start();
    double best = HUGE_VAL;
    for (int i = 0; i < 3; ++i) {
      const double begin = now();
      if (plain)
        (void)integrate(all, x0, o);
      else
        (void)integrate(plate, x0, o);
      best = std::min(best, now() - begin);
    }
    times.push_back(best);
  }
  return median(times);
}
double median_error(int springs, double damping, int count, const Options& options) {
  std::vector<double> errors;
  for (const Start& s : starts(count)) {
    Plate plate({.springs = springs, .damping = damping, .height = s.height, .angle = s.angle});
    errors.push_back(rms(positions(plate, plate.start(), options, 3),
                         positions(plate, plate.start(), locating(1e-11), 3)));
  }
  return median(errors);
}
#ifdef ROUTH_HAS_MUJOCO
double median_time_mujoco(int springs, double damping, int count) {
  mujoco::SpringBed peer = plate_peer({.springs = springs, .damping = damping}, 0.002);
  std::vector<double> times;
  for (const Start& s : starts(count)) {
    double best = HUGE_VAL;
    for (int i = 0; i < 3; ++i) {
      peer.reset(s.height, s.angle);
      const double begin = now();
      for (int k = 0; k < 1000; ++k) peer.step();
      best = std::min(best, now() - begin);
    }
    times.push_back(best);
  }
  return median(times);
}
/// Against MuJoCo itself with a hundredth of the step: its own limit.
double median_error_mujoco(int springs, double damping, int count) {
  mujoco::SpringBed peer = plate_peer({.springs = springs, .damping = damping}, 0.002);
  mujoco::SpringBed fine = plate_peer({.springs = springs, .damping = damping}, 0.00002);
  std::vector<double> errors;
  for (const Start& s : starts(count))
    errors.push_back(rms(positions(peer, s.height, s.angle, 0.002),
                         positions(fine, s.height, s.angle, 0.00002)));
  return median(errors);
}
#endif

/// Least-squares slope.
double slope(const std::vector<double>& x, const std::vector<double>& y) {
  double sx = 0, sy = 0, sxx = 0, sxy = 0;
  const auto n = static_cast<double>(x.size());
  for (std::size_t i = 0; i < x.size(); ++i)
    sx += x[i], sy += y[i], sxx += x[i] * x[i], sxy += x[i] * y[i];
  return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

void figure_5_2(const std::string& folder, double eps) {
  struct Method {
    std::string name;
    Options options;
    bool plain = false;
  };
  const std::vector<Method> methods{{fmt::format("eps {:.2g}", eps), projecting(eps, 1e-6)},
                                    {"eps 0.01", projecting(0.01, 1e-6)},
                                    {"exact", locating(1e-6)},
                                    {"exact, plain", locating(1e-6), true}};
  const std::vector<int> sizes{2, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 150, 200, 500, 1000};
  for (const double damping : {0.0, 4.0}) {
    fmt::print("\nFig. 5.2: plate, 0 to 2 s, damping {} N s/m in all, median over starts\n",
               damping);
    fmt::print("{:>9}", "contacts");
    for (const Method& m : methods) fmt::print("{:>18}", m.name + " us");
    fmt::print("{:>18}\n", "MuJoCo us");
    std::string csv = "contacts";
    for (const Method& m : methods) csv += "," + m.name + " s";
    csv += ",mujoco s\n";
    std::vector<double> x;
    std::vector<std::vector<double>> times(methods.size() + 1), all(methods.size() + 1);
    for (const int n : sizes) {
      const int count = n <= 100 ? 120 : 12;
      if (n <= 100) x.push_back(n);
      fmt::print("{:>9}", n);
      csv += fmt::format("{}", n);
      const auto keep = [&](std::size_t i, double t) {
        fmt::print("{:>18.1f}", 1e6 * t);
        csv += fmt::format(",{}", t);
        all[i].push_back(t);
        if (n <= 100) times[i].push_back(t);
      };
      for (std::size_t i = 0; i < methods.size(); ++i)
        keep(i, median_time(n, damping, count, methods[i].options, methods[i].plain));
#ifdef ROUTH_HAS_MUJOCO
      keep(methods.size(), median_time_mujoco(n, damping, count));
#endif
      fmt::print("\n");
      csv += "\n";
    }
    // marginal cost and what it buys
    fmt::print("{:<24}{:>20}{:>16}{:>22}{:>16}\n", "2 to 100 contacts", "us per contact", "ratio",
               "RMS error, 100", "growth to 1000");
    const bool peer = !times.back().empty();
    const double theirs = peer ? slope(x, times.back()) : NAN;
    const std::size_t last = peer ? methods.size() : methods.size() - 1;
    for (std::size_t i = 0; i <= last; ++i) {
      const double per = slope(x, times[i]);
      double error = NAN;
      if (i < methods.size()) error = median_error(100, damping, 11, methods[i].options);
#ifdef ROUTH_HAS_MUJOCO
      if (i == methods.size()) error = median_error_mujoco(100, damping, 5);
#endif
      const auto k = all[i].size() - 1;
      const double growth = std::log(all[i][k] / all[i][k - 3]) / std::log(1000.0 / 150);
      fmt::print("{:<24}{:>20.3f}{:>16.1f}{:>22.2e}{:>16}\n",
                 i < methods.size() ? methods[i].name : "MuJoCo, step 0.002 s", 1e6 * per,
                 theirs / per, error, fmt::format("n^{:.2f}", growth));
    }
    const std::string name = damping == 0 ? "p5-fig-5.2" : "p5-fig-5.2-damped";
    io::write_file(folder + "/" + name + ".csv", csv);
    if (damping == 0) continue;
    io::render(folder, name, [&](const std::string& terminal) {
      std::string text = fmt::format(
          "set terminal {} size 900,420 font 'Helvetica,12'\nset encoding utf8\n"
          "set multiplot layout 1,2 title 'Plate on spring-dampers, 2 s of motion (P5 Fig. 5.2)' "
          "font ',14'\nset border 3 lw 1.2\nset tics nomirror\nset grid xtics ytics lt 1 lc rgb "
          "'#e4e4e4'\n",
          terminal);
      const char* colours[] = {"#c8281e", "#e8a200", "#2a8c4a", "#9acd9a", "#1f5fbf"};
      const auto data = [&](std::size_t i, std::size_t count) {
        std::string d = fmt::format("$d{} << EOD\n", i);
        for (std::size_t k = 0; k < std::min(count, all[i].size()); ++k)
          d += fmt::format("{} {}\n", sizes[k], 1e3 * all[i][k]);
        return d + "EOD\n";
      };
      for (int panel = 0; panel < 2; ++panel) {
        std::string plot;
        for (std::size_t i = 0; i <= last; ++i) {
          text += data(i, panel == 0 ? x.size() : sizes.size());
          plot += fmt::format("{}$d{} w lp pt 7 ps 0.7 lw 2 lc rgb '{}' title '{}'",
                              i ? ", " : "plot ", i, colours[i],
                              i < methods.size() ? "Routh, " + methods[i].name : "MuJoCo, 2 ms");
        }
        text += panel == 0 ? "set key left top Left reverse samplen 2\nset xlabel 'contacts'\nset "
                             "ylabel 'median time [ms]'\nset xrange [0:105]\nset yrange [0:*]\n"
                           : "set logscale xy\nset xrange [1.7:1300]\nset yrange [0.01:*]\nset "
                             "format y '10^{%L}'\nunset key\n";
        text += plot + "\n";
      }
      return text + "unset multiplot\n";
    });
  }
}

// Work and precision

void work_precision(const std::string& folder) {
  struct Curve {
    std::string name;
    std::vector<double> error, seconds;
  };
  std::string csv = "system,method,setting,error_m,seconds\n";
  std::vector<std::vector<Curve>> panels;
  const auto print = [&](const std::string& system, const Curve& c,
                         const std::vector<double>& settings) {
    for (std::size_t i = 0; i < c.error.size(); ++i) {
      fmt::print("{:<10}{:<24}{:>12.2g}{:>14.3e}{:>14.1f}\n", system, c.name, settings[i],
                 c.error[i], 1e6 * c.seconds[i]);
      csv += fmt::format("{},{},{},{},{}\n", system, c.name, settings[i], c.error[i], c.seconds[i]);
    }
  };
  fmt::print(
      "\nWork and precision: RMS error of positions, 0 to 2 s\n{:<10}{:<24}{:>12}{:>14}{:>14}\n",
      "system", "method", "setting", "error", "time [us]");
  const std::vector<double> eps{0.1, 0.03, 0.01, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5};
  const std::vector<double> tolerances{1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11};
  const std::vector<double> steps{0.02, 0.01, 0.005, 0.002, 0.001, 5e-4, 2e-4, 1e-4, 5e-5};
  const auto ours = [&](auto& system, const std::string& name, int q, const Positions& exact) {
    Curve projected{"projection, eps", {}, {}}, located{"exact location, tol", {}, {}};
    for (const double e : eps) {
      // the smooth pieces as accurate as the projections
      const Options o = projecting(e, std::clamp(1e-2 * e * e, 1e-12, 1e-5));
      projected.error.push_back(rms(positions(system, system.start(), o, q), exact));
      projected.seconds.push_back(seconds(system, system.start(), o));
    }
    for (const double t : tolerances) {
      located.error.push_back(rms(positions(system, system.start(), locating(t), q), exact));
      located.seconds.push_back(seconds(system, system.start(), locating(t)));
    }
    print(name, projected, eps);
    print(name, located, tolerances);
    panels.push_back({projected, located});
  };

  Hopper hopper;
  Positions exact(1, kSamples);
  for (int k = 0; k < kSamples; ++k) exact(0, k) = hopper.exact(k * kGrid)[0];
  ours(hopper, "hopper", 1, exact);
  const PlateParameters parameters{.springs = 20, .damping = 4};
  Plate plate(parameters);
  const Positions reference = positions(plate, plate.start(), locating(1e-13), 3);
#ifdef ROUTH_HAS_MUJOCO
  for (const bool rk4 : {false, true}) {
    Curve c{rk4 ? "MuJoCo RK4, step" : "MuJoCo Euler, step", {}, {}};
    for (const double step : steps) {
      mujoco::SpringBed peer = hopper_peer(step, rk4);
      c.error.push_back(rms(positions(peer, 2, 0, step), exact));
      c.seconds.push_back(seconds(peer, 2, 0, step));
    }
    print("hopper", c, steps);
    panels[0].push_back(c);
  }
#endif
  ours(plate, "plate", 3, reference);
#ifdef ROUTH_HAS_MUJOCO
  // its contact law differs slightly: against its own limit
  mujoco::SpringBed fine = plate_peer(parameters, 4e-6, true);
  const Positions limit = positions(fine, parameters.height, parameters.angle, 4e-6);
  for (const bool rk4 : {false, true}) {
    Curve c{rk4 ? "MuJoCo RK4, step" : "MuJoCo Euler, step", {}, {}};
    for (const double step : steps) {
      mujoco::SpringBed peer = plate_peer(parameters, step, rk4);
      c.error.push_back(rms(positions(peer, parameters.height, parameters.angle, step), limit));
      c.seconds.push_back(seconds(peer, parameters.height, parameters.angle, step));
    }
    print("plate", c, steps);
    panels[1].push_back(c);
  }
#endif
  io::write_file(folder + "/p5-work-precision.csv", csv);
  io::render(folder, "p5-work-precision", [&](const std::string& terminal) {
    std::string text = fmt::format(
        "set terminal {} size 960,440 font 'Helvetica,12'\nset encoding utf8\n"
        "set multiplot layout 1,2\nset border 3 lw 1.2\nset tics nomirror\nset grid xtics "
        "ytics lt 1 lc rgb "
        "'#e4e4e4'\nset logscale xy\nset format '10^{{%L}}'\nset xlabel 'RMS error [m]'\n"
        "set ylabel 'time for 2 s of motion [ms]'\nset xrange [1e-12:3]\n",
        terminal);
    const char* colours[] = {"#c8281e", "#2a8c4a", "#1f5fbf", "#7b3fa0"};
    for (std::size_t p = 0; p < panels.size(); ++p) {
      std::string plot;
      for (std::size_t i = 0; i < panels[p].size(); ++i) {
        const Curve& c = panels[p][i];
        text += fmt::format("$d{} << EOD\n", i);
        for (std::size_t k = 0; k < c.error.size(); ++k)
          if (c.error[k] < 3 && c.error[k] > 0)
            text += fmt::format("{} {}\n", c.error[k], 1e3 * c.seconds[k]);
        text += "EOD\n";
        plot += fmt::format("{}$d{} w lp pt 7 ps 0.7 lw 2 lc rgb '{}' title '{}'",
                            i ? ", " : "plot ", i, colours[i], c.name);
      }
      text +=
          fmt::format("set title '{}'\n{}\n{}\n", p == 0 ? "hopper" : "plate on 20 spring-dampers",
                      p == 0 ? "set key left top Left reverse samplen 2" : "unset key", plot);
    }
    return text + "unset multiplot\n";
  });
}

}  // namespace
}  // namespace routh::bench

int main(int argc, char** argv) {
  const std::string folder = argc > 1 ? argv[1] : "results";
  const std::vector<std::string> parts(argv + std::min(argc, 2), argv + argc);
  routh::io::make_folder(folder);
  const auto wanted = [&](const std::string& part) {
    return parts.empty() || std::find(parts.begin(), parts.end(), part) != parts.end();
  };
#ifndef ROUTH_HAS_MUJOCO
  fmt::print("built without MuJoCo: its comparison is left out\n");
#endif
  double eps = 0.024;
  if (wanted("hopper")) eps = routh::bench::table_5_1(folder);
  if (wanted("work")) routh::bench::work_precision(folder);
  if (wanted("plate")) routh::bench::figure_5_2(folder, eps);
  fmt::print("\nCSV files and figures are in {}\n", folder);
}
