// Time-stepping on stacks of boxes, beside MuJoCo and Siconos where they are installed, and on a
// few other motions. Beside each time stands how well the boxes rest, measured for all codes by the
// scenario's own gaps and energy. Times are processor time of the one thread, best of several
// repeats, the codes taking turns.

#include <fmt/format.h>
#include <time.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <stdexcept>

#include "routh/io/scenario.h"
#include "routh/simulate/time_stepping.h"
#include "stack.h"
#ifdef ROUTH_MUJOCO
#include "mujoco_stack.h"
#endif
#ifdef ROUTH_SICONOS
#include "siconos_stack.h"
#endif

namespace routh::bench {
namespace {

using Eigen::VectorXd;
using Codes = std::vector<std::unique_ptr<StackCode>>;

constexpr double kStep = 1e-3;      // h [s]
constexpr double kTouching = 1e-6;  // gaps up to this count as contacts [m]
constexpr int kSettle = 300;        // steps
constexpr int kRepeats = 20;        // many and short: on a busy machine some are undisturbed
constexpr int kTimed = 100;         // steps of a repeat
constexpr int kWatched = 10;        // steps looked at one by one, between repeats

/// What all codes are measured with: the scenario's gaps and energy.
class Yardstick {
 public:
  explicit Yardstick(const PlanarMechanism& mechanism) : mechanism_(mechanism) {}

  VectorXd gaps(const VectorXd& q) const {
    VectorXd contact, joint;
    mechanism_.gaps(q, contact, joint);
    return contact;
  }
  double energy(const VectorXd& q, const VectorXd& v) const {
    return 0.5 * v.dot(mechanism_.terms(q, v).M * v) + mechanism_.potential_energy(q);
  }

 private:
  const PlanarMechanism& mechanism_;
};

class RouthStack : public StackCode {
 public:
  RouthStack(const PlanarMechanism& mechanism, const State& start)
      : yardstick_(mechanism), stepper_(mechanism, start, {.h = kStep}) {}

  std::string name() const override { return "Routh"; }
  void run(int steps) override {
    for (int i = 0; i < steps; ++i) stepper_.step();
  }
  VectorXd q() const override { return stepper_.q(); }
  VectorXd v() const override { return stepper_.v(); }
  int contacts() const override {
    return static_cast<int>((yardstick_.gaps(q()).array() <= kTouching).count());
  }
  double penetration() const override {
    return std::max(0.0, -yardstick_.gaps(stepper_.q()).minCoeff());
  }
  long unsolved() const override { return stepper_.log().stepping()->inaccurate; }

