// Tables of measured impacts as users give them.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "apps/program.h"
#include "routh/io/files.h"

namespace {

using namespace routh::test;
using Measured = Program;

constexpr const char* kHead =
    "vx_minus,vy_minus,w_minus,vx_plus,vy_plus,w_plus,jn_x,jn_y,jn_w,jt_x,jt_y,jt_w";

/// A disc of unit mass that falls without spin and bounces with e = 1/2: 2/5 of its slip is gone.
std::string row(int k) {
  const double slip = 0.01 * (k % 7), fall = 1 + 0.1 * (k % 5);
  return fmt::format("{},{},0,{},{},0,0,1,0,1,0,1", slip, -fall, slip, 0.5 * fall);
}
std::string table(const std::string& ending = "\n") {
  std::string text = kHead + ending;
  for (int k = 0; k < 24; ++k) text += row(k) + ending;
  return text;
}

TEST_F(Measured, ALawWithOneOutcomeIsAsFarFromItsControlsAndSaysNothing) {
  const std::string file = folder_ + "/m.csv";
  routh::io::write_file(file, table());
  const nlohmann::json j = json_of("measured " + file + " --samples 20");
  ASSERT_EQ(j["laws"].size(), 5u);
  for (const nlohmann::json& law : j["laws"]) {
    EXPECT_EQ(law["impacts"], 12) << law;
    EXPECT_EQ(law["contacts"], 1) << law;
    if (law["law"] == "set") continue;  // samples of one outcome differ by rounding
    EXPECT_EQ(law["ties"], 12) << law;
    EXPECT_EQ(law["farther_controls"], 0.5) << law;
    EXPECT_EQ(law["chance"], 1) << law;
  }
  EXPECT_NEAR(j["fits"][0]["e"].get<double>(), 0.5, 0.02);
}

#ifdef ROUTH_HAS_MUJOCO
TEST_F(Measured, MujocoStandsBesideTheLawsWithParametersOfItsOwn) {
  const std::string file = folder_ + "/m.csv", ball = folder_ + "/ball.xml";
  routh::io::write_file(file, table());
  const nlohmann::json j = json_of("measured " + file + " --samples 2 --compare mujoco");
  ASSERT_EQ(j["peers"].size(), 1u);
  EXPECT_EQ(j["peers"][0]["name"], "mujoco");
  EXPECT_GT(j["peers"][0]["parameters"]["friction"].get<double>(), 0);
  // a ball bounces as it is told to, nearly: MuJoCo lets slip a little
  EXPECT_LT(j["peers"][0]["held_out"].get<double>(), 0.05);
  EXPECT_EQ(j["laws"].back()["law"], "mujoco");
  // rows that are no axes of a frame leave no body to move
  std::string skew = table();
  for (std::size_t at = 0; (at = skew.find(",0,1,0,1,0,1", at)) != std::string::npos; ++at)
    skew.replace(at, 12, ",1,1,0,1,0,1");
  routh::io::write_file(file, skew);
  const Result r = run("measured " + file + " --samples 2 --compare mujoco");
  EXPECT_EQ(r.code, 2);
  EXPECT_TRUE(says(r, "right angles")) << r.out;
}
#endif

TEST_F(Measured, ModelsAndMechanismsOfTheUsersOwnAreMeasured) {
  // a point of 2 kg: mechanism and coordinates by name, rows of sigma
  const std::string file = folder_ + "/m.csv", point = folder_ + "/point.yaml";
  routh::io::write_file(point, R"(
mechanism:
  bodies: [{name: p, mass: 2, inertia: 1, shapes: {c: {point: [0, 0]}}}]
  planes: {floor: {point: [0, 0], normal: [0, 1]}}
  contacts: [{name: A, between: [p.c, floor], friction: 0.9}]
)");
  std::string text =
      "p.x,p.y,p.angle,p.x_minus,p.y_minus,p.angle_minus,p.x_plus,p.y_plus,p.angle_plus,"
      "sigma_p.x,sigma_p.y,sigma_p.angle\n";
  for (int k = 0; k < 24; ++k) {
    const double fall = 1 + 0.1 * (k % 5), slip = 1 + 0.1 * (k % 3);
    // mu 0.2, e 0.5: friction takes 0.2 * 1.5 of the fall
    text += fmt::format("{},0,0,{},{},0,{},{},0,0.01,0.01,0.01\n", k, slip, -fall,
                        slip - 0.3 * fall, 0.5 * fall);
  }
  routh::io::write_file(file, text);
  const nlohmann::json j = json_of("measured " + file + " --scenario " + point + " --samples 2");
  EXPECT_EQ(j["kind"], "scenario");
  EXPECT_NEAR(j["fits"][0]["mu"].get<double>(), 0.2, 0.02);
  EXPECT_NEAR(j["fits"][0]["e"].get<double>(), 0.5, 0.02);
  EXPECT_EQ(run("measured " + file + " --scenario " + point + " --compare mujoco").code, 2);
  const Result missing = run("measured " + file + " --scenario rocking-block");
  EXPECT_EQ(missing.code, 2);
  EXPECT_TRUE(says(missing, "block.x")) << missing.out;
}

TEST_F(Measured, TablesOfOtherProgramsAreRead) {
  const std::string file = folder_ + "/m.csv", same = folder_ + "/n.csv";
  routh::io::write_file(file, table());
  const nlohmann::json expected = json_of("measured " + file + " --samples 2")["laws"];
  std::string words = std::string(kHead) + ",\"by, whom\"\n";
  for (int k = 0; k < 24; ++k) words += row(k) + ",\"Smith, \"\"J.\"\"\"\n";
  std::string spaced = table();
  for (std::size_t at = 0; (at = spaced.find(',', at)) != std::string::npos; at += 2)
    spaced.replace(at, 1, ", ");
  for (const std::string& text :
       {table("\r\n"), "\xEF\xBB\xBF" + table(), words, spaced, table() + "\n\n"}) {
    routh::io::write_file(same, text);
    EXPECT_EQ(json_of("measured " + same + " --samples 2")["laws"], expected)
        << text.substr(0, 200);
  }
}

TEST_F(Measured, TablesThatCannotBeAreRefusedByTheirPlace) {
  const std::string file = folder_ + "/m.csv", head = std::string(kHead) + "\n";
  const std::string good = row(1) + "\n", box = "x,y,z,qw,qx,qy,qz";
  std::string boxes =
      box +
      ",vx_minus,vy_minus,vz_minus,wx_minus,wy_minus,wz_minus,vx_plus,vy_plus,vz_plus,"
      "wx_plus,wy_plus,wz_plus\n";
  boxes += "0,0,1,0,0,0,0,0,0,-1,0,0,0,0,0,0.5,0,0,0\n";
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", "no rows"},
      {head, "no rows"},
      {"jn_x\n1\n", "are missing"},
      {"a,b\n1,2\n", "are missing"},
      {head + good + "1,2\n", "line 3 has 2 cells"},
      {head + good + "\n" + "nan" + row(1).substr(row(1).find(',')) + "\n", "line 4: vx_minus"},
      {head + "inf" + row(1).substr(row(1).find(',')) + "\n", "line 2: vx_minus"},
      {head + "1e200" + row(1).substr(row(1).find(',')) + "\n", "line 2: vx_minus"},
      {head + "one" + row(1).substr(row(1).find(',')) + "\n", "'one'"},
      {head + row(1).substr(row(1).find(',')) + "\n", "vx_minus"},
      {std::string(kHead) + ",group\n" + row(1) + ",1.5\n", "group"},
      {std::string(kHead) + ",group\n" + row(1) + ",1e12\n", "group"},
      {std::string(kHead) + ",jt_w\n" + row(1) + ",1\n", "same name"},
      {head + "0,-1,0,0,2,0,0,1,0,1,0,1\n", "no impact is left"},
      {boxes, "no rotation"},
  };
  for (const auto& [text, hint] : cases) {
    routh::io::write_file(file, text);
    const Result r = run("measured " + file);
    EXPECT_EQ(r.code, 2) << text << r.out;
    EXPECT_TRUE(says(r, hint)) << text << r.out;
  }
  EXPECT_EQ(run("measured " + folder_ + "/none.csv").code, 2);
  EXPECT_EQ(run("measured " + folder_).code, 2);
}

TEST_F(Measured, RowsWhoseEnergyGrowsAreNamedByTheirLinesAndCounted) {
  const std::string file = folder_ + "/m.csv";
  routh::io::write_file(file, table() + "\n0,-1,0,0,2,0,0,1,0,1,0,1\n");
  const nlohmann::json j = json_of("measured " + file + " --samples 2");
  EXPECT_EQ(j["energy_grows"], (std::vector<std::string>{"27"}));
  EXPECT_EQ(j["impacts"], 24);
}

}  // namespace
