// Models as their owners have them, from the command line.

#include <fstream>

#include "program.h"

namespace routh::test {
namespace {

class Robots : public Program {
 protected:
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ + "/" + name) << text;
    return folder_ + "/" + name;
  }
  std::string arm() const {
    return write("arm.xml",
                 "<mujoco><worldbody><body name='base'><geom type='box' size='.2 .2 .05'/>"
                 "<body pos='0 0 .2'><joint axis='0 1 0'/><geom size='.05'/></body></body>"
                 "</worldbody></mujoco>");
  }
};

TEST_F(Robots, AModelThatTouchesNothingIsAnswered) {
  const Result r = run("check " + arm());
  EXPECT_EQ(r.code, 0) << r.out;
  EXPECT_TRUE(says(r, "no contact touches")) << r.out;
  EXPECT_TRUE(says(r, "add --float --floor --drop 0.1")) << r.out;
  const nlohmann::json j = json_of("check " + arm());
  EXPECT_EQ(j["unique"], true);
  EXPECT_EQ(j["colliding"], false);
  EXPECT_EQ(run("impact " + arm()).code, 2);
}

TEST_F(Robots, DropSaysWhatAModelNeedsToFall) {
  EXPECT_TRUE(says(run("check " + arm() + " --drop 0.1"), "add --float --floor"));
  EXPECT_TRUE(says(run("check " + arm() + " --drop 0.1 --float"), "add --floor"));
  const Result r = run("check " + arm() + " --drop 0.1 --float --floor");
  EXPECT_EQ(r.code, 0) << r.out;
  EXPECT_TRUE(says(r, "base/floor")) << r.out;
  EXPECT_EQ(run("check rocking-block --float").code, 2);
}

TEST_F(Robots, TheWorstForTheBaseAndWhatTouchesIsSaid) {
  const nlohmann::json j = json_of("check quadruped");
  ASSERT_EQ(j["worst"].size(), 5u) << j["worst"];  // the base and four feet
  EXPECT_EQ(j["worst"][0]["base"], true);
  EXPECT_GT(j["worst"][0]["away"], 1e-3);
  for (const auto& foot : j["worst"]) EXPECT_FALSE(foot["by"].get<std::string>().empty());
  EXPECT_TRUE(says(run("check quadruped"), "worst for the base"));
}

TEST_F(Robots, NotesAreInEveryCommand) {
  for (const char* command :
       {"impact quadruped --law simultaneous", "check quadruped", "simulate quadruped --end 0.01",
        "ensemble quadruped --runs 2 --end 0.01"}) {
    EXPECT_TRUE(says(run(command), "note: Soft in MuJoCo and rigid here")) << command;
    EXPECT_FALSE(json_of(command)["notes"].empty()) << command;
  }
}

TEST_F(Robots, AHoveringDroneDoesNotFallUnlessItsInputsAreZero) {
  const std::string drone = write(
      "drone.xml",
      "<mujoco><worldbody><geom type='plane' size='0 0 1'/><body name='drone' pos='0 0 1'>"
      "<freejoint name='free'/><geom type='box' size='.1 .1 .02' mass='1'/></body></worldbody>"
      "<actuator><motor joint='free' gear='0 0 1 0 0 0'/></actuator>"
      "<keyframe><key name='hover' ctrl='9.81'/></keyframe></mujoco>");
  const Result held = run("check " + drone + " --drop 0.1");
  EXPECT_EQ(held.code, 2);
  EXPECT_TRUE(says(held, "its actuators hold it up; --ctrl 0 switches them off")) << held.out;
  EXPECT_EQ(run("check " + drone + " --drop 0.1 --ctrl 0").code, 0);
  const Result many = run("check " + drone + " --drop 0.1 --ctrl 1,2");
  EXPECT_EQ(many.code, 2);
  EXPECT_TRUE(says(many, "--ctrl: has 2 numbers; the model has 1")) << many.out;
  EXPECT_TRUE(says(run("check " + drone + " --drop 0.1 --ctrl nan"), "--ctrl")) << many.out;
}

