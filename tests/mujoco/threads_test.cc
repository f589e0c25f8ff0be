// One System, read by many threads at once.
#include <gtest/gtest.h>

#include <thread>

#include "mujoco/worlds.h"
#include "routh/simulate/ensemble.h"
#include "routh/simulate/time_stepping.h"

namespace routh::mujoco {
namespace {

// two links, the lower one with stops that it hits
const char* const kPendulum =
    "<body pos='0 0 1'><joint name='h' axis='0 1 0'/>"
    "<geom type='capsule' fromto='0 0 0 .3 0 0' size='.02' mass='1'/>"
    "<body pos='.3 0 0'><joint name='k' axis='0 1 0' limited='true' range='-.2 .2'/>"
    "<geom type='capsule' fromto='0 0 0 .3 0 0' size='.02' mass='1'/></body></body>";

bool same(const Terms& a, const Terms& b) {
  if (a.M != b.M || a.forces != b.forces || a.A != b.A || a.joint_gap != b.joint_gap ||
      a.joint_bias != b.joint_bias || a.contacts.size() != b.contacts.size())
    return false;
  for (std::size_t i = 0; i < a.contacts.size(); ++i) {
    const Contact &x = a.contacts[i], &y = b.contacts[i];
    if (x.phi != y.phi || x.Jn != y.Jn || x.Jt != y.Jt || x.name != y.name) return false;
  }
  return true;
}

TEST(Threads, AnEnsembleOfAModelIsTheSameOnOneAndOnEightThreads) {
  const System system = world(kPendulum);
  const State start = system.home();
  const HybridOptions hybrid{.end = 0.5, .every = 0.05};
  const EnsembleOptions options{.runs = 64, .law = "simultaneous", .threads = 1};
  const EnsembleResult one = ensemble(system, start, hybrid, options);
  ASSERT_EQ(one.runs.size(), 64u);
  EXPECT_GT(one.runs[0].impacts, 0);
  for (int repeat = 0; repeat < 5; ++repeat) {
    EnsembleOptions many = options;
    many.threads = 8;
    const EnsembleResult eight = ensemble(system, start, hybrid, many);
    ASSERT_EQ(eight.runs.size(), one.runs.size());
    for (std::size_t k = 0; k < one.runs.size(); ++k) {
      EXPECT_EQ(eight.runs[k].word, one.runs[k].word);
      EXPECT_EQ(eight.runs[k].final.q, one.runs[k].final.q);
      EXPECT_EQ(eight.runs[k].final.v, one.runs[k].final.v);
      EXPECT_EQ(eight.runs[k].energy_end, one.runs[k].energy_end);
    }
  }
}

// Joints, contacts, limits and actuators; every thread at states of its own.
TEST(Threads, TermsDoNotDependOnWhoAsksOrWhatWasAskedBefore) {
  for (const char* name : {"/tower.xml", "/quadruped.xml", "/gripper.xml", "/biped.xml"}) {
    const System system(std::string(ROUTH_SCENARIOS) + name);
    std::mt19937 random(5);
    std::vector<State> states;
    std::vector<Terms> expected;
    std::vector<double> energy;
    for (int k = 0; k < 16; ++k) {
      State s = system.home();
      s.v = random_vector(random, system.nv());
      system.integrate(s.q, random_vector(random, system.nv(), 0.02), 1);
      states.push_back(s);
      const System fresh = system;  // a workspace that nobody used
      expected.push_back(fresh.terms(s.q, s.v, 0.1 * k));
      energy.push_back(fresh.potential_energy(s.q));
    }
    std::vector<std::thread> threads;
    std::vector<int> wrong(8, 0);
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&, i] {
        VectorXd gaps, joints;
        for (int n = 0; n < 64; ++n) {
          const int k = (5 * n + i) % 16;
          const State& s = states[k];
          wrong[i] += !same(system.terms(s.q, s.v, 0.1 * k), expected[k]);
          wrong[i] += system.potential_energy(s.q) != energy[k];
          system.gaps(s.q, gaps, joints);
          wrong[i] += gaps.size() != static_cast<Eigen::Index>(expected[k].contacts.size()) ||
                      joints != expected[k].joint_gap;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, std::vector<int>(8, 0)) << name;
  }
}

TEST(Threads, MotionsInSpaceAreTheSameSideBySide) {
  const System system(ROUTH_SCENARIOS "/quadruped.xml");
  const State land = system.keyframe("land");
  const TimeSteppingOptions options{.h = 1e-3, .end = 0.05};
  const State alone = simulate(system, land, options).final;
  std::vector<std::thread> threads;
  std::vector<State> ends(6);
  for (State& end : ends)
    threads.emplace_back([&] { end = simulate(system, land, options).final; });
  for (std::thread& thread : threads) thread.join();
  for (const State& end : ends) {
    EXPECT_EQ(end.q, alone.q);
    EXPECT_EQ(end.v, alone.v);
  }
}

}  // namespace
}  // namespace routh::mujoco