 private:
  Yardstick yardstick_;
  TimeStepper stepper_;
};

/// The boxes of a scenario, as the peers need them.
Stack stack_of(const io::Scenario& scenario) {
  Stack stack{.mu = scenario.mechanism()->contacts().front().mu,
              .gravity = -scenario.mechanism()->gravity.y(),
              .q = scenario.q,
              .v = scenario.v};
  for (const Body& body : scenario.mechanism()->bodies()) {
    Eigen::AlignedBox2d hull;
    for (const Eigen::Vector2d& vertex : body.shapes.front().vertices) hull.extend(vertex);
    stack.boxes.push_back({hull.sizes().x(), hull.sizes().y(), body.mass, body.inertia});
  }
  return stack;
}

/// All boxes flat on one another.
VectorXd rest(const Stack& stack) {
  VectorXd q = VectorXd::Zero(stack.q.size());
  double top = 0;
  for (std::size_t i = 0; i < stack.boxes.size(); ++i) {
    q[static_cast<Eigen::Index>(3 * i + 1)] = top + stack.boxes[i].height / 2;
    top += stack.boxes[i].height;
  }
  return q;
}

/// Routh first: the others are compared with it.
Codes codes(const io::Scenario& scenario, [[maybe_unused]] const Stack& stack) {
  Codes all;
  all.push_back(std::make_unique<RouthStack>(*scenario.mechanism(),
                                             State{.time = 0, .q = scenario.q, .v = scenario.v}));
#ifdef ROUTH_MUJOCO
  all.push_back(mujoco_stack(stack, kStep));
#endif
#ifdef ROUTH_SICONOS
  all.push_back(siconos_stack(stack, kStep));
#endif
  return all;
}

/// Of the processor, spent by this thread: what else the machine does counts less than on a clock.
double processor_time() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

template <typename Stepping>
double seconds(const Stepping& stepping) {
  const double start = processor_time();
  stepping();
  return processor_time() - start;
}

/// Of one code on one scenario; errors are the worst over all states looked at.
struct Row {
  double step = std::numeric_limits<double>::infinity();  ///< best time of a step [s]
  int contacts = 0;                                       ///< at rest
  double deepest = 0;                                     ///< penetration while the boxes land [m]
  double penetration = 0;                                 ///< at rest [m]
  double height_error = 0;    ///< at rest, of any box, against lying flat on the one below [m]
  double energy_error = 0;    ///< at rest, against the exact energy [J]
  double relative_error = 0;  ///< the same over the exact energy
  double disagreement = 0;    ///< at rest, of the code's own penetration with the yardstick's [m]
};

/// A scenario, all codes on it, and what is measured.
class Comparison {
 public:
  explicit Comparison(io::Scenario scenario)
      : scenario_(std::move(scenario)),
        stack_(stack_of(scenario_)),
        q_rest_(rest(stack_)),
        yardstick_(*scenario_.mechanism()) {
    start();
    rows_.resize(codes_.size());
  }

  /// Back to the start.
  void start() { codes_ = codes(scenario_, stack_); }

  /// Every code in turn. The boxes land: only their penetration is looked at.
  void land(int steps) {
    for_each([&](StackCode& code, Row& row) {
      for (int i = 0; i < steps; ++i) {
        code.run(1);
        row.deepest = std::max(row.deepest, -yardstick_.gaps(code.q()).minCoeff());
      }
    });
  }

  void time(int steps) {
    for_each([&](StackCode& code, Row& row) {
      row.step = std::min(row.step, seconds([&] { code.run(steps); }) / steps);
    });
  }

  /// The boxes rest, or should.
  void watch(int steps) {
    for_each([&](StackCode& code, Row& row) {
      for (int i = 0; i < steps; ++i) {
        code.run(1);
        look(code, row);
      }
    });
  }

  void print() const {
    for (std::size_t i = 0; i < codes_.size(); ++i) {
      const Row& row = rows_[i];
      fmt::print(
          "{:<10} {:>5} {:>8}  {:<8} {:>8.2f} {:>8.0f} {:>8.2f} {:>8.1e} {:>8.1e} {:>8.1e} "
          "{:>8.1e} {:>8.1e} {:>8.1e} {:>8}\n",
          scenario_.name, stack_.boxes.size(), row.contacts, codes_[i]->name(), 1e6 * row.step,
          1 / row.step, row.step / rows_[0].step, row.deepest, row.penetration, row.height_error,
          row.energy_error, row.relative_error, row.disagreement, codes_[i]->unsolved());
    }
  }

  void print_real_time() const {
    for (std::size_t i = 0; i < codes_.size(); ++i) {
      fmt::print(
          "real time at 1 ms, {} boxes, {} contacts: {} takes {:.3f} ms a step, {:.2f} x real "
          "time\n",
          stack_.boxes.size(), rows_[i].contacts, codes_[i]->name(), 1e3 * rows_[i].step,
          kStep / rows_[i].step);
    }
  }

 private:
  template <typename Visit>
  void for_each(const Visit& visit) {
    for (std::size_t i = 0; i < codes_.size(); ++i) visit(*codes_[i], rows_[i]);
  }

