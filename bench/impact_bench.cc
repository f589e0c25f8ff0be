// Speed of the impact laws on the named scenarios. Every row shows the largest residual beside the
// time, and P1 Table 3's time per sample or a peer run in the same minute to compare with.

#include <benchmark/benchmark.h>

#include <random>

#ifdef ROUTH_PPL
#include "referee/exact_by_ppl.h"
#endif
#include "routh/impact/exact.h"
#include "routh/impact/modes.h"
#include "routh/impact/set_valued.h"
#include "routh/impact/simultaneous.h"
#include "routh/impact/step_table.h"
#include "routh/io/map.h"
#include "routh/io/results.h"
#include "routh/lcp/lemke.h"
#ifdef ROUTH_SICONOS
#include "siconos_peer.h"
#endif

namespace routh::bench {
namespace {

using benchmark::Counter;

struct PaperTime {
  const char* scenario;
  double seconds_per_sample;  ///< P1 Table 3; 0 where it has none
};
constexpr PaperTime kScenarios[] = {
    {"rocking-block", 2.1e-3}, {"compass-gait", 1.9e-3}, {"box-and-wall", 1.6e-3},
    {"ramone", 2.2e-3},        {"rimless-wheel", 0},     {"pushing", 0},
    {"disk-stack", 1.1e-2},
};

/// Counter that reads as time per thing.
Counter time_per(double things) {
  return Counter(things, Counter::kIsIterationInvariantRate | Counter::kInvert);
}

void sample(benchmark::State& state, PaperTime paper) {
  const io::ImpactCase impact = io::impact_case(io::load_scenario(paper.scenario));
  SetOptions options;
  options.samples = impact.problem().contacts() > 3 ? 1 << 13 : 1 << 18;
  options.step = impact.scenario.run.impact.step;
  options.limit = impact.scenario.run.impact.limit;
  options.threads = static_cast<int>(state.range(0));
  options.keep = 0;
  SetResult r;
  double seconds = 0;
  for (auto _ : state) {
    r = set_valued(impact.problem(), options);
    seconds += r.seconds;
  }
  const double samples = static_cast<double>(r.samples);
  state.counters["per_sample"] = time_per(samples);
  state.counters["per_lcp"] = time_per(static_cast<double>(r.steps));
  state.counters["residual"] = r.max_residual;
  state.counters["unsolved"] = static_cast<double>(r.unsolved);
  if (paper.seconds_per_sample > 0) {
    state.counters["faster_than_P1"] =
        paper.seconds_per_sample * samples * static_cast<double>(state.iterations()) / seconds;
  }
}

/// Step problems P1 (75) as they arise on walks whose steps Lemke solves.
std::vector<lcp::Problem> step_problems(const char* scenario, int count) {
  const io::ImpactCase impact = io::impact_case(io::load_scenario(scenario));
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(0, impact.scenario.run.impact.step);
  const int m = impact.problem().contacts();
  std::vector<lcp::Problem> problems;
  while (static_cast<int>(problems.size()) < count) {
    ImpactProblem at = impact.problem();
    for (int k = 0; k < 20 && colliding(impact.problem(), at.c); ++k) {
      const Eigen::VectorXd bound =
          Eigen::VectorXd::NullaryExpr(m, [&] { return uniform(random); });
      problems.push_back(step_lcp(at, bound));
      at.c += at.G * impulse_from_lcp(at, lcp::lemke(problems.back()).z);
    }
  }
  problems.resize(count);
  return problems;
}

void report_residuals(benchmark::State& state, const std::vector<lcp::Problem>& problems,
                      const std::vector<Eigen::VectorXd>& solutions) {
  double worst = 0, loose = 0;
  for (std::size_t i = 0; i < problems.size(); ++i) {
    const double r = lcp::residual(problems[i], solutions[i]);
    worst = std::max(worst, r);
    loose += r > 1e-8;
  }
  state.counters["per_lcp"] = time_per(static_cast<double>(problems.size()));
  state.counters["residual"] = worst;
  state.counters["above_1e-8"] = loose / static_cast<double>(problems.size());
}

void lemke(benchmark::State& state, const char* scenario) {
  const std::vector<lcp::Problem> problems = step_problems(scenario, 2000);
  std::vector<Eigen::VectorXd> z(problems.size());
  for (auto _ : state) {
    for (std::size_t i = 0; i < problems.size(); ++i) z[i] = lcp::lemke(problems[i]).z;
  }
  report_residuals(state, problems, z);
}

#ifdef ROUTH_SICONOS
void siconos_lemke(benchmark::State& state, const char* scenario) {
  const std::vector<lcp::Problem> problems = step_problems(scenario, 2000);
  std::vector<SiconosLemke> peers;
  for (const lcp::Problem& p : problems) peers.emplace_back(p);
  std::vector<Eigen::VectorXd> z(problems.size());
  for (auto _ : state) {
    for (std::size_t i = 0; i < problems.size(); ++i) z[i] = peers[i].solve();
  }
  report_residuals(state, problems, z);
}
#endif

void all_simultaneous(benchmark::State& state, const char* scenario) {
  const io::ImpactCase impact = io::impact_case(io::load_scenario(scenario));
  SimultaneousResult r;
  for (auto _ : state) r = simultaneous(impact.problem());
  double worst = 0;
  for (const Outcome& o : r.outcomes) worst = std::max(worst, o.residual);
  state.counters["outcomes"] = static_cast<double>(r.outcomes.size());
  state.counters["residual"] = worst;
}

/// What a set costs before its first sample.
void table(benchmark::State& state, const char* scenario, bool pruned) {
  const io::ImpactCase impact = io::impact_case(io::load_scenario(scenario));
  int modes = 0;
  for (auto _ : state)
    modes = StepTable(impact.problem(), impact.scenario.run.impact.step, 0, {}, pruned).modes();
  state.counters["modes"] = modes;
}

#ifdef ROUTH_PPL
/// The same set by the Parma Polyhedra Library.
void exact_ppl(benchmark::State& state, const char* scenario) {
  const io::ImpactCase impact = io::impact_case(io::load_scenario(scenario));
  ExactResult r;
  for (auto _ : state) r = exact_by_ppl(impact.problem());
  state.counters["exact"] = r.status == ExactStatus::kExact;
  state.counters["polyhedra"] = r.polyhedra;
}
#endif

/// The exact set, and how long the sampler takes to come within 1 % of its width of it.
void exact_set(benchmark::State& state, const char* scenario) {
  const io::ImpactCase impact = io::impact_case(io::load_scenario(scenario));
  ExactResult r;
  for (auto _ : state) r = exact(impact.problem());
  state.counters["exact"] = r.status == ExactStatus::kExact;
  state.counters["pieces"] = static_cast<double>(r.pieces.size());
  state.counters["locations"] = r.cells;
  state.counters["polyhedra"] = r.polyhedra;

  double width = 0;
  for (const Polytope& piece : r.pieces) {
    for (const Eigen::VectorXd& a : piece.corners) {
      for (const Polytope& other : r.pieces) {
        for (const Eigen::VectorXd& b : other.corners) width = std::max(width, (a - b).norm());
      }
    }
  }
  SetOptions options;
  options.step = impact.scenario.run.impact.step;
  options.limit = impact.scenario.run.impact.limit;
  options.threads = 1;
  double seconds = 0;
  for (options.samples = 256; options.samples <= 1 << 20; options.samples *= 4) {
    options.keep = options.samples;
    const SetResult set = set_valued(impact.problem(), options);
    seconds = set.seconds;
    std::vector<Eigen::VectorXd> samples;
    for (const SetSample& s : set.kept) {
      if (s.terminated) samples.push_back(s.outcome.c_plus);
    }
    const double missed = coverage(r.pieces, samples).missed;
    state.counters["missed_by"] = missed / width;
    state.counters["samples"] = static_cast<double>(set.samples);
    if (missed <= 0.01 * width) break;
  }
  state.counters["sampler_s"] = seconds;
}

/// 64 x 64 impacts of two contacts with 2^10 samples each, from the scenario to the measures.
void map(benchmark::State& state) {
  const io::MapPlan plan{.vary = {{"friction", 0.2, 5, 64}, {"rate", 0.1, 1, 64}},
                         .measures = {"simultaneous", "spread"}};
  const auto map = std::make_shared<const io::Map>(
      io::Family("compass-gait", {}, {}, "--vary", plan.names()), plan);
  for (auto _ : state) {
    const io::MapResult r = io::compute(map, {.threads = static_cast<int>(state.range(0))});
    state.counters["undecided"] = static_cast<double>(r.count(io::CellStatus::kUndecided));
  }
  state.counters["per_cell"] = time_per(static_cast<double>(map->size()));
}

void add_all() {
  benchmark::RegisterBenchmark("map/compass-gait-64x64/threads", map)
      ->Arg(1)
      ->Arg(2)
      ->MeasureProcessCPUTime()
      ->UseRealTime()
      ->Unit(benchmark::kMillisecond);
  for (const PaperTime& paper : kScenarios) {
    const std::string name = paper.scenario;
    benchmark::RegisterBenchmark(("set/" + name + "/threads").c_str(), sample, paper)
        ->Arg(1)
        ->Arg(2)
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
  }
  for (const char* scenario :
       {"rocking-block", "compass-gait", "box-and-wall", "ramone", "rimless-wheel", "pushing",
        "three-point-landing", "four-point-landing"}) {
    benchmark::RegisterBenchmark((std::string("exact/") + scenario).c_str(), exact_set, scenario)
        ->Unit(benchmark::kMillisecond);
#ifdef ROUTH_PPL
    benchmark::RegisterBenchmark((std::string("exact-by-ppl/") + scenario).c_str(), exact_ppl,
                                 scenario)
        ->Unit(benchmark::kMillisecond);
#endif
  }
  for (const PaperTime& paper : kScenarios) {
    const std::string name = paper.scenario;
    benchmark::RegisterBenchmark(("lemke/" + name).c_str(), lemke, paper.scenario);
#ifdef ROUTH_SICONOS
    benchmark::RegisterBenchmark(("siconos-lemke/" + name).c_str(), siconos_lemke, paper.scenario);
#endif
  }
  for (const PaperTime& paper : kScenarios) {
    const std::string name = paper.scenario;
    benchmark::RegisterBenchmark(("simultaneous/" + name).c_str(), all_simultaneous,
                                 paper.scenario);
    benchmark::RegisterBenchmark(("step-table/" + name).c_str(), table, paper.scenario, true)
        ->Unit(benchmark::kMicrosecond);
    benchmark::RegisterBenchmark(("step-table-of-few/" + name).c_str(), table, paper.scenario,
                                 false)
        ->Unit(benchmark::kMicrosecond);
  }
}

}  // namespace
}  // namespace routh::bench

int main(int argc, char** argv) {
  const char* instruction_set = "";
  (void)routh::walk_function(&instruction_set);
  benchmark::AddCustomContext("instruction set", instruction_set);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  routh::bench::add_all();
  benchmark::RunSpecifiedBenchmarks();
}
