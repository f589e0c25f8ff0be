#include <gtest/gtest.h>
#include <mujoco/mujoco.h>

#include <Eigen/Cholesky>
#include <cmath>

#include "routh/mujoco/fall.h"
#include "routh/mujoco/own_outcome.h"
#include "routh/mujoco/system.h"
#include "routh/simulate/reduce.h"

namespace routh::mujoco {
namespace {

using Eigen::VectorXd;

System shipped(const std::string& name) {
  return System(std::string(ROUTH_SCENARIOS "/") + name + ".xml");
}

struct Promise {
  const char *model, *keyframe;
  int touching, approaching;
};
void PrintTo(const Promise& promise, std::ostream* out) {
  *out << promise.model << ' ' << promise.keyframe;
}

class ShippedModels : public testing::TestWithParam<Promise> {};

TEST_P(ShippedModels, TouchAsPromised) {
  const auto& [model, keyframe, touching, approaching] = GetParam();
  const System system = shipped(model);
  EXPECT_GT(system.title().size(), 10u);
  const State state = system.keyframe(keyframe);
  const Terms terms = system.terms(state.q, state.v);
  int touch = 0, approach = 0;
  for (const Contact& contact : terms.contacts) {
    if (contact.phi > 1e-3) continue;
    EXPECT_LT(std::abs(contact.phi), 1e-9) << contact.name;
    EXPECT_GT(contact.Jt.norm(), 0) << contact.name << ": a limit";
    ++touch;
    approach += contact.Jn.dot(state.v) < -1e-6;
  }
  EXPECT_EQ(touch, touching);
  EXPECT_EQ(approach, approaching);
  EXPECT_LT((terms.A * state.v).norm() + terms.joint_gap.norm(), 1e-12);
  EXPECT_EQ(reduce(terms, state.v).contacts.size(), static_cast<std::size_t>(touching));
}

TEST_P(ShippedModels, RunInMujocoItself) {
  const auto& [name, keyframe, touching, approaching] = GetParam();
  const System system = shipped(name);
  const mjModel* model = system.model();
  const std::unique_ptr<mjData, decltype(&mj_deleteData)> data(mj_makeData(model), &mj_deleteData);
  mj_resetDataKeyframe(model, data.get(), mj_name2id(model, mjOBJ_KEY, keyframe));
  for (int i = 0; i < 500; ++i) mj_step(model, data.get());
  for (const mjWarningStat& warning : data->warning) EXPECT_EQ(warning.number, 0);
  EXPECT_LT(VectorXd(Eigen::Map<VectorXd>(data->qvel, model->nv)).cwiseAbs().maxCoeff(), 50);
}

INSTANTIATE_TEST_SUITE_P(
    All, ShippedModels,
    testing::Values(Promise{"quadruped", "land", 4, 4}, Promise{"quadruped", "trot", 2, 2},
                    Promise{"biped", "land", 8, 8}, Promise{"biped", "heel", 6, 2},
                    Promise{"thrown-box", "throw", 8, 8}, Promise{"thrown-box", "tumble", 4, 4},
                    Promise{"tower", "hit", 21, 1}, Promise{"tower", "drop", 20, 4},
                    Promise{"gripper", "close", 12, 8}, Promise{"gripper", "snatch", 12, 8},
                    Promise{"arm-and-boxes", "sweep", 12, 0}),
    [](const auto& test) {
      std::string name = std::string(test.param.model) + "_" + test.param.keyframe;
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

TEST(MujocoFall, ABallFallsAsGalileoSays) {
  const System system = System::from_text(
      "<mujoco><worldbody><geom type='plane' size='1 1 1'/>"
      "<body name='ball' pos='0 0 3'><freejoint/><geom size='.1'/></body></worldbody></mujoco>");
  const State state = fall(system, system.home(), 1.25);
  EXPECT_NEAR(state.q[2], 0.1, 1e-12);
  EXPECT_NEAR(state.time, std::sqrt(2 * 1.25 / 9.81), 1e-12);
  EXPECT_NEAR(state.v[2], -std::sqrt(2 * 1.25 * 9.81), 1e-11);
}

TEST(MujocoFall, AQuadrupedLandsOnAllFours) {
  const System system = shipped("quadruped");
  State start = system.keyframe("land");
  start.v.setZero();
  const State state = fall(system, start, 0.5);
  const ReducedImpact impact = reduce(system.terms(state.q, state.v), state.v, 1e-9);
  EXPECT_EQ(impact.contacts.size(), 4u);
  EXPECT_LT((state.q.tail(16) - start.q.tail(16)).norm(), 1e-12);
}

TEST(MujocoFall, AFreeFlightIsThatOfMujoco) {
  // spinning, with all joints moving
  System system = shipped("biped");
  system.set_control("land");
  State start = system.keyframe("land");
  start.v = VectorXd::LinSpaced(system.nv(), -1, 1);
  const State state = fall(system, start, 0.3, {.hold = false, .step = 1e-4});

  std::unique_ptr<mjModel, decltype(&mj_deleteModel)> model(mj_copyModel(nullptr, system.model()),
                                                            &mj_deleteModel);
  model->opt.disableflags |= mjDSBL_CONSTRAINT;
  model->opt.integrator = mjINT_RK4;
  const int steps = 5000;
  model->opt.timestep = state.time / steps;
  const std::unique_ptr<mjData, decltype(&mj_deleteData)> data(mj_makeData(model.get()),
                                                               &mj_deleteData);
  std::copy(start.q.begin(), start.q.end(), data->qpos);
  data->qpos[2] += 0.3;
  std::copy(start.v.begin(), start.v.end(), data->qvel);
  std::copy(system.control().begin(), system.control().end(), data->ctrl);
  for (int i = 0; i < steps; ++i) mj_step(model.get(), data.get());
  EXPECT_LT((state.q - Eigen::Map<VectorXd>(data->qpos, model->nq)).norm(), 1e-9);
  EXPECT_LT((state.v - Eigen::Map<VectorXd>(data->qvel, model->nv)).norm(), 1e-8);
}

TEST(MujocoFall, ABodyCanBeChosen) {
  const System system = shipped("tower");
  const State state = fall(system, system.keyframe("drop"), 0.4, {.body = "ball"});
  EXPECT_NEAR(state.q[37], 0.06, 1e-12);
  EXPECT_TRUE(state.v.head(30).isZero(0));
  EXPECT_EQ(reduce(system.terms(state.q, state.v), state.v).contacts.size(), 21u);
}

TEST(MujocoFall, BadInputIsNamed) {
  const auto message = [](const std::string& text, double height = 1) -> std::string {
    const System system = System::from_text("<mujoco>" + text + "</mujoco>");
    try {
      (void)fall(system, system.home(), height);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "no error";
  };
  const std::string ball = "<body name='ball'><freejoint/><geom size='.1'/></body>";
  const std::string floor = "<geom type='plane' size='1 1 1' pos='0 0 -1'/>";
  EXPECT_NE(message("<worldbody>" + ball + "</worldbody>").find("fall for ever"),
            std::string::npos);
  EXPECT_NE(message("<worldbody>" + floor + "<body><joint/><geom size='.1'/></body></worldbody>")
                .find("no free joint"),
            std::string::npos);
  EXPECT_NE(message("<option gravity='0 0 0'/><worldbody>" + floor + ball + "</worldbody>")
                .find("no gravity"),
            std::string::npos);
  EXPECT_NE(message("<worldbody>" + floor + ball + "</worldbody>", -1).find("height"),
            std::string::npos);
}

const char* const kBall =
    "<mujoco><worldbody><geom type='plane' size='1 1 1' friction='.3'/>"
    "<body name='ball' pos='0 0 .1'><freejoint/><geom size='.1' mass='1' friction='.3'/></body>"
    "</worldbody></mujoco>";

TEST(MujocoOwnOutcome, ABallStopsAndReboundsByAnEighth) {
  // a critically damped contact: stops after one time constant, leaves with v e⁻²
  const System system = System::from_text(kBall);
  State state = system.home();
  state.v[2] = -2;
  const OwnOutcome outcome = own_outcome(system, state);
  EXPECT_TRUE(outcome.reached);
  EXPECT_NEAR(outcome.v_stop[2], 0, 5e-3);
  EXPECT_GT(outcome.v_plus[2], 0.1);
  EXPECT_LT(outcome.v_plus[2], 0.5);
  EXPECT_GT(outcome.stop_time, 0.01);
  EXPECT_LT(outcome.duration, 0.06);
  EXPECT_GT(outcome.penetration, 1e-3);
}

TEST(MujocoOwnOutcome, ASlidingBallHasCoulombsImpulse) {
  // grazing: friction is saturated throughout, so that Δv_x = -μ Δv_z
  const System system = System::from_text(kBall);
  State state = system.home();
  state.v[0] = 5;
  state.v[2] = -1;
  const OwnOutcome outcome = own_outcome(system, state, {.time_constant = 1e-3});
  EXPECT_TRUE(outcome.reached);
  EXPECT_NEAR(state.v[0] - outcome.v_plus[0], 0.3 * (outcome.v_plus[2] - state.v[2]), 0.02);
  EXPECT_LT(outcome.duration, 0.005);
}

TEST(MujocoOwnOutcome, ABallThatGripsRolls) {
  // sticking needs 2/7 of the tangential momentum, less than μ times the normal one
  const System system = System::from_text(kBall);
  State state = system.home();
  state.v[0] = 1;
  state.v[2] = -2;
  const OwnOutcome outcome = own_outcome(system, state, {.time_constant = 1e-3});
  EXPECT_NEAR(outcome.v_plus[0], 5. / 7, 0.02);
  EXPECT_NEAR(0.1 * outcome.v_plus[4], 5. / 7, 0.02);
}

TEST(MujocoOwnOutcome, OpenGapsWithinTheToleranceCollide) {
  const System system = System::from_text(kBall);
  State state = system.home();
  state.q[2] += 9e-7;
  state.v[2] = -1;
  const OwnOutcome outcome = own_outcome(system, state);
  EXPECT_TRUE(outcome.reached);
  EXPECT_GT(outcome.v_plus[2], 0);
}

TEST(MujocoOwnOutcome, WithoutApproachNothingHappens) {
  const System system = System::from_text(kBall);
  State state = system.home();
  state.v[2] = 1;
  const OwnOutcome outcome = own_outcome(system, state);
  EXPECT_TRUE(outcome.reached);
  EXPECT_EQ(outcome.v_plus, state.v);
  EXPECT_EQ(outcome.steps, 0);
}

TEST(MujocoOwnOutcome, EnergyIsNotGainedAndBadOptionsAreNamed) {
  for (const char* name : {"quadruped", "biped"}) {
    const System system = shipped(name);
    const State state = system.keyframe("land");
    const OwnOutcome outcome = own_outcome(system, state);
    EXPECT_TRUE(outcome.reached) << name;
    EXPECT_LT(kinetic_energy(system.terms(outcome.q_plus, outcome.v_plus), outcome.v_plus),
              kinetic_energy(system.terms(state.q, state.v), state.v));
  }
  const System system = System::from_text(kBall);
  EXPECT_THROW((void)own_outcome(system, system.home(), {.step = 0}), std::invalid_argument);
  EXPECT_THROW((void)own_outcome(system, system.home(), {.limit = -1}), std::invalid_argument);
  EXPECT_THROW((void)own_outcome(system, {}, {}), std::invalid_argument);
}

}  // namespace
}  // namespace routh::mujoco
