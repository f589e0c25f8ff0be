// Models of MuJoCo: outcomes a second, and time-stepping against MuJoCo's own mj_step on the same
// model with the same step, with penetration. Processor time, both in the same run.
#include <fmt/format.h>
#include <mujoco/mujoco.h>

#include <Eigen/Dense>
#include <algorithm>
#include <ctime>
#include <random>
#include <string>
#include <vector>

#include "routh/impact/set_valued.h"
#include "routh/impact/step_solver.h"
#include "routh/mujoco/system.h"
#include "routh/simulate/reduce.h"
#include "routh/simulate/time_stepping.h"

namespace routh::bench {
namespace {

double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

struct Case {
  std::string model, state;
};

/// Sixteen contacts: the corners of four flat feet of a robot with eighteen velocities.
ImpactProblem four_flat_feet() {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const auto matrix = [&](int rows, int columns) {
    return Eigen::MatrixXd(
        Eigen::MatrixXd::NullaryExpr(rows, columns, [&] { return uniform(random); }));
  };
  constexpr int kVelocities = 18, kFeet = 4, kContacts = 4 * kFeet;
  const Eigen::MatrixXd root = matrix(kVelocities, kVelocities);
  const Eigen::MatrixXd M =
      root * root.transpose() + 0.5 * Eigen::MatrixXd::Identity(kVelocities, kVelocities);
  Eigen::MatrixXd J(3 * kContacts, kVelocities);
  for (int foot = 0; foot < kFeet; ++foot) {
    const Eigen::MatrixXd twist = matrix(6, kVelocities);
    for (int k = 0; k < 4; ++k) {
      const double x = k % 2 ? 0.1 : -0.1, y = k / 2 ? 0.05 : -0.05;
      Eigen::MatrixXd at(3, 6);  // velocity of a corner by that of its foot
      at << 1, 0, 0, 0, 0, -y, 0, 1, 0, 0, 0, x, 0, 0, 1, y, -x, 0;
      const Eigen::MatrixXd rows = at * twist;
      const int i = 4 * foot + k;
      J.row(i) = rows.row(2);
      J.middleRows(kContacts + 2 * i, 2) = rows.topRows(2);
    }
  }
  ImpactProblem p{.G = J * M.inverse() * J.transpose(),
                  .c = J * matrix(kVelocities, 1),
                  .mu = Eigen::VectorXd::Constant(kContacts, 0.7),
                  .tangents = 2};
  p.G = 0.5 * (p.G + p.G.transpose()).eval();
  return p;
}

ImpactProblem impact_of(const Case& c) {
  mujoco::System system(std::string(ROUTH_SCENARIOS) + "/" + c.model + ".xml");
  const State state = system.keyframe(c.state);
  return reduce(system.terms(state.q, state.v), state.v, 1e-6).problem;
}

void outcomes(const Case& c, const ImpactProblem& p) {
  const double step = -p.normal().minCoeff() / p.G.diagonal().head(p.contacts()).mean();
  const SetResult r = set_valued(p, {.samples = 1 << 13, .step = step, .threads = 1, .keep = 0});
  fmt::print("{:<14} {:<8} {:>8} {:>14.0f} {:>12.2f} {:>12.1f} {:>12.1e} {:>8}\n", c.model, c.state,
             p.contacts(), static_cast<double>(r.samples) / r.seconds,
             static_cast<double>(r.steps) / static_cast<double>(r.samples),
             1e6 * r.seconds / static_cast<double>(r.steps), r.max_residual,
             r.samples - r.terminated);
}

struct Moving {
  std::string name, state;
  mujoco::System system;
  State start;
};

Moving scenario(const Case& c) {
  mujoco::System system(std::string(ROUTH_SCENARIOS) + "/" + c.model + ".xml");
  system.set_control(c.state);
  const State start = system.keyframe(c.state);
  return {c.model, c.state, std::move(system), start};
}

/// `bodies` as MJCF, on a floor.
Moving world(const std::string& name, const std::string& state, const std::string& bodies,
             int contacts) {
  // room for MuJoCo 2.2.2, which takes memory beforehand
  const std::string text = fmt::format(
      "<mujoco><size nconmax='{}' njmax='{}' nstack='{}'/><worldbody>"
      "<geom name='floor' type='plane' size='5 5 .1'/>{}</worldbody></mujoco>",
      contacts, 4 * contacts, 1'000'000 + 40'000 * contacts, bodies);
  mujoco::System system = mujoco::System::from_text(text, name + ".xml");
  const State start = system.home();
  return {name, state, std::move(system), start};
}

constexpr double kHalf[] = {0.1, 0.05, 0.03};  // of a brick [m]

std::string brick(int number, double x, int level) {
  return fmt::format(
      "<body pos='{} 0 {}'><freejoint/><geom name='brick{}' type='box' size='{} {} {}' mass='2' "
      "friction='.6'/></body>",
      x, kHalf[2] * (2 * level + 1), number, kHalf[0], kHalf[1], kHalf[2]);
}

Moving stack(int boxes) {
  std::string bodies;
  for (int k = 0; k < boxes; ++k) bodies += brick(k, 0, k);
  return world(fmt::format("{} boxes", boxes), "rest", bodies, 16 * boxes);
}

/// In running bond: every brick stands on two, on eight corners.
Moving wall(int rows, int columns) {
  std::string bodies;
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c)
      bodies += brick(r * columns + c, 2.04 * kHalf[0] * (c + (r % 2) / 2.0), r);
  }
  return world(fmt::format("{} bricks", rows * columns), "rest", bodies, 10 * rows * columns);
}

void steps(const Moving& moving, double h, int count) {
  const State& start = moving.start;
  TimeStepper stepper(moving.system, start, {.h = h, .alpha = 1, .touching = 1e-6});
  double began = processor_seconds();
  for (int k = 0; k < count; ++k) stepper.step();
  const double ours = (processor_seconds() - began) / count;

  mjModel* model = mj_copyModel(nullptr, moving.system.model());
  model->opt.timestep = h;
  mjData* data = mj_makeData(model);
  std::copy(start.q.begin(), start.q.end(), data->qpos);
  std::copy(start.v.begin(), start.v.end(), data->qvel);
  const Eigen::VectorXd& control = moving.system.control();
  std::copy(control.begin(), control.end(), data->ctrl);
  double deepest = 0;
  began = processor_seconds();
  for (int k = 0; k < count; ++k) {
    mj_step(model, data);
    for (int i = 0; i < data->ncon; ++i) deepest = std::max(deepest, -data->contact[i].dist);
  }
  const double theirs = (processor_seconds() - began) / count;
  mj_deleteData(data);
  mj_deleteModel(model);
  fmt::print("{:<14} {:<8} {:>10.1f} {:>14.1e} {:>12.1e} {:>12.1f} {:>14.1e} {:>10.2f}\n",
             moving.name, moving.state, 1e6 * ours, stepper.log().max_penetration,
             stepper.log().stepping()->max_residual, 1e6 * theirs, deepest, ours / theirs);
}

/// Capsules that MuJoCo has let fall into a box until they rest: one step of theirs, with no guess.
void cold_solve(int capsules, double h) {
  std::string bodies;
  for (const auto& [x, y] : {std::pair(1, 0), std::pair(-1, 0), std::pair(0, 1), std::pair(0, -1)})
    bodies += fmt::format("<geom type='plane' pos='{} {} 0' zaxis='{} {} 0' size='1 1 .1'/>",
                          -0.3 * x, -0.3 * y, x, y);
  for (int k = 0; k < capsules; ++k) {
    bodies += fmt::format(
        "<body pos='{} {} {}' euler='{} {} 0'><freejoint/><geom type='capsule' size='.04 .06' "
        "mass='{}' friction='.6'/></body>",
        0.12 * (k % 4) - 0.18, 0.12 * (k / 4 % 4) - 0.18, 0.1 + 0.22 * (k / 16), 37 * k % 180,
        53 * k % 180, k % 3 + 1);
  }
  const Moving pile = world("capsules", "pile", bodies, 20 * capsules);
  mjModel* model = mj_copyModel(nullptr, pile.system.model());
  mjData* data = mj_makeData(model);
  while (data->time < 4) mj_step(model, data);
  const Eigen::VectorXd q = Eigen::Map<const Eigen::VectorXd>(data->qpos, model->nq),
                        v = Eigen::Map<const Eigen::VectorXd>(data->qvel, model->nv);
  mj_deleteData(data);
  mj_deleteModel(model);

  const Terms terms = pile.system.terms(q, v);
  StepSolver solver(pile.system.groups(), pile.system.nv());
  const double began = processor_seconds();
  solver.set_inertia(terms.M);
  Eigen::VectorXd pushed;
  solver.apply_inverse(h * terms.forces, pushed);
  pushed += v;
  for (const Contact& contact : terms.contacts) {
    if (contact.phi <= 0) solver.add_contact({contact.Jn, contact.Jt, contact.mu}, pushed, {});
  }
  const bool solved = solver.solve(1e-8);
  fmt::print("{:<14} {:<8} {:>10.1f} {:>12} contacts {:>12.1e} {:>12} systems{}\n", pile.name,
             pile.state, 1e3 * (processor_seconds() - began), solver.contacts(), solver.residual(),
             solver.systems(), solved ? "" : ", NOT solved");
}

}  // namespace
}  // namespace routh::bench

