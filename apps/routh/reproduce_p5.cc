#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <optional>
#include <random>

#include "reproduce.h"
#include "routh/event_selected/integrate.h"
#include "routh/event_selected/systems.h"
#include "routh/io/gnuplot.h"
#ifdef ROUTH_HAS_MUJOCO
#include "routh/mujoco/own_outcome.h"
#include "routh/mujoco/spring_bed.h"
#endif

namespace routh::app {
namespace {

using namespace event_selected;

/// Processor time of this thread [s]: what others do on the machine is no one's cost.
struct Clock {
  static double now() {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  }
};
double seconds_since(double begin) { return Clock::now() - begin; }
double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}
double slope(const std::vector<double>& x, const std::vector<double>& y) {
  double sx = 0, sy = 0, sxx = 0, sxy = 0;
  const auto n = static_cast<double>(x.size());
  for (std::size_t i = 0; i < x.size(); ++i)
    sx += x[i], sy += y[i], sxx += x[i] * x[i], sxy += x[i] * y[i];
  return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}
std::string block(const std::string& name, const std::vector<double>& x,
                  const std::vector<double>& y) {
  std::string text = fmt::format("${} << EOD\n", name);
  for (std::size_t i = 0; i < x.size(); ++i) text += fmt::format("{:.9g} {:.9g}\n", x[i], y[i]);
  return text + "EOD\n";
}
const char* kStyle =
    "set encoding utf8\nset border 3 lw 1.2\nset tics nomirror\nset grid xtics ytics lt 1 lc rgb "
    "'#e4e4e4'\n";

/// The states on the grid of samples, without those at events.
template <class State>
std::vector<State> on_grid(const Solution<State>& s, double every) {
  std::vector<State> states;
  for (std::size_t i = 0; i < s.times.size(); ++i)
    if (std::abs(s.times[i] - static_cast<double>(states.size()) * every) < 1e-9 * every)
      states.push_back(s.states[i]);
  return states;
}

/// Fig. 4.1: RMS error over 1/ε.
void order_of_p5(const std::string& folder) {
  OrderTest system;
  constexpr double kEvery = 0.005;
  const auto run = [&](double eps, bool exact, double tolerance) {
    return on_grid(integrate(system, OrderTest::start(),
                             {.eps = eps,
                              .exact = exact,
                              .t_end = 0.5,
                              .step = {.rtol = tolerance, .atol = tolerance},
                              .sample_every = kEvery}),
                   kEvery);
  };
  // the tests hold exact location against matrix exponentials, to 1e-10
  const std::vector<OrderTest::State> exact = run(1, true, 1e-14);
  std::vector<double> inverse, error, log_eps, log_error;
  std::string csv = "eps,rms\n";
  for (int i = 0; i <= 48; ++i) {
    const double eps = 0.09 * std::pow(10, -i / 8.0);
    const std::vector<OrderTest::State> states = run(eps, false, 1e-13);
    double sum = 0;
    for (std::size_t k = 0; k < states.size(); ++k) sum += (states[k] - exact[k]).squaredNorm();
    inverse.push_back(1 / eps);
    error.push_back(std::sqrt(sum / (3 * static_cast<double>(states.size()))));
    csv += fmt::format("{},{}\n", eps, error.back());
    if (eps < 1e-4 || eps > 1e-2) continue;
    log_eps.push_back(std::log(eps)), log_error.push_back(std::log(error.back()));
  }
  const double fit = slope(log_eps, log_error);
  double offset = 0;
  for (std::size_t i = 0; i < log_eps.size(); ++i)
    offset += (log_error[i] - fit * log_eps[i]) / static_cast<double>(log_eps.size());
  fmt::print("\nP5 Fig. 4.1: RMS error of the Table 4.1 system falls as eps^p\n");
  fmt::print("    p on 1e-4 .. 1e-2: {:.3f} (printed: at least 2.1; expected: 2)\n", fit);
  fmt::print("    K in K eps^p: {:.3f}; RMS at eps = 1e-3: {:.2e}\n", std::exp(offset),
             std::exp(offset + fit * std::log(1e-3)));
  save(folder, "p5-order.csv", csv);
  save(folder, "p5-order.md",
       fmt::format("# P5 Fig. 4.1: order of the event-selected integrator\n\nTable 4.1, start "
                   "(-0.4, -0.15, 0.3), 0 to 0.5 s, RMS error over 101 samples.\n\n| | printed | "
                   "measured |\n|---|---|---|\n| order on ε from 1e-4 to 1e-2 | at least 2.1 | "
                   "{:.3f} |\n| RMS error at ε = 1e-3 | not given | {:.2e} |\n",
                   fit, std::exp(offset + fit * std::log(1e-3))));
  const auto written = io::render(folder, "p5-order", [&](const std::string& terminal) {
    return fmt::format(
               "set terminal {} size 720,520 font 'Helvetica,13'\n{}"
               "set logscale xy\nset format '10^{{%T}}'\nset xlabel '1 / ε'\n"
               "set ylabel 'RMS error'\nset key top right samplen 3\nset xrange [10:2e7]\n"
               "set yrange [1e-14:1]\n"
               "set object 1 rectangle from 1e2, graph 0 to 1e4, graph 1 fc rgb '#eeeeee' "
               "fillstyle solid noborder behind\n",
               terminal, kStyle) +
           block("d", inverse, error) +
           fmt::format(
               "plot {} * x**({}) w l dt 2 lw 2 lc rgb '#1f5fbf' title 'fit on the "
               "grey interval: ε^{{{:.2f}}}', $d w p pt 7 ps 0.7 lc rgb "
               "'#c8281e' title 'projection within ε'\n",
               std::exp(offset), -fit, fit);
  });
  fmt::print("    {}\n", fmt::join(written, ", "));
}

constexpr double kHopperEvery = 0.002, kHopperEnd = 2;  // [s]
constexpr double kPrintedEps = 0.13;  // P5's ε', with a k/m that it does not give

/// A motion of the hopper on the grid, and how far it is from the closed form.
struct HopperRun {
  std::string name;
  std::vector<double> z, v, dz, dv;
  double rms = 0, seconds = 0;