  void look(const StackCode& code, Row& row) const {
    const VectorXd q = code.q(), v = code.v();
    for (Eigen::Index i = 1; i < q.size(); i += 3) {
      row.height_error = std::max(row.height_error, std::abs(q[i] - q_rest_[i]));
    }
    const double exact = yardstick_.energy(q_rest_, VectorXd::Zero(v.size()));
    row.energy_error = std::max(row.energy_error, std::abs(yardstick_.energy(q, v) - exact));
    row.relative_error = row.energy_error / exact;
    const double penetration = std::max(0.0, -yardstick_.gaps(q).minCoeff());
    row.penetration = std::max(row.penetration, penetration);
    row.disagreement = std::max(row.disagreement, std::abs(penetration - code.penetration()));
    row.contacts = std::max(row.contacts, code.contacts());
  }

  io::Scenario scenario_;
  Stack stack_;
  VectorXd q_rest_;
  Yardstick yardstick_;
  Codes codes_;
  std::vector<Row> rows_;
};

void print_header() {
  const auto line = [](const auto&... word) {
    fmt::print(
        "{:<10} {:>5} {:>8}  {:<8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}\n",
        word...);
  };
  line("scenario", "boxes", "contacts", "code", "time", "speed", "ratio to", "deepest", "at rest",
       "height", "energy", "relative", "own view", "unsolved");
  line("", "", "", "", "us/step", "steps/s", "Routh", "[m]", "[m]", "off [m]", "off [J]", "",
       "off [m]", "steps");
}

/// Boxes that fall by a little, settle and then rest while the steps are timed.
void bench_stack(int n) {
  const double taper = std::min(0.01, 0.05 / std::max(1, n - 1));
  Comparison comparison(
      io::load_scenario("box-stack", {{"n", static_cast<double>(n)}, {"taper", taper}}));
  comparison.land(kSettle);
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    comparison.watch(kWatched);
    comparison.time(kTimed);
  }
  comparison.watch(kWatched);
  comparison.print();
  if (n == 50) comparison.print_real_time();
}

/// A box that lands on a corner, pivots and comes to rest: the whole motion is timed.
void bench_tilted_box() {
  const io::Scenario scenario = io::load_scenario("tilted-box");
  const int steps = static_cast<int>(std::lround(scenario.run.simulation.end / kStep));
  Comparison comparison(scenario);
  comparison.land(steps);
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    comparison.start();
    comparison.time(steps);
  }
  comparison.watch(kWatched);
  comparison.print();
}

/// Routh alone, from the start or after `settle` steps.
void bench_routh(const std::string& name, const System& system, const State& start, double alpha,
                 int settle, int steps) {
  double step = std::numeric_limits<double>::infinity();
  double penetration = 0, speed = 0;
  long touching = 0, impacts = 0, inaccurate = 0;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    TimeStepper stepper(system, start, {.h = kStep, .alpha = alpha});
    for (int i = 0; i < settle; ++i) stepper.step();
    step = std::min(step, seconds([&] {
                            for (int i = 0; i < steps; ++i) stepper.step();
                          }) / steps);
    VectorXd contact, joint;
    system.gaps(stepper.q(), contact, joint);
    touching = (contact.array() <= kTouching).count();
    penetration = std::max(penetration, stepper.log().max_penetration);
    speed = stepper.v().cwiseAbs().maxCoeff();
    inaccurate = stepper.log().stepping()->inaccurate;
    impacts = std::count_if(stepper.log().events.begin(), stepper.log().events.end(),
                            [](const Event& e) { return e.kind == EventKind::kImpact; });
  }
  fmt::print(
      "{:<12} alpha {:.1f}: {} velocities, {} of {} contacts touch, {:.2f} us/step, {:.0f} "
      "steps/s, penetration {:.1e} m, {} impacts, {} inaccurate, speed at the end {:.1e}\n",
      name, alpha, system.nv(), touching, system.terms(start.q, start.v).contacts.size(),
      1e6 * step, 1 / step, penetration, impacts, inaccurate, speed);
}

