// Coefficients of restitution as users give them and see them again.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "apps/program.h"
#include "routh/io/files.h"

namespace {

using namespace routh::test;
using Bounce = Program;

/// Kane's pendulum: two rods of 1 m and 1 kg at 20 and 30 degrees, friction 0.7.
constexpr const char* kKane =
    "M: [[1.3333333333, 0.49240387651], [0.49240387651, 0.33333333333]]\n"
    "Jn: [[0.34202014333, 0.5]]\nJt: [[0.93969262079, 0.86602540378]]\n"
    "mu: 0.7\ne: 0.5\nv: [-0.1, -0.2]\n";

TEST_F(Bounce, MatricesAndContactSpaceTakeOneCoefficientOrOneForEachContact) {
  const std::string matrices = folder_ + "/m.yaml", space = folder_ + "/c.yaml";
  routh::io::write_file(matrices,
                        "M: [[1, 0], [0, 1]]\nJn: [[0, 1]]\nJt: [[1, 0]]\nmu: 0.2\n"
                        "v: [3, -1]\ne: 0.5\n");
  routh::io::write_file(space, "G: [[1, 0], [0, 1]]\nc: [-1, 3]\nmu: [0.2]\ne: [0.5]\n");
  for (const std::string& file : {matrices, space}) {
    for (const char* law : {"simultaneous", "sequential", "single", "set"}) {
      const nlohmann::json j = json_of("impact " + file + " --law " + law);
      // 1.5 N s, friction 0.3
      EXPECT_NEAR(j["outcomes"][0]["normal"][0].get<double>(), 0.5, 1e-9) << file << law;
      EXPECT_NEAR(j["outcomes"][0]["tangential"][0][0].get<double>(), 2.7, 1e-9);
      EXPECT_EQ(j["restitution"]["e"][0], 0.5);
      EXPECT_EQ(j["restitution"]["meaning"], "by law");
    }
  }
}

TEST_F(Bounce, CoefficientsThatAreNoneAreRefusedByTheirPlace) {
  const std::string file = folder_ + "/m.yaml";
  for (const char* e : {"-0.1", "1.01", "[0.5]", "[]", "[0.5, .nan]", "[0.5, 2]", "fast"}) {
    routh::io::write_file(file, std::string("G: [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, "
                                            "0, 1]]\nc: [-1, -1, 0, 0]\nmu: 0.2\ne: ") +
                                    e + "\n");
    const Result r = run("impact " + file);
    EXPECT_EQ(r.code, 2) << e << r.out;
    EXPECT_TRUE(says(r, "e")) << r.out;
  }
  const Result r = run("impact dropped-box --set restitution=1.5");
  EXPECT_EQ(r.code, 2);
  EXPECT_TRUE(says(r, "restitution")) << r.out;
}

#ifdef ROUTH_HAS_MUJOCO
TEST_F(Bounce, AModelHasOneCoefficientFromItsFileOrTheCommand) {
  const std::string file = folder_ + "/ball.xml";
  const auto ball = [&](const std::string& data) {
    routh::io::write_file(file, "<mujoco><custom><numeric name='restitution' data='" + data +
                                    "'/></custom><worldbody><geom type='plane' size='1 1 1'/><body "
                                    "pos='0 0 0.1'><freejoint/><geom type='sphere' "
                                    "size='0.1'/></body></worldbody></mujoco>");
    return "impact " + file + " --qvel 0,0,-1,0,0,0 --law single ";
  };
  const auto lifts = [&](const std::string& ask) {
    return json_of(ask)["outcomes"][0]["normal"][0].get<double>();
  };
  EXPECT_NEAR(lifts(ball("0.5")), 0.5, 1e-9);
  EXPECT_NEAR(lifts(ball("0.5") + "--set restitution=0.25"), 0.25, 1e-9);
  for (const char* data : {"-0.5", "1.5", "0.5 0.2", "nan"}) {
    const Result r = run(ball(data));
    EXPECT_EQ(r.code, 2) << data << r.out;
    EXPECT_TRUE(says(r, "restitution")) << r.out;
  }
}
#endif

TEST_F(Bounce, LawsRefuseMeaningsThatTheyDoNotHave) {
  for (const char* arguments :
       {"impact dropped-box --law simultaneous --restitution stronge",
        "impact dropped-box --law set --restitution newton", "impact dropped-box --law exact",
        "impact dropped-box --restitution stronge", "impact rocking-block --restitution poisson",
        "impact dropped-box --law set --coverage", "impact dropped-box --restitution young",
        "impact dropped-box --law sequential --single algebraic --restitution stronge",
        "simulate dropped-box --method compliant", "simulate bouncing-ball --law plastic",
        "simulate dropped-box --restitution stronge"}) {
    const Result r = run(arguments);
    EXPECT_EQ(r.code, 2) << arguments << r.out;
  }
}

TEST_F(Bounce, TheTextbooksOutcomesOfTheCradleStandBesideThoseOfTheSet) {
  const nlohmann::json in_turn = json_of("impact newtons-cradle --law sequential");
  ASSERT_EQ(in_turn["outcomes"].size(), 1u);
  EXPECT_NEAR(in_turn["outcomes"][0]["velocity"][2].get<double>(), 1, 1e-9);
  const nlohmann::json at_once = json_of("impact newtons-cradle --law simultaneous");
  EXPECT_NEAR(at_once["outcomes"][0]["velocity"][0].get<double>(), -1. / 3, 1e-9);
  const nlohmann::json all = json_of("impact newtons-cradle");
  EXPECT_EQ(all["unique"], false);
  const nlohmann::json walls = json_of("impact ball-between-walls --law sequential");
  EXPECT_NEAR(walls["outcomes"][0]["zeno"].get<double>(), 0.25, 1e-9);
}

// docs/restitution.md puts the laws side by side: with the numbers that the commands print.
TEST_F(Bounce, TheTableOfTextbookImpactsHasWhatTheLawsSay) {
  const std::filesystem::path docs = std::filesystem::path(ROUTH_README).parent_path() / "docs";
  const std::string text = routh::io::read_file((docs / "restitution.md").string());
  for (const std::string law : {"simultaneous", "sequential", "binary", "lzb"}) {
    const std::size_t begin = text.find("\n| `" + law + "` |");
    ASSERT_NE(begin, std::string::npos) << law;
    const std::string line = text.substr(begin + 1, text.find('\n', begin + 1) - begin - 1);
    const auto has = [&](const std::string& scenario, const std::string& key, std::size_t numbers) {
      const nlohmann::json impact =
          json_of("impact " + scenario + " --law " + law + " 2>/dev/null");
      for (const nlohmann::json& outcome : impact["outcomes"]) {
        std::string cell;
        for (std::size_t i = 0; i < numbers; ++i) {
          double x = outcome[key][i].get<double>();
          if (std::abs(x) < 5e-5) x = 0;
          cell += fmt::format("{}{:.4f}", i ? ", " : "", x);
        }
        EXPECT_NE(line.find(cell), std::string::npos) << scenario << " " << law << " " << cell;
        if (scenario == "two-balls-on-one") break;  // the other is its mirror image
      }
    };
    has("newtons-cradle", "velocity", 3);
    has("two-balls-on-one", "velocity", 2);
    has("ball-between-walls", "impulse", 2);
    has("dropped-box", "normal", 2);
  }
}

TEST_F(Bounce, EnergyThatAnImpactOfAMotionAddsIsSaid) {
  // Kane's pendulum on its way: the tip of two rods comes to the floor, which lies under it
  const std::string file = folder_ + "/kane.yaml";
  routh::io::write_file(file, R"(
mechanism:
  gravity: [0, 0]
  bodies:
    - {name: upper, joint: revolute, mass: 1, inertia: 1/12, centre: [0, -0.5], q: 20*pi/180, v: -0.1}
    - {name: lower, parent: upper, joint: revolute, at: [0, -1], mass: 1, inertia: 1/12, centre: [0, -0.5], shapes: {tip: {point: [0, -1]}}, q: 10*pi/180, v: -0.1}
  planes: {floor: {point: [0, -cos(20*pi/180) - cos(30*pi/180)], normal: [0, 1]}}
  contacts: [{name: A, between: [lower.tip, floor], friction: 0.7, restitution: 0.5}]
)");
  const std::string ask = "simulate " + file + " --law sequential --end 0.1 ";
  EXPECT_GT(json_of(ask + "--restitution newton")["summary"]["largest_gain"].get<double>(), 0);
  EXPECT_TRUE(says(run(ask + "--restitution newton"), "adds"));
  EXPECT_FALSE(json_of(ask)["summary"].contains("largest_gain"));
  EXPECT_FALSE(says(run(ask), "adds"));
  const std::string many = "ensemble " + file + " --law sequential --end 0.1 --runs 2 ";
  EXPECT_TRUE(says(run(many + "--restitution newton"), "an impact adds energy"));
  EXPECT_FALSE(says(run(many), "adds energy"));
}

// One contact whose slip stops: laws differ by what e means, not by what can happen.
TEST_F(Bounce, AChecksLawsCanAllTakeOneMeaning) {
  const std::string file = folder_ + "/kane.yaml";
  routh::io::write_file(file, kKane);
  const nlohmann::json by_law = json_of("check " + file),
                       alike = json_of("check " + file + " --restitution poisson");
  EXPECT_EQ(by_law["unique"], false);
  EXPECT_EQ(alike["unique"], true) << alike["verdict"];
  EXPECT_TRUE(says(run("check " + file), "--restitution poisson"));
  // P1 Theorem 8 is about inelastic impacts
  EXPECT_TRUE(by_law["termination"].is_null());
  for (const char* means : {"stronge", "newton", "young"})
    EXPECT_EQ(run("check " + file + " --restitution " + means).code, 2) << means;
  EXPECT_EQ(run("check rocking-block --restitution poisson").code, 2);
}

// Steps of walkers have several solutions; one favourite branch would make the set a point.
TEST_F(Bounce, AsCoefficientsVanishTheSetIsThatWithoutThem) {
  for (const char* name : {"compass-gait", "ramone", "rocking-block"}) {
    const std::string file = folder_ + "/e.yaml", ask = " --law set --samples 2^12 --draws corners";
    std::string text = run(std::string("show ") + name).out;
    for (std::size_t at = 0; (at = text.find("between:", at)) != std::string::npos; ++at)
      text.insert(text.find('}', at), ", restitution: 1e-9");
    routh::io::write_file(file, text);
    const nlohmann::json with = json_of("impact " + file + ask)["summary"],
                         without = json_of("impact " + std::string(name) + ask)["summary"];
    EXPECT_GT(with["terminated"], 4000) << name;
    for (const char* range : {"normal_min", "normal_max", "tangential_min", "tangential_max"}) {
      for (int i = 0; i < 2; ++i) {
        const auto of = [&](const nlohmann::json& all) {
          const nlohmann::json& x = all[range][i];
          return x.is_array() ? x[0].get<double>() : x.get<double>();
        };
        EXPECT_NEAR(of(with), of(without), 5e-3) << name << " " << range << i;
      }
    }
  }
}

TEST_F(Bounce, EnergyThatALawAddsIsSaid) {
  const std::string file = folder_ + "/kane.yaml";
  routh::io::write_file(file, kKane);
  const Result newton = run("impact " + file + " --law single --restitution newton");
  EXPECT_EQ(newton.code, 0);
  EXPECT_TRUE(says(newton, "adds")) << newton.out;
  EXPECT_FALSE(says(run("impact " + file + " --law single"), "adds"));
  const nlohmann::json j =
      json_of("impact " + file + " --law single --restitution newton 2>/dev/null");
  EXPECT_GT(j["outcomes"][0]["energy_gain"].get<double>(), 0);
}

}  // namespace
