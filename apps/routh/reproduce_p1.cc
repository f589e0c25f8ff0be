#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <numbers>
#include <thread>

#include "exact_law.h"
#include "reproduce.h"
#include "routh/io/gnuplot.h"
#include "routh/io/motion.h"
#include "routh/io/results.h"
#include "routh/simulate/compliant.h"
#include "routh/simulate/hybrid.h"

namespace routh::app {
namespace {

using Eigen::Vector2d;
using Eigen::VectorXd;

constexpr int kRuns = 51;

/// One compliant impact of the rocking block and how it ended.
struct Run {
  double varied = 0;  ///< stiffness ratio or angle
  State start;
  std::vector<double> stiffness;
  Vector2d normals{0, 0};  ///< normal velocities of A and B afterwards [m/s]
  double outside = 0;      ///< distance to the exact set, in these
};

void run_all(const PlanarMechanism& block, std::vector<Run>& runs) {
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t k = next++; k < runs.size(); k = next++) {
      Run& run = runs[k];
      const double least = std::min(run.stiffness[0], run.stiffness[1]);
      // P1's end of an impact: penetration slower than 1e-3 m/s times m / min k
      const Trajectory t = simulate(
          block, run.start,
          CompliantOptions{
              .stiffness = run.stiffness, .end = 0.1, .every = 1, .resolved = 1e-3 / least});
      const Terms terms = block.terms(t.final.q, t.final.v);
      for (int i = 0; i < 2; ++i) run.normals[i] = terms.contacts[i].Jn.dot(t.final.v);
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < std::thread::hardware_concurrency(); ++i) threads.emplace_back(work);
  work();
  for (std::thread& t : threads) t.join();
}

/// P1 Fig. 12: the rocking block with compliant corners, over stiffness ratios and over angles.
void figure12(const std::string& folder) {
  const io::ImpactCase impact = io::impact_case(io::load_scenario("rocking-block"));
  const PlanarMechanism& block = *impact.scenario.mechanism();
  const double width = impact.scenario.parameters[0].value, height = 2, g = 9.81;

  // top: stiffness ratios from 1e-5 to 1e5, the softer contact at 1e6 N/m
  std::vector<Run> ratios(kRuns), angles(kRuns);
  for (int k = 0; k < kRuns; ++k) {
    Run& run = ratios[k];
    run.varied = std::pow(10, -5 + 10.0 * k / (kRuns - 1));
    run.start = {0, impact.scenario.q, impact.scenario.v};
    run.stiffness = {1e6 * std::max(1.0, run.varied), 1e6 * std::max(1.0, 1 / run.varied)};
  }
  // bottom: angles within 0.01 degrees, one corner touches, the same mechanical energy
  const double energy = 0.5 * impact.scenario.v[1] * impact.scenario.v[1] + g * height / 2;
  for (int k = 0; k < kRuns; ++k) {
    Run& run = angles[k];
    run.varied = -0.01 + 0.02 * k / (kRuns - 1);
    const double angle = run.varied * std::numbers::pi / 180;
    const double y = width / 2 * std::abs(std::sin(angle)) + height / 2 * std::cos(angle);
    run.start = {0, Eigen::Vector3d(0, y, angle),
                 Eigen::Vector3d(0, -std::sqrt(2 * (energy - g * y)), 0)};
    run.stiffness = {1e6, 1e6};
  }

  const auto began = std::chrono::steady_clock::now();
  run_all(block, ratios);
  run_all(block, angles);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();

  // the exact set, projected on the normals
  std::vector<Polytope> projected;
  for (const Polytope& piece : exact_set(impact).pieces) {
    Polytope flat{.dimension = 2};
    for (const VectorXd& corner : piece.corners) flat.corners.push_back(corner.head(2));
    projected.push_back(std::move(flat));
  }
  fmt::print(
      "\nP1 Fig. 12: the rocking block with compliant corners (zeta = 5, eps = 1e-10 m/s), {} "
      "runs in {:.2f} s\n",
      2 * kRuns, seconds);
  std::string csv = "panel,varied,normal_A,normal_B,outside\n";
  for (auto* runs : {&ratios, &angles}) {
    const char* panel = runs == &ratios ? "stiffness ratio" : "angle [deg]";
    int inside = 0;
    double excess = 0, most = 0;
    for (Run& run : *runs) {
      run.outside = nearest_point(projected, run.normals).distance;
      inside += run.outside <= 1e-4;
      excess = std::max(excess, run.outside);
      most = std::max(most, run.normals.maxCoeff());
      csv += fmt::format("{},{},{},{},{}\n", panel, run.varied, run.normals[0], run.normals[1],
                         run.outside);
    }
    fmt::print(
        "    {:<16} largest separating velocity {:.4f} m/s; {} of {} within 1e-4 m/s of the exact "
        "set, largest excess {:.1e} m/s\n",
        panel, most, inside, kRuns, excess);
  }
  fmt::print(
      "    P1 says: contained and nearly covering for the ratios; slightly larger than the "
      "set for the angles\n");
  save(folder, "p1-fig12.csv", csv);

  const auto points = [](const char* name, const std::vector<Run>& runs) {
    std::string text = fmt::format("${} << EOD\n", name);
    for (const Run& run : runs)
      text += fmt::format("{:.6g} {:.6g} {:.6g}\n", run.normals[0], run.normals[1],
                          name[0] == 'r' ? std::log10(run.varied) : run.varied);
    return text + "EOD\n";
  };
  const auto written = io::render(folder, "p1-fig12", [&](const std::string& terminal) {
    std::string text = fmt::format(
        "set terminal {} size 1240,500 font 'Helvetica,12'\nset encoding "
        "utf8\n",
        terminal);
    text += "$exact << EOD\n";
    for (const Polytope& piece : projected) {
      for (const VectorXd& corner : piece.corners)
        text += fmt::format("{:.6g} {:.6g}\n", corner[0], corner[1]);
      text += "\n";
    }
    text += "EOD\n" + points("ratio", ratios) + points("angle", angles);
    text +=
        "set multiplot layout 1,2 title 'Compliant impacts of the rocking block beside the "
        "exact "
        "set' font ',15'\nset border 3 lw 1.2\nset tics nomirror\nset size square\nset xrange "
        "[-0.012:0.11]\nset yrange [-0.012:0.11]\nset tmargin 2\nset rmargin 12\nset xtics "
        "0.02\nset xlabel 'normal velocity of A [m/s]'\nset "
        "ylabel 'normal velocity of B [m/s]'\nset key at graph 0.98,graph 0.97 top right\nset "
        "palette defined (0 "
        "'#1f5fbf', "
        "0.5 '#35b0a0', 1 '#e8a200')\n";
    text +=
        "set cbrange [-5:5]\nset cbtics 1\nset cblabel 'log_{10}(k_A/k_B), of the stiffnesses [1]' "
        "offset 1.5\nplot $exact w l lw 7 lc rgb "
        "'#c9c9c9' title 'exact set', $ratio u 1:2:3 w p pt 7 ps 0.8 palette title "
        "'compliant'\n"
        "set cbrange [-0.01:0.01]\nset cbtics 0.005\nset cblabel 'angle at impact [deg]' offset "
        "2.5\nplot $exact w l lw 7 lc rgb '#c9c9c9' notitle, "
        "$angle u 1:2:3 w p pt 7 ps 0.8 palette notitle\nunset multiplot\n";
    return text;
  });
  fmt::print("    {}\n", fmt::join(written, ", "));
}

/// P1 section 4.3 and Fig. 8: the wobbling block over time and over s.
void figure8(const std::string& folder) {
  const io::Scenario scenario = io::load_scenario("zeno-block");
  const Trajectory t = simulate(*scenario.mechanism(), {0, scenario.q, scenario.v},
                                HybridOptions{.end = 3, .every = 1e-3});
  const InclusionPath path = inclusion(*scenario.mechanism(), t);
  double apex = 0;
  for (const VectorXd& q : t.q) apex = std::max(apex, q[2]);
  const double time = t.hybrid()->zeno.empty() ? NAN : t.hybrid()->zeno.front().state.time;
  fmt::print(
      "\nP1 section 4.3 and Fig. 8          printed    here\n"
      "    apex of the first swing [rad]  0.22       {:.4f}\n"
      "    impacts accumulate at t [s]    2.67       {:.4f}\n"
      "    and at s                       28.4       {:.4f}\n"
      "    (1 + g) t - 1/2                           {:.4f}\n"
      "    distance of the path from P1 (53)         {:.1e}\n",
      apex, time, path.zeno, (1 + 9.81) * time - 0.5,
      inclusion_residual(*scenario.mechanism(), path).largest);
  fmt::print("    {}\n", fmt::join(io::draw(scenario, path, "p1-fig8", folder), ", "));
}

}  // namespace

std::vector<ReproduceItem> p1_items() { return {{"p1-fig8", figure8}, {"p1-fig12", figure12}}; }

}  // namespace routh::app
