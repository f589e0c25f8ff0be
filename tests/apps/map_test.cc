// Maps, as a person asks for them.

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "apps/program.h"
#include "routh/io/scenario.h"

namespace {

using namespace routh::test;
namespace fs = std::filesystem;
using Map = Program;

/// A table by the names of its columns.
std::map<std::string, std::vector<std::string>> table(const std::string& text) {
  std::istringstream lines(text);
  std::string line, cell;
  std::getline(lines, line);
  std::vector<std::string> names;
  for (std::istringstream cells(line); std::getline(cells, cell, ',');) names.push_back(cell);
  std::map<std::string, std::vector<std::string>> columns;
  while (std::getline(lines, line)) {
    line += ",";
    std::istringstream cells(line);
    for (std::size_t k = 0; k < names.size() && std::getline(cells, cell, ','); ++k)
      columns[names[k]].push_back(cell);
  }
  return columns;
}
std::vector<double> numbers(const std::vector<std::string>& cells) {
  std::vector<double> values;
  for (const std::string& cell : cells) values.push_back(cell.empty() ? NAN : std::stod(cell));
  return values;
}

/// A point of 1 kg that lands with 1 m/s, sliding at `speed`.
std::string point(const std::string& folder) {
  const std::string file = folder + "/point.yaml";
  std::ofstream(file) << "parameters: {speed: {value: 0.5, unit: m/s}, friction: {value: 0.3}}\n"
                         "M: [[1, 0], [0, 1]]\nJn: [[0, 1]]\nJt: [[1, 0]]\nmu: [friction]\n"
                         "v: [speed, -1]\n";
  return file;
}

TEST_F(Map, OfASlidingPointHasTheClosedForm) {
  const std::string file = point(folder_);
  for (const char* law : {"set", "all", "simultaneous", "sequential", "binary", "lzb"}) {
    const Result r = run("map " + file + " --vary speed=-1:1:9 --vary friction=0:1:6 --law " + law +
                         " --measure max.energy,worst.tangential.A,outcomes,spread --csv - -q");
    ASSERT_EQ(r.code, 0) << r.out;
    auto t = table(r.out);
    ASSERT_EQ(t["cell"].size(), 54u) << law;
    const auto speed = numbers(t["speed"]), mu = numbers(t["friction"]);
    const auto energy = numbers(t["max.energy"]), slip = numbers(t["worst.tangential.A"]);
    for (std::size_t k = 0; k < speed.size(); ++k) {
      const double left = std::max(0.0, std::abs(speed[k]) - mu[k]);
      EXPECT_NEAR(slip[k], left, 1e-9) << law << " " << speed[k] << " " << mu[k];
      EXPECT_NEAR(energy[k], left * left / 2, 1e-9) << law;
      EXPECT_EQ(t["outcomes"][k], "1") << law;
      EXPECT_EQ(t["status"][k], "decided") << law;
    }
    EXPECT_EQ(speed[0], -1);
    EXPECT_EQ(speed[53], 1);
    EXPECT_EQ(mu[5], 1);
  }
}

TEST_F(Map, CellsAreWhatImpactsWithTheSameParametersAre) {
  const nlohmann::json map = json_of(
      "map compass-gait --vary friction=1:5:3 --vary rate=0.2:0.8:2 --samples 300 --seed 4 "
      "--measure outcomes,min.normal.A,max.v[2],steps,probability.A.separates");
  for (std::size_t k = 0; k < 6; ++k) {
    const auto& cells = map["cells"];
    const std::string set = " --set friction=" + cells["parameters"]["friction"][k].dump() +
                            " --set rate=" + cells["parameters"]["rate"][k].dump();
    const nlohmann::json one =
        json_of("impact compass-gait --law set --samples 300 --keep 300 --seed 4" + set);
    double normal = HUGE_VAL, v2 = -HUGE_VAL, apart = 0, ended = 0;
    for (const auto& o : one["outcomes"]) {
      ++ended;
      normal = std::min(normal, o["normal"][0].get<double>());
      v2 = std::max(v2, o["velocity"][2].get<double>());
      apart += o["modes"][0] == "separates";
    }
    EXPECT_NEAR(cells["measures"]["min.normal.A"][k], normal, 1e-12);
    EXPECT_NEAR(cells["measures"]["max.v[2]"][k], v2, 1e-9);
    EXPECT_NEAR(cells["measures"]["probability.A.separates"][k], apart / ended, 1e-12);
    EXPECT_EQ(cells["measures"]["outcomes"][k],
              json_of("impact compass-gait --law simultaneous" + set)["outcomes"].size());
  }
}

// One outcome where the outcome is not unique is no contradiction: it says which are counted.
TEST_F(Map, SaysWhichOutcomesItCounts) {
  const std::string map = "map pushing --vary tilt_deg=30:35:2 --measure outcomes,unique";
  for (const auto& [law, counted] : std::vector<std::pair<std::string, std::string>>{
           {"set --draws corners", "outcomes of the simultaneous law"},
           {"all", "outcomes without mixtures"},
           {"simultaneous", "outcomes of the simultaneous law"},
           {"sequential", "outcomes of the sequential law"}}) {
    const Result r = run(map + " --law " + law + " --json " + folder_ + "/m.json");
    EXPECT_TRUE(says(r, "outcomes: " + counted)) << law << "\n" << r.out;
    const auto j = nlohmann::json::parse(std::ifstream(folder_ + "/m.json"));
    EXPECT_EQ(j["about"]["outcomes"], counted) << law;
    EXPECT_EQ(j["about"]["unique"], "is the outcome unique? 1: yes");
  }
}

TEST_F(Map, HasTheSameBitsOnAnyNumberOfThreads) {
  for (const std::string what :
       {"compass-gait --vary friction=0.2:5:7 --vary rate=0.1:1:5 --samples 200 --measure "
        "outcomes,spread,steps,impulse,worst.energy,probability.B.sticks",
        "rocking-block --draw 'friction=uniform(0.1,1)' --points 20 --law all --samples 64",
        "rocking-block --vary friction=0.1:1:3 --runs 6 --end 0.4 --measure "
        "rests,impacts,words,energy"}) {
    const Result one = run("map " + what + " --threads 1 --csv - -q");
    EXPECT_EQ(one.code, 0) << one.out;
    EXPECT_EQ(one.out, run("map " + what + " --threads 3 --csv - -q").out) << what;
    EXPECT_NE(one.out, run("map " + what + " --seed 9 --csv - -q").out) << what;
  }
}

TEST_F(Map, MarksWhatIsNotDecidedAndSaysWhy) {
  auto t = table(run("map rocking-block --vary friction=-0.5:1:4 --samples 32 --csv - -q").out);
  EXPECT_EQ(t["status"], (std::vector<std::string>{"refused", "decided", "decided", "decided"}));
  EXPECT_NE(t["why"][0].find("friction"), std::string::npos);
  EXPECT_EQ(t["spread"][0], "");
  // a body that moves away hits nothing
  t = table(run("map " + point(folder_) + " --vary v[1]=-1:1:3 --samples 32 --csv - -q").out);
  EXPECT_EQ(t["status"], (std::vector<std::string>{"decided", "no impact", "no impact"}));
  // no sample ends within one small step
  t = table(run("map compass-gait --vary rate=0.1:1:2 --step 1e-6 --limit 1 --csv - -q").out);
  EXPECT_EQ(t["status"], (std::vector<std::string>{"undecided", "undecided"}));
  EXPECT_NE(t["why"][0].find("ended"), std::string::npos);
  const Result all = run("map rocking-block --vary friction=-2:-1:3");
  EXPECT_EQ(all.code, 3);
  EXPECT_TRUE(says(all, "no cell has an impact"));
}

TEST_F(Map, DrawsHeatMapsCurvesHistogramsAndParallelCoordinates) {
  const auto drawn = [&](const std::string& what, const std::string& name) {
    const Result r = run("map " + what + " --samples 16 --plot " + folder_);
    EXPECT_EQ(r.code, 0) << r.out;
    for (const char* ending : {".png", ".svg", ".pdf"})
      EXPECT_GT(fs::file_size(folder_ + "/" + name + ending), 1000u) << name;
  };
  drawn("compass-gait --vary friction=0.2:5:4 --vary rate=0.1:1:3", "compass-gait-map");
  drawn("rocking-block --vary friction=-1:1:5 --measure outcomes,unique,spread,steps",
        "rocking-block-map");
  drawn("box-and-wall --draw 'friction=log(0.1,1)' --draw 'tilt_deg=normal(20,2)' --points 30",
        "box-and-wall-map-parallel");
  drawn("pushing --vary friction=0.5:1:2 --vary tilt_deg=30:40:2 --vary speed=1:2:2",
        "pushing-map");
  // one value everywhere, no value anywhere
  drawn("pushing --vary friction=0.5:1:2 --vary tilt_deg=30:40:2 --measure simultaneous,unique",
        "pushing-map");
}

TEST_F(Map, RefusesWhatCannotBe) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"compass-gait", "--vary"},
      {"compass-gait --vary frction=0:1:3", "did you mean 'friction'"},
      {"compass-gait --vary friction", "--vary friction"},
      {"compass-gait --vary friction=0:1", "write name=from:to:count"},
      {"compass-gait --vary friction=0:1:0", "empty"},
      {"compass-gait --vary friction=1:1:5", "empty"},
      {"compass-gait --vary friction=0:1:1", "friction=0:0:1"},
      {"compass-gait --vary friction=0:1:2.5", "whole number"},
      {"compass-gait --vary friction=0:inf:3", "friction=0:inf:3"},
      {"compass-gait --vary friction=0:1:3 --vary friction=0:1:3", "twice"},
      {"compass-gait --vary q[9]=0:1:3", "q[0] to q[3]"},
      {"compass-gait --vary qpos[0]=0:1:3", "no such parameter"},
      {"compass-gait --draw friction=uniform(1,0)", "empty"},
      {"compass-gait --draw friction=uniform(1)", "--draw"},
      {"compass-gait --draw friction=normal(1,0)", "deviation"},
      {"compass-gait --draw friction=log(0,1)", "above zero"},
      {"compass-gait --draw friction=cauchy(0,1)", "uniform(from,to)"},
      {"compass-gait --vary rate=0:1:3 --points 4", "--points"},
      {"compass-gait --vary rate=0:1:3 --measure spred", "did you mean 'spread'"},
      {"compass-gait --vary rate=0:1:3 --measure spread,spread", "twice"},
      {"compass-gait --vary rate=0:1:3 --measure max.normal.C", "normal.C"},
      {"compass-gait --vary rate=0:1:3 --measure probability.C.sticks", "no contact 'C'"},
      {"compass-gait --vary rate=0:1:3 --measure probability.A.stick", "states are"},
      {"compass-gait --vary rate=0:1:3 --measure steps --law simultaneous", "set or all"},
      {"compass-gait --vary rate=0:1:3 --law simultaneous --samples 8", "--samples belongs"},
      {"compass-gait --vary rate=0:1:3 --runs 3 --samples 8", "--samples belongs"},
      {"compass-gait --vary rate=0:1:3 --end 1", "--end belongs"},
      {"compass-gait --vary rate=0:1:3 --runs 3 --measure spread", "no such measure"},
      {"compass-gait --vary rate=0:1:3 --runs 3 --measure end(foot<0)", "no coordinate"},
      {"compass-gait --vary rate=0:1:3 --samples 0", "--samples 0"},
      {"compass-gait --vary rate=0:1:3 --samples 2^30", "--samples"},
      {"compass-gait --vary rate=0:1:3 --set rate=0.5", "--set rate has no effect"},
      {"rocking-block --draw friction=uniform(0,1) --set friction=1 --set width=2", "by --draw"},
      {"order-test --vary rate=0:1:3", "order-test"},
      {"nowhere --vary rate=0:1:3", "nowhere"},
      {"compass-gait --vary \"x'; set output 'f'=0:1:3\"", "no such parameter"}};
  for (const auto& [arguments, words] : cases) {
    std::string quoted = arguments;
    if (arguments.find('(') != std::string::npos) {
      // for the shell
      const std::size_t from = quoted.rfind(' ', quoted.find('(')) + 1;
      const std::size_t to = std::min(quoted.find(' ', from), quoted.size());
      quoted =
          quoted.substr(0, from) + "'" + quoted.substr(from, to - from) + "'" + quoted.substr(to);
    }
    const Result r = run("map " + quoted + " --csv " + folder_ + "/t.csv --plot " + folder_ + "/f");
    EXPECT_EQ(r.code, 2) << arguments << "\n" << r.out;
    EXPECT_TRUE(says(r, words)) << arguments << "\n" << r.out;
    EXPECT_TRUE(left().empty()) << arguments;
  }
}

