#include <fmt/format.h>

#include <cmath>

#include "reproduce.h"
#include "routh/io/gnuplot.h"
#include "routh/io/scenario.h"
#include "routh/simulate/stick_slip.h"
#include "routh/simulate/time_stepping.h"

namespace routh::app {
namespace {

using Eigen::Vector2d;
using Eigen::VectorXd;

Trajectory run(const std::string& scenario, const TimeSteppingOptions& options,
               const std::vector<io::Override>& set = {}) {
  const io::Scenario s = io::load_scenario(scenario, set);
  return simulate(*s.mechanism(), {0, s.q, s.v}, options);
}

/// Example 9.1: total variation of the velocities.
void joint(const std::string& folder) {
  const double eps = 0.01, T = 2;
  std::string markdown =
      "# P3 Example 9.1: a joint with an error in its velocity\n\n"
      "q̈ = 0 with the joint q = 0, started with velocity ε = 0.01 m/s, α = γ = ½, T = 2 s. Total "
      "variation of the\nvelocity, which P3 says is 2εT/h for v^h; for the weighted v^{h,α} it is "
      "ε, because (4.9) begins with v⁰.\n\n| h [s] | v^h, printed | measured | v^{h,α}, printed | "
      "measured |\n|---|---|---|---|---|\n";
  fmt::print(
      "\nP3 Example 9.1, total variation of the velocity\n    h [s]   2 eps T/h     v^h        "
      "v^{{h,alpha}}\n");
  for (const double h : {0.1, 0.05, 0.01, 0.001}) {
    const Trajectory t = run("joint-error", {.h = h, .end = T}, {{"eps", eps}});
    double raw = 0, weighted = 0;
    for (std::size_t k = 1; k < t.time.size(); ++k) {
      raw += std::abs(t.stepping()->v_raw[k][0] - t.stepping()->v_raw[k - 1][0]);
      weighted += std::abs(t.v[k][0] - t.v[k - 1][0]);
    }
    fmt::print("    {:<7} {:<13.6g} {:<10.6g} {:.6g}\n", h, 2 * eps * T / h, raw, weighted);
    markdown +=
        fmt::format("| {} | {:.6g} | {:.6g} | 0 | {:.6g} |\n", h, 2 * eps * T / h, raw, weighted);
  }
  save(folder, "p3-joint.md", markdown);
}

/// Example 9.2 and Fig. 9.1.
void stick_slip(const std::string& folder) {
  const Trajectory t = run("stick-slip", {.h = 0.01, .end = 10});
  const ExactStickSlip exact({}, 10);
  std::vector<double> x, weighted, raw, exact_x, exact_v;
  double worst_x = 0, worst_v = 0;
  for (std::size_t k = 0; k < t.time.size(); ++k) {
    x.push_back(t.q[k][0]), weighted.push_back(t.v[k][0]), raw.push_back(t.stepping()->v_raw[k][0]);
    exact_x.push_back(exact.position(t.time[k])), exact_v.push_back(exact.velocity(t.time[k]));
    worst_x = std::max(worst_x, std::abs(x.back() - exact_x.back()));
    worst_v = std::max(worst_v, std::abs(weighted.back() - exact_v.back()));
  }
  fmt::print(
      "\nP3 Example 9.2, Fig. 9.1: T = 10 s, h = 0.01 s, alpha = gamma = 1/2\n"
      "    largest difference from the exact motion: position {:.2e} m, weighted velocity "
      "{:.2e} m/s\n    switching times, exact:",
      worst_x, worst_v);
  for (const double s : exact.switches()) fmt::print(" {:.4f}", s);
  fmt::print("\n");
  const auto written = io::render(folder, "p3-stick-slip", [&](const std::string& terminal) {
    return fmt::format(
               "set terminal {} size 1000,520 font 'Helvetica,12'\nset "
               "encoding utf8\n",
               terminal) +
           io::curve_block("x", t.time, x) + io::curve_block("ex", t.time, exact_x) +
           io::curve_block("w", t.time, weighted) + io::curve_block("ev", t.time, exact_v) +
           io::curve_block("r", t.time, raw) +
           "set multiplot title 'Stick-slip, α = γ = ½, h = 0.01 s' font ',15'\n"
           "set border 3 lw 1.2\nset tics nomirror\nset xrange [0:10]\nset xlabel 'time [s]'\n"
           "set key above horizontal samplen 2\n"
           "set origin 0,0\nset size 0.5,0.93\nset ylabel 'position [m]'\n"
           "plot $x w l lw 2 lc rgb '#1f5fbf' title 'q^{h,α}', $ex w l lw 1.2 dt 2 lc rgb "
           "'black' title 'exact'\n"
           "set origin 0.5,0.465\nset size 0.5,0.465\nset ytics 0.02\nset ylabel 'v^{h,α} [m/s]'\n"
           "plot $w w l lw 2 lc rgb '#1f5fbf' notitle, $ev w l lw 1.2 dt 2 lc rgb 'black' "
           "notitle\n"
           "set origin 0.5,0\nset ylabel 'v^{h} [m/s]'\nset title 'v^{h} changes its sign at every "
           "step that sticks' offset 0,-0.7 font ',11'\n"
           "plot $r w l lw 1 lc rgb '#c8281e' notitle\nunset multiplot\n";
  });
  fmt::print("    {}\n", fmt::join(written, ", "));
}

/// Errors of one scheme over step sizes.
struct Curve {
  std::string title;
  std::vector<double> h, error;