TEST_F(Robots, PartsThatTheirOwnerPutIntoEachOtherAreLeftOut) {
  // two balls on axes of their own in one body: no motion opens them
  const std::string wheel =
      write("wheel.xml",
            "<mujoco><worldbody><geom type='plane' size='0 0 1'/><body name='frame' pos='0 0 .3'>"
            "<freejoint/><geom type='sphere' size='.1'/>"
            "<body pos='.2 0 0'><joint axis='0 1 0'/><geom name='ring' size='.03'/></body>"
            "<body pos='.25 0 0'><joint axis='0 1 0'/><geom name='bearing' size='.03'/></body>"
            "</body></worldbody></mujoco>");
  const Result r = run("check " + wheel + " --drop 0.1");
  EXPECT_EQ(r.code, 0) << r.out;
  EXPECT_TRUE(says(r, "no motion opens are left out: bearing/ring (0.01 m)")) << r.out;
  EXPECT_EQ(run("check " + wheel + " --drop 0.1 --as-is").code, 2);
}

TEST_F(Robots, LimitsOfJointsAreNotRedundantForTheirTangents) {
  const std::string swing =
      write("swing.xml",
            "<mujoco><compiler angle='radian'/><worldbody><geom type='plane' size='0 0 1'/>"
            "<body pos='0 0 .05'><freejoint/><geom size='.05'/><body pos='0 0 .1'>"
            "<joint name='hip' axis='0 1 0' limited='true' range='0 1'/><geom size='.02' pos='.1 0 "
            ".1'/></body></body>"
            "</worldbody></mujoco>");
  const nlohmann::json j = json_of("check " + swing + " --qvel 0,0,-1,0,0,0,-1");
  EXPECT_EQ(j["contacts"].size(), 2u) << j["contacts"];
  EXPECT_EQ(j["redundant_rows"], 0);
}

TEST_F(Robots, DerivativesOfTheirOutcomesAreGiven) {
  const nlohmann::json j = json_of("impact thrown-box --law simultaneous --derivative");
  const nlohmann::json& d = j["outcomes"][0]["derivative"];
  EXPECT_EQ(d["velocity"].size(), 6u);
  EXPECT_EQ(d["configuration"].size(), 6u);
  EXPECT_EQ(d["friction"][0].size(), j["contacts"].size());
  EXPECT_EQ(d["bodies"].size(), 1u);
  EXPECT_EQ(run("impact thrown-box --law set --derivative").code, 2);
  EXPECT_EQ(json_of("simulate order-test --derivative")["derivative"]["jumps"].size(), 3u);
  EXPECT_EQ(run("simulate order-test --method event-selected --derivative").code, 0);
  EXPECT_EQ(run("simulate four-bar --method compliant --derivative").code, 2);
}

TEST_F(Robots, DerivativesOfTheirStepsAreGiven) {
  const nlohmann::json j = json_of("simulate thrown-box --end 0.004 --derivative");
  const nlohmann::json& d = j["derivative"];
  EXPECT_EQ(d["names"][6], "v." + j["velocities"][0].get<std::string>());
  EXPECT_EQ(d["matrix"].size(), 12u);
  EXPECT_EQ(d["mass"][0].size(), 1u);
  EXPECT_EQ(d["bodies"][0], "box");
  EXPECT_EQ(d["friction"][0].size(), d["contacts"].size());
  EXPECT_EQ(d["contacts"].size(), 2u) << d["contacts"];  // floor and wall
  EXPECT_TRUE(
      says(run("simulate thrown-box --end 0.004 --derivative"), "derivative of the state at"));
}

TEST_F(Robots, FilmsNeedFfmpegAndSaySo) {
  EXPECT_TRUE(says(run("simulate quadruped --end 0.01 --animate " + folder_ + "/a.avi"),
                   "must end in .svg, .gif, .mp4 or .webm"));
  const Result r = shell("PATH=" + folder_ + " " + ROUTH_PROGRAM +
                         " simulate quadruped --end 0.01 --animate " + folder_ + "/a.mp4 2>&1");
  EXPECT_EQ(r.code, 2);
  EXPECT_TRUE(says(r, "apt-get install ffmpeg")) << r.out;
  // what it is given, it turns into a film
  write("ffmpeg", "#!/bin/sh\nexec /bin/cat\n");
  std::filesystem::permissions(folder_ + "/ffmpeg", std::filesystem::perms::owner_all);
  const Result film = shell("PATH=" + folder_ + " " + ROUTH_PROGRAM +
                            " simulate quadruped --end 0.01 --animate " + folder_ + "/a.mp4 2>&1");
  EXPECT_EQ(film.code, 0) << film.out;
  std::string head(6, ' ');
  std::ifstream(folder_ + "/a.mp4").read(head.data(), 6);
  EXPECT_EQ(head, "GIF89a");
}

}  // namespace
}  // namespace routh::test