TEST_F(Map, TellsHowLongTooManyCellsWouldTake) {
  const Result r = run("map compass-gait --vary friction=0.2:5:1e6 --vary rate=0.1:1:1e6");
  EXPECT_EQ(r.code, 2);
  EXPECT_TRUE(says(r, "1e+12 cells")) << r.out;
  EXPECT_TRUE(says(r, "years")) << r.out;
  EXPECT_TRUE(says(r, "TB")) << r.out;
  EXPECT_EQ(run("map compass-gait --vary friction=0:1:1e15 --vary rate=0.1:1:1e15").code, 2);
}

TEST_F(Map, StoppedByCtrlCKeepsWhatIsDone) {
  const std::string map = std::string(ROUTH_PROGRAM) +
                          " map compass-gait --vary friction=0.2:5:1000 --vary rate=0.1:1:300 "
                          "--measure spread --csv " +
                          folder_ + "/t.csv --json " + folder_ + "/t.json -q";
  const Result r = shell("timeout -s INT 4 " + map + " 2>&1; true");
  ASSERT_TRUE(fs::exists(folder_ + "/t.csv")) << r.out;
  std::ifstream file(folder_ + "/t.csv");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  auto t = table(text);
  ASSERT_GT(t["cell"].size(), 2u);
  EXPECT_LT(t["cell"].size(), 300'000u);
  // and they are what they would have been
  const auto rate = numbers(t["rate"]);
  const Result whole =
      run("map compass-gait --vary friction=0.2:0.2:1 --vary rate=0.1:1:300 "
          "--measure spread --csv - -q");
  auto w = table(whole.out);
  EXPECT_EQ(t["spread"][1], w["spread"][1]);
  const nlohmann::json j = nlohmann::json::parse(std::ifstream(folder_ + "/t.json"));
  EXPECT_EQ(j["complete"], false);
  EXPECT_EQ(j["cells"]["cell"].size(), t["cell"].size());
}

TEST_F(Map, GoesOnFromItsCheckpointAfterAnyEnd) {
  const std::string what =
      " map compass-gait --vary friction=0.2:5:60 --vary rate=0.1:1:20 --samples 64 "
      "--measure outcomes,spread,steps";
  const std::string kept = " --checkpoint " + folder_ + "/kept";
  const Result whole = run_plainly(what + " --csv - -q");
  ASSERT_EQ(whole.code, 0);
  // killed while it works, at some moment
  shell("timeout -s KILL 0.7 " ROUTH_PROGRAM + what + kept + " -q 2>/dev/null; true");
  EXPECT_EQ(run_plainly(what + kept + " --csv - -q --threads 1").out, whole.out);
  // all is there now, in whole pieces; what is damaged is done again
  int pieces = 0;
  for (const auto& entry : fs::directory_iterator(folder_ + "/kept"))
    pieces += entry.path().extension() == ".part";
  EXPECT_EQ(pieces, 5);
  std::ofstream(folder_ + "/kept/0000000001.part", std::ios::app) << "x";
  fs::resize_file(folder_ + "/kept/0000000003.part", 100);
  std::ofstream(folder_ + "/kept/0000000002.part") << "";
  EXPECT_EQ(run_plainly(what + kept + " --csv - -q").out, whole.out);

  // another command, a folder of other things
  const Result other = run(what + " --seed 2" + kept);
  EXPECT_EQ(other.code, 2);
  EXPECT_TRUE(says(other, "another command")) << other.out;
  EXPECT_EQ(run(what + " --checkpoint " + folder_).code, 2);
  EXPECT_TRUE(says(run(what + " --checkpoint " + folder_), "something else"));
  std::ofstream(folder_ + "/kept/checkpoint.json") << "{";
  EXPECT_EQ(run(what + kept).code, 2);
}

TEST_F(Map, RunsAndSamplesGoOnFromTheirCheckpointToo) {
  for (const std::string what :
       {"impact compass-gait --law set --samples 20000 --keep 2000 --csv - -q",
        "impact compass-gait --law set --samples 2000 --keep 9 --draws extremes --csv - -q",
        "ensemble compass-gait --runs 150 --end 0.3 --csv - -q"}) {
    const std::string folder = folder_ + "/kept" + std::to_string(what.size());
    const std::string kept = what + " --checkpoint " + folder;
    const Result whole = run_plainly(what);
    EXPECT_EQ(run_plainly(kept).out, whole.out) << what;
    // some pieces are lost, one is torn, one is of another command
    fs::remove(folder + "/0000000001.part");
    fs::resize_file(folder + "/0000000002.part", 60);
    fs::rename(folder + "/0000000002.part", folder + "/0000000000.part");
    EXPECT_EQ(run_plainly(kept + " --threads 1").out, whole.out) << what;
    const Result other = run(kept + " --seed 8");
    EXPECT_EQ(other.code, 2);
    EXPECT_TRUE(says(other, "another command")) << other.out;
  }
  EXPECT_TRUE(says(run("impact compass-gait --law simultaneous --checkpoint " + folder_ + "/x"),
                   "--checkpoint belongs"));
  EXPECT_TRUE(says(run("ensemble compass-gait --branch 2 --checkpoint " + folder_ + "/x"),
                   "--checkpoint belongs"));
}

#ifndef ROUTH_MPIEXEC
TEST_F(Map, UnderMpirunWithoutMpiIsRefused) {
  const std::string launched = "OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=";
  for (const std::string command : {"map pushing --vary friction=0.5:1:2", "impact pushing"}) {
    const Result first = shell(launched + "0 " ROUTH_PROGRAM " " + command + " 2>&1");
    EXPECT_EQ(first.code, 2) << first.out;
    EXPECT_TRUE(says(first, "built without")) << first.out;
    // one of them says it
    const Result second = shell(launched + "1 " ROUTH_PROGRAM " " + command + " 2>&1");
    EXPECT_EQ(second.code, 2);
    EXPECT_EQ(second.out, "");
  }
}
#endif

TEST_F(Map, OfMotionsCountsWhatRunsDo) {
  const nlohmann::json j = json_of(
      "map rocking-block --vary friction=0.2:1:2 --runs 12 --end 0.5 --measure "
      "\"rests,impacts,words,early,end(block.angle<1),ever(block.angle>1)\"");
  const auto& m = j["cells"]["measures"];
  for (std::size_t k = 0; k < 2; ++k) {
    EXPECT_GE(m["impacts"][k], 1);
    EXPECT_EQ(m["early"][k], 0);
    EXPECT_EQ(m["end(block.angle<1)"][k], 1);
    EXPECT_EQ(m["ever(block.angle>1)"][k], 0);
    const nlohmann::json one =
        json_of("ensemble rocking-block --runs 12 --end 0.5 --set friction=" +
                std::string(k ? "1" : "0.2"));
    EXPECT_EQ(m["words"][k], one["words"].size());
    double impacts = 0;
    for (const auto& run : one["runs"]) impacts += run["impacts"].get<double>() / 12;
    EXPECT_NEAR(m["impacts"][k], impacts, 1e-12);
  }
}

TEST_F(Map, IsRunAgainByItsJson) {
  ASSERT_EQ(
      run("map pushing --vary friction=0.5:1:3 --samples 32 --json " + folder_ + "/m.json").code,
      0);
  const Result r = run("rerun " + folder_ + "/m.json");
  EXPECT_EQ(r.code, 0) << r.out;
}

TEST_F(Map, OfModelsTurnsJointsAndWalksBetweenKeyframes) {
  if (!routh::io::has_models()) GTEST_SKIP() << "built without MuJoCo";
  const std::string law = " --law set --samples 16 --measure spread,contacts --csv - -q";
  // the ends of the way are the keyframes themselves
  auto way = table(run("map quadruped --vary keyframe=0:1:3" + law).out);
  ASSERT_EQ(way["cell"].size(), 3u);
  for (const auto& [k, name] : {std::pair<std::size_t, std::string>{0, "land"}, {2, "trot"}}) {
    auto there =
        table(run("map quadruped --state " + name + " --vary friction=0.8:0.8:1" + law).out);
    EXPECT_EQ(way["spread"][k], there["spread"][0]) << name;
    EXPECT_EQ(way["contacts"][k], there["contacts"][0]) << name;
  }
  // a turn one way and the other are mirror images where the robot is symmetric
  auto roll = table(run("map quadruped --vary torso.roll=-0.1:0.1:3 --drop 0.05 --law simultaneous "
                        "--measure worst.energy --csv - -q")
                        .out);
  const auto energy = numbers(roll["worst.energy"]);
  ASSERT_EQ(energy.size(), 3u);
  EXPECT_NEAR(energy[0], energy[2], 1e-6 * energy[0]);
  auto beyond = table(run("map quadruped --vary keyframe=0:7:3" + law).out);
  EXPECT_EQ(beyond["status"], (std::vector<std::string>{"decided", "refused", "refused"}));
  EXPECT_TRUE(says(run("map quadruped --vary torso.pich=0:1:2"), "did you mean 'torso.pitch'"));
  EXPECT_TRUE(says(run("map biped --vary drop=-1:0:2 --csv - -q"), "refused"));
}

}  // namespace