  double slope() const {
    return std::log(error.front() / error.back()) / std::log(h.front() / h.back());
  }
};

double stick_slip_error(double h, double alpha) {
  static const ExactStickSlip exact({}, 10);
  const Trajectory t = run("stick-slip", {.h = h, .alpha = alpha, .end = 10});
  double worst = 0;
  for (std::size_t k = 0; k < t.time.size(); ++k)
    worst = std::max(worst, std::abs(t.q[k][0] - exact.position(t.time[k])));
  return worst;
}

std::vector<Vector2d> pendulum_tips(double h, Jacobians jacobians) {
  std::vector<Vector2d> tips;
  for (const VectorXd& q :
       run("double-pendulum-wall",
           {.h = h, .end = 1.4, .every = 0.02, .jacobians = jacobians, .stabilise = false})
           .q)
    tips.emplace_back(q[3] + 0.5 * std::sin(q[5]), q[4] - 0.5 * std::cos(q[5]));
  return tips;
}

void order(const std::string& folder) {
  std::vector<Curve> curves;
  for (const double alpha : {0.5, 1.0}) {
    Curve curve{fmt::format("stick-slip, α = γ = {}", alpha == 0.5 ? "½" : "1"), {}, {}};
    for (const double h : {0.02, 0.01, 0.005, 0.0025, 0.00125}) {
      curve.h.push_back(h);
      curve.error.push_back(stick_slip_error(h, alpha));
    }
    curves.push_back(curve);
  }
  const std::vector<Vector2d> reference = pendulum_tips(1e-5, Jacobians::kMidpoint);
  for (const auto& [jacobians, name] :
       {std::pair{Jacobians::kMidpoint, "midpoint"}, {Jacobians::kStart, "start"}}) {
    Curve curve{fmt::format("double pendulum, α = γ = ½, Jacobians at the {}", name), {}, {}};
    for (const double h : {1e-2, 5e-3, 2.5e-3, 1.25e-3, 5e-4}) {
      const std::vector<Vector2d> tips = pendulum_tips(h, jacobians);
      double worst = 0;
      for (std::size_t k = 0; k < tips.size(); ++k)
        worst = std::max(worst, (tips[k] - reference[k]).norm());
      curve.h.push_back(h);
      curve.error.push_back(worst);
    }
    curves.push_back(curve);
  }

  std::string markdown =
      "# Order of the time-stepping schemes of P3\n\nLargest error of a position over the whole "
      "motion. Stick-slip against its closed form; the double pendulum with\nthe wall against a "
      "run with h = 1e-5 s.\n\n| scheme | h [s] | error [m] | slope |\n|---|---|---|---|\n";
  std::string csv = "scheme,h,error\n";
  fmt::print("\nOrder of the time-stepping schemes of P3\n");
  for (const Curve& c : curves) {
    fmt::print("    {}: slope {:.2f}\n", c.title, c.slope());
    for (std::size_t k = 0; k < c.h.size(); ++k) {
      fmt::print("        h = {:<8} error {:.3e}\n", c.h[k], c.error[k]);
      markdown += fmt::format("| {} | {} | {:.3e} | {} |\n", c.title, c.h[k], c.error[k],
                              k == 0 ? fmt::format("{:.2f}", c.slope()) : "");
      csv += fmt::format("\"{}\",{},{}\n", c.title, c.h[k], c.error[k]);
    }
  }
  save(folder, "p3-order.md", markdown);
  save(folder, "p3-order.csv", csv);
  const char* colours[] = {"#1f5fbf", "#c8281e", "#2a8c4a", "#e8a200"};
  const auto written = io::render(folder, "p3-order", [&](const std::string& terminal) {
    std::string text = fmt::format(
        "set terminal {} size 820,680 font 'Helvetica,12'\nset encoding utf8\n"
        "set logscale xy\nset format y '10^{{%T}}'\nset format x '10^{{%T}}'\nset border 3 lw "
        "1.2\nset tics nomirror\nset xlabel 'step h [s]'\nset ylabel 'largest error [m]'\n"
        "set key outside below center vertical maxcols 1 Left reverse samplen 2 height 1\nset "
        "xrange "
        "[4e-4:3e-2]\nset yrange [1e-8:1e-1]\nset grid lc rgb "
        "'#e4e4e4'\n",
        terminal);
    std::string plot = "plot ";
    for (std::size_t k = 0; k < curves.size(); ++k) {
      text += io::curve_block(fmt::format("c{}", k), curves[k].h, curves[k].error);
      plot += fmt::format("$c{} w lp pt 7 lw 2 lc rgb '{}' title '{}: slope {:.2f}', ", k,
                          colours[k], curves[k].title, curves[k].slope());
    }
    return text + plot +
           "0.3*x**2 w l dt 2 lc rgb '#888888' title 'h^2', 0.05*x w l dt 3 lc "
           "rgb '#888888' title 'h'\n";
  });
  fmt::print("    {}\n", fmt::join(written, ", "));
}

}  // namespace

std::vector<ReproduceItem> p3_items() {
  return {{"p3-joint", joint}, {"p3-stick-slip", stick_slip}, {"p3-order", order}};
}

}  // namespace routh::app