/// model_bench [words ..]: all, or only what has one of these words in its name.
int main(int count, char** words) {
  using namespace routh::bench;
  const auto wanted = [&](const std::string& name) {
    return count == 1 || std::any_of(words + 1, words + count, [&](const char* word) {
             return name.find(word) != std::string::npos;
           });
  };
  const std::vector<Case> cases{{"quadruped", "land"}, {"quadruped", "trot"},
                                {"biped", "land"},     {"thrown-box", "throw"},
                                {"tower", "hit"},      {"gripper", "close"}};
  fmt::print(
      "outcomes of the set law, one core\n{:<14} {:<8} {:>8} {:>14} {:>12} {:>12} {:>12} {:>8}\n",
      "model", "state", "contacts", "samples a s", "steps each", "us a step", "residual", "failed");
  for (const Case& c : cases) {
    if (wanted("set " + c.model)) outcomes(c, impact_of(c));
  }
  if (wanted("set four flat feet")) outcomes({"four flat feet", "random"}, four_flat_feet());
  fmt::print(
      "\ntime-stepping, h = 1 ms, 1 s; MuJoCo {} with the model's own solver\n"
      "{:<14} {:<8} {:>10} {:>14} {:>12} {:>12} {:>14} {:>10}\n",
      mj_versionString(), "model", "state", "us a step", "penetration m", "residual", "mj_step us",
      "penetration m", "ratio");
  for (const Case& c : cases) {
    if (wanted("step " + c.model)) steps(scenario(c), 1e-3, 1000);
  }
  for (const int boxes : {1, 5, 10, 20, 50}) {
    if (wanted(fmt::format("step {} boxes", boxes))) steps(stack(boxes), 1e-3, 1000 / boxes);
  }
  if (wanted("step wall")) steps(wall(10, 20), 1e-3, 20);
  fmt::print("\none cold solve, ms\n");
  for (const int capsules : {20, 50, 100, 150}) {
    if (wanted(fmt::format("pile {}", capsules))) cold_solve(capsules, 1e-3);
  }
}