/// A trunk with an arm on two legs of three links each, held by springs at the joints: 10
/// velocities and a point of contact under each leg.
PlanarMechanism walker() {
  constexpr double kLink = 0.25, kMass = 1;
  PlanarMechanism m;
  const int trunk = m.add(Body{.name = "trunk", .mass = 10, .inertia = box_inertia(10, 0.4, 0.2)});
  const auto hang = [&](const std::string& name, int parent, Eigen::Vector2d at, double angle) {
    const int body = m.add(Body{.name = name,
                                .parent = parent,
                                .joint = Joint::kRevolute,
                                .at = std::move(at),
                                .angle = angle,
                                .mass = kMass,
                                .inertia = rod_inertia(kMass, kLink),
                                .centre = {0, -kLink / 2}});
    m.add(
        CoordinateSpring{.name = name, .coordinate = m.nv() - 1, .stiffness = 2000, .damping = 50});
    return body;
  };
  const Eigen::Vector2d end(0, -kLink);
  for (const double side : {-1., 1.}) {
    const std::string leg = side < 0 ? "left" : "right";
    const int thigh = hang(leg + "_thigh", trunk, {0.2 * side, -0.1}, 0.3 * side);
    const int shank = hang(leg + "_shank", thigh, end, -0.2 * side);
    const int foot = hang(leg + "_foot", shank, end, 0.1 * side);
    m.add(
        ContactPair{.name = leg, .first = {.body = foot, .at = end}, .second = Edge{}, .mu = 0.8});
  }
  hang("arm", trunk, {0, 0.1}, 0.5);
  return m;
}

void bench_walker() {
  const PlanarMechanism m = walker();
  State start{.time = 0, .q = VectorXd::Zero(m.nv()), .v = VectorXd::Zero(m.nv())};
  start.q[1] = -Yardstick(m).gaps(start.q).minCoeff();
  for (const double alpha : {0.5, 1.}) {
    bench_routh("walker", m, start, alpha, 2 * kSettle, 20 * kTimed);
  }
}

void bench_dominoes() {
  const io::Scenario scenario = io::load_scenario("domino-row");
  bench_routh(scenario.name, *scenario.mechanism(), {.time = 0, .q = scenario.q, .v = scenario.v},
              0.5, 0, static_cast<int>(std::lround(scenario.run.simulation.end / kStep)));
}

void run(const std::vector<int>& boxes) {
  fmt::print(
      "h = {} s; stacks: {} steps to settle, then the best of {} x {} steps\n"
      "deepest: penetration while landing; at rest: then; height, energy: off the exact rest\n"
      "own view: penetration as the code sees it, off the scenario's gaps\n",
      kStep, kSettle, kRepeats, kTimed);
#ifdef ROUTH_MUJOCO
  fmt::print("{}\n", mujoco_settings(kStep));
#endif
#ifdef ROUTH_SICONOS
  fmt::print("{}\n", siconos_settings());
#endif
  print_header();
  for (const int n : boxes.empty() ? std::vector{1, 2, 5, 10, 20, 50} : boxes) bench_stack(n);
  if (!boxes.empty()) return;
  bench_tilted_box();
  bench_dominoes();
  bench_walker();
}

}  // namespace
}  // namespace routh::bench

/// stack_bench [boxes ..]: all, or only stacks of these numbers of boxes.
int main(int argc, char** argv) {
  try {
    std::vector<int> boxes;
    for (int i = 1; i < argc; ++i) {
      const int n = std::atoi(argv[i]);
      if (n < 1) throw std::invalid_argument(fmt::format("not a number of boxes: {}", argv[i]));
      boxes.push_back(n);
    }
    routh::bench::run(boxes);
  } catch (const std::exception& error) {
    fmt::print(stderr, "stack_bench: {}\n", error.what());
    return 1;
  }
}
