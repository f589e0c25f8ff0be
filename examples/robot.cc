// A robot in MJCF lands: MuJoCo gives one outcome, here are many.

#include <cstdio>

#include "routh/impact/set_valued.h"
#include "routh/mujoco/system.h"
#include "routh/simulate/reduce.h"

int main(int, char** argv) {
  routh::mujoco::System system(argv[1]);
  const routh::State state = system.keyframe(system.keyframes().front());
  const routh::ReducedImpact impact =
      routh::reduce(system.terms(state.q, state.v), state.v, /*touching=*/1e-4);

  const routh::SetResult set = routh::set_valued(impact.problem, {.samples = 1000, .step = 0.5});
  std::printf("%s: %d contacts, %.0f samples a second\n", system.title().c_str(),
              impact.problem.contacts(), static_cast<double>(set.samples) / set.seconds);
  const std::vector<std::string> names = system.velocity_names();
  const Eigen::VectorXd first = impact.lift(state.v, set.kept[0].outcome.impulse);
  const Eigen::VectorXd second = impact.lift(state.v, set.kept[1].outcome.impulse);
  for (std::size_t i = 0; i < names.size(); ++i)
    std::printf("%-16s before %8.4f   after %8.4f or %8.4f ..\n", names[i].c_str(), state.v[i],
                first[i], second[i]);
}
