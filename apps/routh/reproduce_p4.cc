#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reproduce.h"
#include "routh/io/drawing.h"
#include "routh/io/gnuplot.h"
#include "routh/io/scenario.h"
#include "routh/simulate/hybrid.h"

namespace routh::app {
namespace {

using Eigen::Vector2d;
using Eigen::VectorXd;

constexpr const char *kBlue = "#1f5fbf", *kRed = "#c8281e", *kGrey = "#9a9a9a";

struct Execution {
  io::Scenario scenario;
  Trajectory t;

  std::string word(std::size_t most = 8) const {
    std::string text;
    for (std::size_t k = 0; k < t.hybrid()->modes.size() && k < most; ++k)
      text.append(k ? " " : "").append(to_string(t.hybrid()->modes[k], scenario.terms.contacts));
    return t.hybrid()->modes.size() > most ? text + " .." : text;
  }
  /// Forces at a recorded state.
  Instant at(std::size_t k) const {
    return instant(*scenario.mechanism(), {t.time[k], t.q[k], t.v[k]},
                   {.limbs = scenario.limbs(), .mode = t.hybrid()->modes[t.hybrid()->mode_at[k]]});
  }
  /// Does a mode of the word last, or is it left at the instant it is taken?
  bool lasts(std::size_t mode) const {
    return mode == 0 || mode == t.events.size() || t.events[mode].time > t.events[mode - 1].time;
  }
  /// The last recorded state not after a time.
  std::size_t index(double time) const {
    const auto after = std::upper_bound(t.time.begin(), t.time.end(), time + 1e-12);
    return after == t.time.begin() ? 0 : after - t.time.begin() - 1;
  }
};

Execution execute(const std::string& name, double end, double dt_pseudo,
                  const std::vector<io::Override>& set = {}) {
  Execution e{io::load_scenario(name, set), {}};
  e.t = simulate(
      *e.scenario.mechanism(), {0, e.scenario.q, e.scenario.v},
      HybridOptions{
          .end = end, .every = end / 1000, .dt_pseudo = dt_pseudo, .limbs = e.scenario.limbs()});
  return e;
}

std::string begin(const std::string& terminal, int width, int height) {
  return fmt::format("set terminal {} size {},{} font 'Helvetica,12'\nset encoding utf8\n",
                     terminal, width, height);
}

/// One keyframe: the mechanism, contact forces in blue and the velocity of the body in red.
std::string keyframe(const Execution& e, double time, bool forces, Vector2d low, Vector2d high,
                     double newton, double metre_per_second, const std::string& title) {
  const std::size_t k = e.index(time);
  const PlanarMechanism& mechanism = *e.scenario.mechanism();
  std::string text = fmt::format("set title '{}' offset 0,-0.7\nunset arrow\n", title);
  text += fmt::format("$planes << EOD\n{}EOD\n$now << EOD\n{}EOD\n",
                      io::polylines(io::planes(mechanism, low, high)),
                      io::polylines(io::outlines(mechanism, e.t.q[k])));
  const auto arrow = [&](const Vector2d& from, const Vector2d& by, const char* colour) {
    if (by.norm() < 1e-3) return;
    text += fmt::format(
        "set arrow from {:.6g},{:.6g} to {:.6g},{:.6g} front size graph 0.035,20 filled lw 2 lc "
        "rgb '{}'\n",
        from.x(), from.y(), from.x() + by.x(), from.y() + by.y(), colour);
  };
  if (forces) {
    const Instant now = e.at(k);
    const Terms terms = mechanism.terms(e.t.q[k], e.t.v[k], e.t.time[k]);
    for (std::size_t i = 0; i < terms.contacts.size(); ++i) {
      const Contact& c = terms.contacts[i];
      const Vector2d normal = c.normal.head<2>(), tangent(normal.y(), -normal.x());
      arrow(c.point.head<2>(), newton * (now.normal[i] * normal + now.tangential[i] * tangent),
            kBlue);
    }
    arrow(e.t.q[k].head<2>(), metre_per_second * e.t.v[k].head<2>(), kRed);
  }
  return text +
         fmt::format("plot $planes w l lw 3 lc rgb '{}', $now w l lw 2 lc rgb '#303030'\n", kGrey);
}

std::string frames_setup(int rows, int columns, const std::string& title, Vector2d low,
                         Vector2d high) {
  return fmt::format(
      "set multiplot layout {},{} title \"{}\\n{{/=12 blue: contact forces; red: velocity of the "
      "body}}\" "
      "font ',15'\nunset key\nunset tics\nset border 31 lc "
      "rgb '#dddddd'\nset size ratio -1\nset lmargin 0.5\nset rmargin 0.5\nset tmargin 1.8\nset "
      "bmargin 0.3\nset clip one\nset clip two\nset xrange [{}:{}]\nset yrange [{}:{}]\n",
      rows, columns, title, low.x(), high.x(), low.y(), high.y());
}

void written(const std::vector<std::string>& files) {
  fmt::print("    {}\n", fmt::join(files, ", "));
}

/// Normal force of the first leg around the touchdown of the second, with and without
/// pseudo-impulse.
void figure4(const std::string& folder) {
  fmt::print("\nP4 Fig. 4: normal force of the first leg when the second one touches down\n");
  std::vector<double> time[2], force[2];
  std::string words[2];
  const double pseudo[] = {0.03, 0};
  for (int i = 0; i < 2; ++i) {
    const Execution e = execute("two-leg-touchdown", 0.06, pseudo[i]);
    for (std::size_t k = 0; k < e.t.time.size(); ++k) {
      if (!e.lasts(e.t.hybrid()->mode_at[k])) continue;
      time[i].push_back(1e3 * e.t.time[k]);
      force[i].push_back(e.at(k).normal[0]);
    }
    words[i] = e.word();
    fmt::print("    dt = {:<5} word {}\n", pseudo[i], words[i]);
    for (const Event& event : e.t.events) {
      if (event.kind != EventKind::kImpact) continue;
      fmt::print("        impact at {:.4f} s, impulse on the first leg {:.3f} N s\n", event.time,
                 event.contacts[0] == 0 ? event.impulse[0] : 0.0);
      break;
    }
  }
  fmt::print(
      "    P4 prints -1.47 N s and contact kept by 7.91 N s of pseudo-impulse, for its robot\n");
  written(io::render(folder, "p4-fig4", [&](const std::string& terminal) {
    std::string text = begin(terminal, 800, 560);
    text += io::curve_block("a", time[0], force[0]) + io::curve_block("b", time[1], force[1]);
    text += fmt::format(
        "set multiplot layout 2,1 title 'Normal force of the first leg while the second touches "
        "down' font ',15'\nset border 3 lw 1.2\nset tics nomirror\nset xrange [0:60]\nset ylabel "
        "'λ_{{1n}} [N]'\nset lmargin 10\nset bmargin 3.2\nset yrange [0:130]\nset ytics 20\nset "
        "grid "
        "ytics lc rgb '#e4e4e4'\nunset key\nset xlabel 'time [ms]' offset 0,0.6\n"
        "set title 'δt = 0.03 s: both legs stay' offset 0,-0.6 tc rgb '{0}'\n"
        "plot $a w l lw 2.5 lc rgb '{0}'\n"
        "set title 'δt = 0: the first leg is torn off and comes back' tc rgb '{1}'\n"
        "plot $b w l lw 2.5 lc rgb '{1}'\n",
        kBlue, kRed);
    return text + "unset multiplot\n";
  }));
}

/// Keyframes of the rocking block.
void figure8_of_p4(const std::string& folder) {
  const Execution zeno = execute("rocking-block-p4", 0.5, 0),
                  rest = execute("rocking-block-p4", 0.5, 0.03);
  fmt::print("\nP4 Fig. 8: a rocking block with and without pseudo-impulse\n");
  fmt::print(
      "    dt = 0:    word {}\n    dt = 0.03: word {}   (printed {{l}} {{r}} {{l}} {{l, r}})\n",
      zeno.word(), rest.word());
  const std::vector<double> times{0, 0.06, 0.13, 0.2013, 0.24, 0.29};
  const Vector2d low(-0.05, -0.012), high(0.075, 0.125);
  written(io::render(folder, "p4-fig8", [&](const std::string& terminal) {
    std::string text = begin(terminal, 1000, 460);
    text += frames_setup(2, static_cast<int>(times.size()),
                         "Rocking block: δt = 0 (above) and δt = 0.03 s (below)", low, high);
    for (const Execution* e : {&zeno, &rest}) {
      for (const double time : times) {
        text += keyframe(*e, time, true, low, high, 4e-4, 0.25, fmt::format("{:.3g} s", time));
      }
    }
    return text + "unset multiplot\n";
  }));
}

/// Vertical velocity of the rocking block.
void figure9(const std::string& folder) {
  const Execution zeno = execute("rocking-block-p4", 0.5, 0),
                  rest = execute("rocking-block-p4", 0.5, 0.03);
  const double w = 0.05, h = 0.1, inertia = (w * w + h * h) / 12;
  const double threshold = 0.03 * 9.81 / 2 * w * w / (2 * inertia - (w * w - h * h) / 2);
  fmt::print("\nP4 Fig. 9: vertical velocity of the block\n");
  fmt::print("    comes to rest at {:.4f} s                 (printed 0.27 s)\n",
             rest.t.events.back().time);
  fmt::print("    threshold of the speed {:.2f} cm/s          (printed 6.3 cm/s)\n",
             100 * threshold);
  for (const ZenoPoint& z : zeno.t.hybrid()->zeno) {
    fmt::print(
        "    without pseudo-impulse: accumulation at {:.9f} s, error {:.1e} s, ratio {:.4f}\n",
        z.state.time, z.error, z.ratio);
  }
  const auto series = [&](const Execution& e) {
    std::vector<double> y;
    for (const VectorXd& v : e.t.v) y.push_back(100 * v[1]);
    return y;
  };
  written(io::render(folder, "p4-fig9", [&](const std::string& terminal) {
    std::string text = begin(terminal, 800, 560);
    text += io::curve_block("a", zeno.t.time, series(zeno)) +
            io::curve_block("b", rest.t.time, series(rest));
    text += fmt::format(
        "set multiplot layout 2,1 title 'Vertical velocity of a settling block' font "
        "',15'\nset "
        "border 3 lw 1.2\nset tics nomirror\nset xrange [0:0.5]\nset yrange [-12:9]\nset "
        "lmargin "
        "10\nset bmargin 3.2\nset ylabel 'v_z [cm/s]'\nset key bottom right samplen 2\n"
        "set xlabel 'time [s]' offset 0,0.6\n"
        "plot $a w l lw 2.5 lc rgb '{}' title 'δt = 0: impacts accumulate'\n"
        "plot $b w l lw 2.5 lc rgb '{}' title 'δt = 0.03 s: rest', {} w l lw 1.5 dt 3 lc rgb "
        "'black' title 'slower impacts end in rest'\n",
        kRed, kBlue, -100 * threshold);
    return text + "unset multiplot\n";
  }));
}

struct Leap {
  double height = 0, lift = 0, forward = 0, pitch = 0;
  bool whole = false;  ///< ran to its end
};
Leap leap_of(const Execution& e) {
  Leap leap{.whole = !e.t.stopped()};
  for (std::size_t k = 0; k < e.t.time.size(); ++k) {
    if (e.t.q[k][1] <= leap.height) continue;
    leap = {e.t.q[k][1], 0, e.t.q[k][0], e.t.q[k][2], leap.whole};
  }
  for (const Event& event : e.t.events) {
    const bool flies = std::all_of(event.mode_after.begin(), event.mode_after.end(),
                                   [](Grip g) { return g == Grip::kOpen; });
    if (flies) {
      leap.lift = event.time;
      break;
    }
  }
  return leap;
}

/// Keyframes of the leaps of Figs 1 and 5, and the height over the relative leg timing.
void leaps(const std::string& folder) {
  struct Show {
    const char *scenario, *name, *title;
    std::vector<double> times;
    Vector2d low, high;
  };
  const std::vector<Show> shows{{"rhex-leap",
                                 "p4-leap-forward",
                                 "Leap forward (as P4 Fig. 1)",
                                 {0, 0.05, 0.09, 0.138, 0.2, 0.26},
                                 {-0.45, -0.05},
                                 {0.65, 0.65}},
                                {"rhex-vertical-leap",
                                 "p4-leap-vertical",
                                 "Leap straight up (as P4 Fig. 5)",
                                 {0, 0.04, 0.07, 0.1, 0.18, 0.26},
                                 {-0.45, -0.05},
                                 {0.45, 0.65}}};
  for (const Show& show : shows) {
    const Execution e = execute(show.scenario, show.times.back() + 0.02, 0.03);
    const Leap leap = leap_of(e);
    fmt::print(
        "\n{}: word {}\n    feet leave at {:.4f} s, top {:.3f} m at x = {:.3f} m, pitch {:.2f} "
        "rad\n",
        show.title, e.word(), leap.lift, leap.height, leap.forward, leap.pitch);
    written(io::render(folder, show.name, [&](const std::string& terminal) {
      std::string text = begin(terminal, 1000, 560);
      text += frames_setup(2, 3, show.title, show.low, show.high);
      for (const double time : show.times) {
        text += keyframe(e, time, true, show.low, show.high, 1.2e-3, 0.12,
                         fmt::format("{:.0f} ms", 1e3 * time));
      }
      return text + "unset multiplot\n";
    }));
  }

  // height over timing
  fmt::print(
      "\nHeight of the leap over the relative leg timing t2\n    t2 [ms]  forward [m]  vertical "
      "[m]\n");
  std::vector<double> t2s, height[2];
  for (int i = -40; i <= 40; ++i) {
    const double t2 = 2e-3 * i;
    t2s.push_back(1e3 * t2);
    for (int s = 0; s < 2; ++s) {
      const Execution e = execute(shows[s].scenario, 0.4, 0.03, {{"t2", t2}});
      const Leap leap = leap_of(e);
      height[s].push_back(leap.whole ? leap.height : NAN);
    }
    if (i % 5 == 0)
      fmt::print("    {:>6.0f}   {:<12.4f} {:.4f}\n", t2s.back(), height[0].back(),
                 height[1].back());
  }
  for (int s = 0; s < 2; ++s) {
    std::size_t best = 0;
    for (std::size_t k = 0; k < t2s.size(); ++k) {
      if (!(height[s][best] >= height[s][k])) best = std::isfinite(height[s][k]) ? k : best;
    }
    fmt::print("    {}: best at t2 = {:.0f} ms, {:.3f} m\n", shows[s].scenario, t2s[best],
               height[s][best]);
  }
  written(io::render(folder, "p4-leap-timing", [&](const std::string& terminal) {
    return begin(terminal, 760, 420) + io::curve_block("f", t2s, height[0]) +
           io::curve_block("v", t2s, height[1]) +
           fmt::format(
               "set title 'Relative leg timing decides the leap' font ',15'\nset border 3 lw "
               "1.2\nset tics nomirror\nset xlabel 't_2 [ms], the second legs start so much "
               "later'\nset "
               "ylabel 'largest height of the body [m]'\nset grid ytics lc rgb '#e4e4e4'\nset "
               "key top "
               "right samplen 2\nset xrange [-80:80]\nplot $v w lp pt 7 ps 0.5 lw 2 lc rgb "
               "'{}' title 'straight up', "
               "$f w lp pt 7 ps 0.5 lw 2 lc rgb '{}' title 'forward'\n",
               kBlue, kRed);
  }));
}

}  // namespace

std::vector<ReproduceItem> p4_items() {
  return {
      {"p4-fig4", figure4}, {"p4-fig8", figure8_of_p4}, {"p4-fig9", figure9}, {"p4-leap", leaps}};
}

}  // namespace routh::app
