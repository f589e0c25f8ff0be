#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>

#include "reproduce.h"
#include "routh/event_selected/integrate.h"
#include "routh/event_selected/systems.h"
#include "routh/io/gnuplot.h"

namespace routh::app {
namespace {

using namespace event_selected;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}
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

/// Fig. 5.1 and Table 5.1, without MuJoCo, which the benchmark runs beside.
void hopper(const std::string& folder) {
  Hopper system;
  constexpr double kEvery = 0.002;
  struct Row {
    std::string name;
    Options options;
    std::vector<double> dz, dv;
    double rms = 0, seconds = 0;
  };
  const Options base{.t_end = 2, .reset = Hopper::reset(), .step = {.rtol = 1e-6, .atol = 1e-6}};
  std::vector<Row> rows;
  const auto add = [&](const std::string& name, double eps, bool exact, double max_step) {
    Options o = base;
    o.eps = eps, o.exact = exact, o.step.max_step = max_step;
    rows.push_back({name, o, {}, {}});
  };
  add("ε = 0.13, steps up to 0.002 s", 0.13, false, 0.002);
  add("ε = 0.024, steps up to 0.002 s", 0.024, false, 0.002);
  add("ε = 0.024, steps by tolerance", 0.024, false, HUGE_VAL);
  add("exact location, steps by tolerance", 1, true, HUGE_VAL);
  std::vector<double> time, z, v, z_ours, v_ours;
  for (Row& row : rows) {
    Options o = row.options;
    o.sample_every = kEvery;
    const std::vector<Hopper::State> states = on_grid(integrate(system, system.start(), o), kEvery);
    double sum = 0;
    for (std::size_t k = 0; k < states.size(); ++k) {
      const Hopper::State exact = system.exact(static_cast<double>(k) * kEvery);
      row.dz.push_back(states[k][0] - exact[0]), row.dv.push_back(states[k][1] - exact[1]);
      sum += row.dz.back() * row.dz.back();
      if (&row != &rows[0]) continue;
      time.push_back(static_cast<double>(k) * kEvery);
      z.push_back(exact[0]), v.push_back(exact[1]);
      z_ours.push_back(states[k][0]), v_ours.push_back(states[k][1]);
    }
    row.rms = std::sqrt(sum / static_cast<double>(states.size()));
    o = row.options;
    o.record = false;
    std::vector<double> times;
    for (int i = 0; i < 101; ++i) {
      const auto begin = Clock::now();
      (void)integrate(system, system.start(), o);
      times.push_back(seconds_since(begin));
    }
    row.seconds = median(times);
  }

  fmt::print("\nP5 Table 5.1 and Fig. 5.1: hopper, 0 to 2 s, k/m = 100 (not given in P5)\n");
  fmt::print("    {:<40}{:>14}{:>14}\n", "", "RMS of z [m]", "time [s]");
  fmt::print("    {:<40}{:>14}{:>14}\n", "printed: MuJoCo, step 0.002 s", "", "0.002436");
  fmt::print("    {:<40}{:>14}{:>14}\n", "printed: NumPy, eps' = 0.13", "as MuJoCo", "0.010251");
  std::string markdown =
      "# P5 Table 5.1: hopper, 0 to 2 s\n\nRMS error of z against the closed form, k/m = 100 s⁻² "
      "(not given in P5). ε' is where the error equals MuJoCo's;\nwith this k/m it is 0.024, "
      "measured by `build/bench/event_selected_bench`.\n\n| | RMS [m] | time [s] |\n|---|---|---|\n"
      "| printed: MuJoCo, step 0.002 s | not given | 0.002436 |\n"
      "| printed: NumPy, ε' = 0.13 | as MuJoCo | 0.010251 |\n";
  std::string csv = "method,rms_m,seconds\n";
  for (const Row& row : rows) {
    fmt::print("    {:<41}{:>14.2e}{:>14.2e}\n", row.name, row.rms, row.seconds);
    markdown += fmt::format("| {} | {:.2e} | {:.2e} |\n", row.name, row.rms, row.seconds);
    csv += fmt::format("\"{}\",{},{}\n", row.name, row.rms, row.seconds);
  }
  Options minutes = base;
  minutes.t_end = 600, minutes.exact = true, minutes.record = false;
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

  const auto written = io::render(folder, "p5-hopper", [&](const std::string& terminal) {
    std::string text = fmt::format(
        "set terminal {} size 940,620 font 'Helvetica,12'\n{}"
        "set multiplot layout 2,2\nset xrange [0:2]\nset lmargin 10\n",
        terminal, kStyle);
    text += block("z", time, z) + block("v", time, v) + block("zo", time, z_ours) +
            block("vo", time, v_ours);
    for (std::size_t i = 0; i < 2; ++i)
      text += block(fmt::format("dz{}", i), time, rows[i].dz) +
              block(fmt::format("dv{}", i), time, rows[i].dv);
    const auto panel = [&](const std::string& label, const std::string& exact,
                           const std::string& ours, bool key) {
      text += fmt::format(
          "set ylabel '{}'\nset xlabel ''\n{}\nplot ${} w l lw 4 lc rgb '#b8b8b8' title "
          "'closed "
          "form', ${} w l lw 1.6 lc rgb '#c8281e' title 'ε = 0.13'\n",
          label, key ? "set key at graph 0.8, graph 0.22 samplen 2" : "unset key", exact, ours);
    };
    panel("height z [m]", "z", "zo", true);
    panel("velocity [m/s]", "v", "vo", false);
    for (const auto& [label, name] :
         {std::pair{"error of z [m]", "dz"}, {"error of velocity [m/s]", "dv"}})
      text += fmt::format(
          "set ylabel '{0}'\nset xlabel 'time [s]'\n{2}\nplot ${1}0 w l lw 1.6 lc rgb "
          "'#c8281e' title 'ε = 0.13', ${1}1 w l lw 1.6 lc rgb '#1f5fbf' title 'ε = 0.024'\n",
          label, name,
          name[1] == 'z' ? "set key default\nset key bottom left samplen 2" : "unset key");
    return text + "unset multiplot\n";
  });
  fmt::print("    {}\n", fmt::join(written, ", "));
}

/// Fig. 5.2, without MuJoCo, which the benchmark runs beside.
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
  const char* names[] = {"ε = 0.024", "exact location"};
  std::vector<double> contacts;
  std::vector<double> times[2];
  std::string csv = "contacts,eps_0.024_s,exact_s\n";
  fmt::print("\nP5 Fig. 5.2: plate on spring-dampers, 0 to 2 s, median of 120 starts [us]\n");
  fmt::print("    {:>9}{:>14}{:>16}\n", "contacts", "eps = 0.024", "exact location");
  for (const int n : sizes) {
    contacts.push_back(n);
    for (int mode = 0; mode < 2; ++mode) {
      std::vector<double> each;
      for (const auto& [h, a] : starts) {
        Plate system({.springs = n, .damping = 4, .height = h, .angle = a});
        Options o = base;
        o.eps = 0.024, o.exact = mode == 1, o.reset = system.reset();
        const Plate::State x0 = system.start();
        const auto begin = Clock::now();
        (void)integrate(system, x0, o);
        each.push_back(seconds_since(begin));
      }
      times[mode].push_back(median(each));
    }
    fmt::print("    {:>9}{:>14.1f}{:>16.1f}\n", n, 1e6 * times[0].back(), 1e6 * times[1].back());
    csv += fmt::format("{},{},{}\n", n, times[0].back(), times[1].back());
  }
  std::string markdown =
      "# P5 Fig. 5.2: time against contacts\n\nPlate on spring-dampers (parameters are not given "
      "in "
      "P5: see docs/event-selected.md), 0 to 2 s, median over 120 random\nstarts. P5 finds the "
      "marginal cost of its NumPy code about that of MuJoCo and irregularities above 150 contacts "
      "in both.\nMuJoCo beside these numbers: `build/bench/event_selected_bench`.\n\n| contacts | "
      "ε "
      "= 0.024 [µs] | exact location [µs] |\n|---|---|---|\n";
  for (std::size_t i = 0; i < sizes.size(); ++i)
    markdown +=
        fmt::format("| {} | {:.1f} | {:.1f} |\n", sizes[i], 1e6 * times[0][i], 1e6 * times[1][i]);
  const auto upto = [&](const std::vector<double>& all, std::size_t count) {
    return std::vector<double>(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count));
  };
  for (int mode = 0; mode < 2; ++mode) {
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
    for (int mode = 0; mode < 2; ++mode) {
      std::vector<double> milliseconds;
      for (const double t : times[mode]) milliseconds.push_back(1e3 * t);
      text += block(fmt::format("d{}", mode), contacts, milliseconds);
    }
    const std::string curves = fmt::format(
        "$d0 w lp pt 7 ps 0.7 lw 2 lc rgb '#c8281e' title '{}', $d1 w lp pt 7 ps 0.7 lw 2 lc "
        "rgb '#2a8c4a' title '{}'\n",
        names[0], names[1]);
    text += "set key left top Left reverse samplen 2\nset xrange [0:105]\nset yrange [0:*]\n";
    text += fmt::format("set yrange [0:{}]\nplot {}", 1.15e3 * times[1][11], curves);
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