  void keep(const Hopper& system, double height, double speed) {
    const Hopper::State exact = system.exact(static_cast<double>(z.size()) * kHopperEvery);
    z.push_back(height), v.push_back(speed);
    dz.push_back(height - exact[0]), dv.push_back(speed - exact[1]);
    rms = 0;
    for (const double x : dz) rms += x * x;
    rms = std::sqrt(rms / static_cast<double>(dz.size()));
  }
};

/// Ours, with projections from ε away, or with exact location.
HopperRun our_hopper(const std::string& name, const Hopper& system, Options options, bool timed) {
  HopperRun run{.name = name};
  options.t_end = kHopperEnd;
  options.reset = Hopper::reset();
  options.step.rtol = options.step.atol = 1e-6;
  Hopper moved = system;
  options.sample_every = kHopperEvery;
  for (const Hopper::State& x : on_grid(integrate(moved, system.start(), options), kHopperEvery))
    run.keep(system, x[0], x[1]);
  if (!timed) return run;
  options.sample_every = 0, options.record = false;
  std::vector<double> times;
  for (int i = 0; i < 101; ++i) {
    const auto begin = Clock::now();
    (void)integrate(moved, system.start(), options);
    times.push_back(seconds_since(begin));
  }
  run.seconds = median(times);
  return run;
}

Options stepped(double eps) {
  Options o{.eps = eps};
  o.step.max_step = kHopperEvery;
  return o;
}

/// The ε of the same error as `target`, with steps as long as MuJoCo's, by bisection as P5 has it.
double calibrated_eps(const Hopper& system, double target) {
  double low = 1e-5, high = 0.5;
  for (int i = 0; i < 40; ++i) {
    const double middle = std::sqrt(low * high);
    (our_hopper("", system, stepped(middle), false).rms < target ? low : high) = middle;
  }
  return std::sqrt(low * high);
}

#ifdef ROUTH_HAS_MUJOCO
std::optional<HopperRun> mujoco_hopper(const Hopper& system) {
  HopperRun run{.name = "MuJoCo " + mujoco::version() + ", step 0.002 s"};
  mujoco::SpringBed bed({.springs = 1,
                         .stiffness = system.stiffness_over_mass,
                         .length = system.length,
                         .gravity = system.gravity,
                         .step = kHopperEvery,
                         .planar = false});
  const long steps = std::lround(kHopperEnd / kHopperEvery);
  bed.reset(system.height, 0);
  for (long k = 0; k <= steps; ++k, bed.step())
    run.keep(system, bed.position()[0], bed.velocity()[0]);
  std::vector<double> times;
  for (int i = 0; i < 11; ++i) {
    bed.reset(system.height, 0);
    const auto begin = Clock::now();
    for (long k = 0; k < steps; ++k) bed.step();
    times.push_back(seconds_since(begin));
  }
  run.seconds = median(times);
  return run;
}
#else
std::optional<HopperRun> mujoco_hopper(const Hopper&) { return {}; }
#endif

/// ε' where MuJoCo is built in, else P5's own.
double calibrated_eps() {
  static const double eps = [] {
    const Hopper system;
    const std::optional<HopperRun> peer = mujoco_hopper(system);
    return peer ? calibrated_eps(system, peer->rms) : kPrintedEps;
  }();
  return eps;
}

/// Fig. 5.1 and Table 5.1.
void hopper(const std::string& folder) {
  Hopper system;
  const std::optional<HopperRun> peer = mujoco_hopper(system);
  const double eps = calibrated_eps();
  const std::string calibrated =
      fmt::format("ε = {}{:.3g}{}", peer ? "ε' = " : "", eps, peer ? "" : " (as P5 prints)");
  std::vector<HopperRun> rows;
  if (peer) rows.push_back(*peer);
  const std::size_t ours = rows.size();
  rows.push_back(our_hopper(calibrated + ", steps up to 0.002 s", system, stepped(eps), true));
  rows.push_back(our_hopper(calibrated + ", steps by tolerance", system, {.eps = eps}, true));
  rows.push_back(our_hopper("exact location, steps by tolerance", system, {.exact = true}, true));

  fmt::print("\nP5 Table 5.1 and Fig. 5.1: hopper, 0 to 2 s, k/m = 100 (not given in P5)\n");
  fmt::print("    {:<44}{:>14}{:>14}\n", "", "RMS of z [m]", "time [s]");
  fmt::print("    {:<44}{:>14}{:>14}\n", "printed: MuJoCo, step 0.002 s", "", "0.002436");
  fmt::print("    {:<44}{:>14}{:>14}\n", "printed: NumPy, eps' = 0.13", "as MuJoCo", "0.010251");
  const std::string how =
      peer ? fmt::format("ε' = {:.4g} is where our error equals MuJoCo's, by bisection.", eps)
           : "Built without MuJoCo: ε' is the one that P5 prints, for a k/m that it does not give.";
  std::string markdown = fmt::format(
      "# P5 Table 5.1: hopper, 0 to 2 s\n\nRMS error of z against the closed form, k/m = 100 s⁻² "
      "(not given in P5). {}\n\n| | RMS [m] | time [s] |\n|---|---|---|\n"
      "| printed: MuJoCo, step 0.002 s | not given | 0.002436 |\n"
      "| printed: NumPy, ε' = 0.13 | as MuJoCo | 0.010251 |\n",
      how);
  std::string csv = "method,rms_m,seconds\n";
  for (const HopperRun& row : rows) {
    fmt::print("    {:<45}{:>14.2e}{:>14.2e}\n", row.name, row.rms, row.seconds);
    markdown += fmt::format("| {} | {:.2e} | {:.2e} |\n", row.name, row.rms, row.seconds);
    csv += fmt::format("\"{}\",{},{}\n", row.name, row.rms, row.seconds);
  }
  fmt::print("    {}\n", how);
  Options minutes{.t_end = 600, .reset = Hopper::reset()};
  minutes.exact = true, minutes.record = false;
  minutes.step = {.rtol = 1e-12, .atol = 1e-13};
  const auto long_run = integrate(system, system.start(), minutes);
  const double drift = system.energy(long_run.x) / system.energy(system.start()) - 1;
  fmt::print(
      "    ten minutes, exact location, tolerance 1e-12: {} events, energy changes by {:.1e}, "
      "z is off by {:.1e} m\n",
      long_run.counts.events, drift, std::abs(long_run.x[0] - system.exact(600)[0]));
  markdown += fmt::format(
      "\nTen minutes with exact location and tolerance 1e-12: {} events, relative change of energy "
      "{:.1e}, z off by {:.1e} m.\n",
      long_run.counts.events, drift, std::abs(long_run.x[0] - system.exact(600)[0]));
  save(folder, "p5-hopper.md", markdown);
  save(folder, "p5-hopper.csv", csv);

  // motions above, errors below: MuJoCo's dashed over ours
  const HopperRun& own = rows[ours];
  std::vector<double> time, z, v;
  for (std::size_t k = 0; k < own.z.size(); ++k) {
    time.push_back(static_cast<double>(k) * kHopperEvery);
    const Hopper::State exact = system.exact(time.back());
    z.push_back(exact[0]), v.push_back(exact[1]);
  }
  const auto written = io::render(folder, "p5-hopper", [&](const std::string& terminal) {
    std::string text = fmt::format(
        "set terminal {} size 940,670 font 'Helvetica,12'\n{}"
        "set multiplot layout 2,2 title \"\\n\"\nset xrange [0:2]\nset lmargin 11\nset tmargin 2\n",
        terminal, kStyle);
    text += block("z", time, z) + block("v", time, v);
    const std::vector<std::pair<std::string, const HopperRun*>> runs =
        peer ? std::vector{std::pair{std::string("o"), &own}, {"m", &*peer}}
             : std::vector{std::pair{std::string("o"), &own}};
    for (const auto& [name, run] : runs)
      text += block("z" + name, time, run->z) + block("v" + name, time, run->v) +
              block("dz" + name, time, run->dz) + block("dv" + name, time, run->dv);
    const auto curves = [&](const std::string& what) {
      std::string plot = fmt::format("${}o w l lw 2 lc rgb '#c8281e' title {}", what,
                                     io::gnuplot_text(calibrated));
      if (peer)
        plot += fmt::format(", ${}m w l lw 1.6 dt (12,9) lc rgb '#1f5fbf' title 'MuJoCo'", what);
      return plot + "\n";
    };
    const auto panel = [&](const std::string& what, const std::string& label, bool error) {
      text +=
          fmt::format("set ylabel '{}'\nset xlabel '{}'\n{}\nplot ", label, error ? "time [s]" : "",
                      what == "z" ? "set key at screen 0.5, screen 0.955 center center "
                                    "horizontal Left reverse samplen 3"
                                  : "unset key");
      if (!error) text += fmt::format("${} w l lw 4 lc rgb '#c0c0c0' title 'closed form', ", what);
      text += curves(what);
    };
    panel("z", "height z [m]", false);
    panel("v", "velocity [m/s]", false);
    panel("dz", "error of z [m]", true);
    panel("dv", "error of velocity [m/s]", true);
    return text + "unset multiplot\n";
  });
  fmt::print("    {}\n", fmt::join(written, ", "));
}

#ifdef ROUTH_HAS_MUJOCO
/// Median time over some of the starts: MuJoCo takes its time, and takes as much for each.
std::optional<double> mujoco_plate(int springs,
                                   const std::vector<std::pair<double, double>>& starts) {
  constexpr std::size_t kStarts = 5;
  mujoco::SpringBed bed({.springs = springs, .stiffness = 200, .damping = 4, .step = kHopperEvery});
  std::vector<double> times;
  for (std::size_t i = 0; i < std::min(kStarts, starts.size()); ++i) {
    bed.reset(starts[i].first, starts[i].second);
    const auto begin = Clock::now();
    for (long k = std::lround(kHopperEnd / kHopperEvery); k > 0; --k) bed.step();
    times.push_back(seconds_since(begin));
  }
  return median(times);
}
#else
std::optional<double> mujoco_plate(int, const std::vector<std::pair<double, double>>&) {
  return {};
}
#endif

/// Fig. 5.2.
void plate(const std::string& folder) {
  std::mt19937 random(52);
  std::uniform_real_distribution<double> height(2, 3), angle(-0.1, 0.1);
  std::vector<std::pair<double, double>> starts;
  for (int i = 0; i < 120; ++i) {
    const double h = height(random);
    starts.emplace_back(h, angle(random));
  }
  const std::vector<int> sizes{2, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 150, 200, 500, 1000};
  const Options base{.t_end = 2, .step = {.rtol = 1e-6, .atol = 1e-6}, .record = false};
  const double eps = calibrated_eps();
  std::vector<std::string> names{fmt::format("ε = {:.3g}", eps), "exact location"};
  if (mujoco_plate(2, starts)) names.push_back("MuJoCo, step 0.002 s");
  std::vector<double> contacts;
  std::vector<double> times[3];
  std::string csv =
      fmt::format("contacts,eps_{:.3g}_s,exact_s{}\n", eps, names.size() > 2 ? ",mujoco_s" : "");
  fmt::print(
      "\nP5 Fig. 5.2: plate on spring-dampers, 0 to 2 s, median of 120 starts (MuJoCo's of 5) "
      "[us]\n");
  fmt::print("    {:>9}", "contacts");
  for (const std::string& name : names) fmt::print("{:>22}", name);
  fmt::print("\n");
  for (const int n : sizes) {
    contacts.push_back(n);
    for (int mode = 0; mode < 2; ++mode) {
      std::vector<double> each;
      for (const auto& [h, a] : starts) {
        Plate system({.springs = n, .damping = 4, .height = h, .angle = a});
        Options o = base;
        o.eps = eps, o.exact = mode == 1, o.reset = system.reset();
        const Plate::State x0 = system.start();
        const auto begin = Clock::now();
        (void)integrate(system, x0, o);
        each.push_back(seconds_since(begin));
      }
      times[mode].push_back(median(each));
    }
    if (names.size() > 2) times[2].push_back(*mujoco_plate(n, starts));
    fmt::print("    {:>9}", n);
    csv += std::to_string(n);
    for (std::size_t mode = 0; mode < names.size(); ++mode) {
      fmt::print("{:>22.1f}", 1e6 * times[mode].back());
      csv += fmt::format(",{}", times[mode].back());
    }
    fmt::print("\n");
    csv += '\n';
  }
  std::string markdown =
      "# P5 Fig. 5.2: time against contacts\n\nPlate on spring-dampers (parameters are not given "
      "in P5: see docs/event-selected.md), 0 to 2 s, median over 120 random\nstarts (MuJoCo's over "
      "5). P5 finds the marginal cost of its NumPy code about that of MuJoCo and irregularities "
      "above 150\ncontacts in both.\n\n| contacts |";
  for (const std::string& name : names) markdown += fmt::format(" {} [µs] |", name);
  markdown += "\n|---|";
  for (std::size_t mode = 0; mode < names.size(); ++mode) markdown += "---|";
  markdown += '\n';
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    markdown += fmt::format("| {} |", sizes[i]);
    for (std::size_t mode = 0; mode < names.size(); ++mode)
      markdown += fmt::format(" {:.1f} |", 1e6 * times[mode][i]);
    markdown += '\n';
  }
  const auto upto = [&](const std::vector<double>& all, std::size_t count) {
    return std::vector<double>(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count));
  };
  for (std::size_t mode = 0; mode < names.size(); ++mode) {
    const double marginal = slope(upto(contacts, 12), upto(times[mode], 12));
    const double growth = std::log(times[mode][15] / times[mode][11]) / std::log(10.0);
    const std::string line = fmt::format(
        "{}: marginal cost {:.2f} µs per contact from 2 to 100; from 100 to 1000 contacts time "
        "grows "
        "as n^{:.2f}",
        names[mode], 1e6 * marginal, growth);
    fmt::print("    {}\n", line);
    markdown += "\n" + line + ".\n";
  }
  save(folder, "p5-plate.csv", csv);
  save(folder, "p5-plate.md", markdown);
  const auto written = io::render(folder, "p5-plate", [&](const std::string& terminal) {
    std::string text = fmt::format(
        "set terminal {} size 900,420 font 'Helvetica,12'\n{}"
        "set multiplot layout 1,2\nset xlabel 'contacts'\nset ylabel 'median time [ms]'\n",
        terminal, kStyle);
    for (std::size_t mode = 0; mode < names.size(); ++mode) {
      std::vector<double> milliseconds;
      for (const double t : times[mode]) milliseconds.push_back(1e3 * t);
      text += block(fmt::format("d{}", mode), contacts, milliseconds);
    }
    constexpr const char* kCurveColours[] = {"#c8281e", "#2a8c4a", "#1f5fbf"};
    std::string curves;
    for (std::size_t mode = 0; mode < names.size(); ++mode)
      curves += fmt::format("{}$d{} w lp pt 7 ps 0.7 lw 2 lc rgb '{}' title '{}'", mode ? ", " : "",
                            mode, kCurveColours[mode], names[mode]);
    curves += '\n';
    text += "set key left top Left reverse samplen 2 opaque\nset xrange [0:105]\n";
    text += fmt::format("set yrange [0:{}]\nplot {}", 1.3e3 * times[names.size() - 1][11], curves);
    text += "set logscale xy\nset xrange [1.7:1300]\nset autoscale y\nset format y '10^{%L}'\n";
    return text + "unset key\nplot " + curves + "unset multiplot\n";
  });
  fmt::print("    {}\n", fmt::join(written, ", "));
}

}  // namespace

std::vector<ReproduceItem> p5_items() {
  return {{"p5-order", order_of_p5}, {"p5-hopper", hopper}, {"p5-plate", plate}};
}

}  // namespace routh::app
