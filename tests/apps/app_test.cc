// The program as its users meet it: exit codes, messages, files.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "apps/program.h"
#include "routh/io/files.h"

namespace {

namespace fs = std::filesystem;
using namespace routh::test;
using App = Program;

TEST_F(App, ListNamesEveryScenarioAndParameter) {
  const Result r = run("list");
  EXPECT_EQ(r.code, 0);
  for (const char* word : {"rocking-block", "disk-stack", "tilt_deg", "mass_offset"})
    EXPECT_NE(r.out.find(word), std::string::npos) << word;
}

TEST_F(App, JsonWithoutAFileGoesToStandardOutput) {
  for (const std::string command : {"list", "check pushing", "impact pushing --law simultaneous"}) {
    const Result dash = run_plainly(command + " --json -"), none = run_plainly(command + " --json");
    EXPECT_EQ(none.code, 0) << command;
    nlohmann::json a = nlohmann::json::parse(dash.out), b = nlohmann::json::parse(none.out);
    for (nlohmann::json* result : {&a, &b}) {
      result->erase("command");
      if (result->contains("summary")) (*result)["summary"].erase("seconds");
    }
    EXPECT_EQ(a, b) << command;
  }
  // and such a result can be repeated
  EXPECT_EQ(shell(ROUTH_PROGRAM " list pushing --json | " ROUTH_PROGRAM " rerun -").code, 0);
  // a word that follows is the file
  EXPECT_EQ(run("list --json " + folder_ + "/list.json").code, 0);
  EXPECT_EQ(left(), std::vector<std::string>{"list.json"});
  EXPECT_EQ(run("impact --json " + folder_ + "/impact.json").code, 2);
}

TEST_F(App, ABuiltInScenarioIsListedAndShownAndCanBeTheBeginningOfOnesOwn) {
  EXPECT_GT(json_of("list")["scenarios"].size(), 20u);
  const nlohmann::json one = json_of("list rocking-block")["scenarios"];
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0]["kind"], "mechanism");
  EXPECT_FALSE(one[0]["parameters"].empty());
  const Result shown = run("show rocking-block");
  EXPECT_EQ(shown.code, 0);
  const std::string own = folder_ + "/own.yaml";
  routh::io::write_file(own, shown.out);
  EXPECT_EQ(json_of("impact " + own)["outcomes"], json_of("impact rocking-block")["outcomes"]);
  EXPECT_NE(run("show rocking-blok").out.find("did you mean 'rocking-block'"), std::string::npos);
  EXPECT_EQ(run("show " + own).code, 2);
  EXPECT_EQ(run("list no-such-thing").code, 2);
}

TEST_F(App, ResultsNeverReplaceWhatTheCommandReads) {
  const std::string own = folder_ + "/own.yaml", link = folder_ + "/link.yaml";
  const std::string text = run("show rocking-block").out;
  routh::io::write_file(own, text);
  fs::create_symlink(own, link);
  for (const std::string& command :
       {"impact " + own + " --json " + own, "check " + own + " --json " + folder_ + "/./own.yaml",
        "simulate " + link + " --csv " + own, "ensemble " + own + " --runs 2 --json " + link}) {
    const Result refused = run(command);
    EXPECT_EQ(refused.code, 2) << command;
    EXPECT_NE(refused.out.find("which the command reads"), std::string::npos) << refused.out;
    EXPECT_EQ(routh::io::read_file(own), text) << command;
  }
  EXPECT_EQ(run("impact " + own + " --json " + folder_ + "/other.json").code, 0);
}

// Samples of the default step reach only half of it.
TEST_F(App, TheSpreadOfAFewContactsIsThatOfTheExactSet) {
  for (const char* scenario :
       {"rocking-block --set friction=0.2", "box-and-wall", "compass-gait"}) {
    const nlohmann::json set = json_of(std::string("impact --law exact ") + scenario);
    double widest = 0;
    for (std::size_t k = 0; k < set["contacts"].size(); ++k) {
      for (const char* part : {"normal.", "tangential."}) {
        const std::string what = part + set["contacts"][k].get<std::string>();
        const nlohmann::json ends = json_of("impact --law exact " + std::string(scenario) +
                                            " --maximize " + what + " --minimize " + what);
        widest = std::max(widest, ends["maximize"][what]["value"].get<double>() -
                                      ends["minimize"][what]["value"].get<double>());
      }
    }
    const nlohmann::json known = json_of(std::string("check ") + scenario);
    EXPECT_EQ(known["searched"]["exact_set"], true) << scenario;
    EXPECT_NEAR(known["spread"].get<double>(), widest, 1e-9) << scenario;
    EXPECT_EQ(known["verdict"].get<std::string>().find("at least"), std::string::npos) << scenario;
  }
  const std::string many = json_of("impact disk-stack --samples 64")["verdict"];
  EXPECT_NE(many.find("spread over at least"), std::string::npos) << many;
}

TEST_F(App, EventSelectedSystemsMoveAndKeepTheirEnergy) {
  const nlohmann::json order =
      json_of("simulate order-test --method event-selected --eps 1e-3 --end 0.5");
  EXPECT_EQ(order["events"].size(), 3u);
  EXPECT_NEAR(order["final"]["q"][0].get<double>(), 0.26985, 1e-5);
  EXPECT_EQ(order["events"][0]["contacts"][0], "y");
  // states without mass have no energy, rather than one that is not a number
  EXPECT_FALSE(order.contains("energy"));
  EXPECT_FALSE(order["summary"].contains("energy_start"));
  EXPECT_EQ(order.dump().find("null"), std::string::npos);
  const nlohmann::json plate = json_of(
      "simulate plate --set springs=100 --set height=2.5 --set angle=0.05 --method event-selected "
      "--exact --end 2");
  EXPECT_EQ(plate["events"].size(), 300u);
  EXPECT_NEAR(plate["summary"]["energy_end"].get<double>(),
              plate["summary"]["energy_start"].get<double>(), 1e-5);
  EXPECT_EQ(json_of("simulate hopper --end 60")["status"], "done");
  // it starts on the ground and falling, in contact: the first event is its rebound
  EXPECT_EQ(
      json_of("simulate rocking-block --method event-selected --end 0.2")["events"][0]["kind"],
      "lift-off");
}

TEST_F(App, EventSelectedSaysWhatIsWrong) {
  for (const char* bad : {"simulate order-test --eps 0", "simulate order-test --end -1",
                          "simulate plate --set springs=2.5", "simulate plate --set mass=0",
                          "simulate hopper --method time-stepping", "simulate plate --set spring=3",
                          "impact plate", "simulate order-test --animate x.svg"}) {
    const Result r = run(bad);
    EXPECT_EQ(r.code, 2) << bad << "\n" << r.out;
    EXPECT_FALSE(r.out.empty());
  }
  // a plate on two springs tips over within five seconds, where its model ends
  const Result r = run("simulate plate --set springs=2 --end 5");
  EXPECT_EQ(r.code, 3);
  EXPECT_NE(r.out.find("not finite at t = 4.3"), std::string::npos) << r.out;
}

TEST_F(App, ImpactShowsEveryOutcome) {
  const Result r = run("impact rocking-block");
  EXPECT_EQ(r.code, 0);
  for (const char* word : {"before", "outcome 3", "0.0930", "sticks", "separates", "energy"})
    EXPECT_NE(r.out.find(word), std::string::npos) << word;
}

TEST_F(App, JsonHasTheStableKeys) {
  const auto j =
      json_of("impact compass-gait --law set --samples 2^10 --seed 7 --threads 2 --keep 3");
  for (const char* key : {"scenario", "law", "contacts", "before", "outcomes", "summary"})
    EXPECT_TRUE(j.contains(key)) << key;
  EXPECT_EQ(j["outcomes"].size(), 3u);
  EXPECT_EQ(j["summary"]["samples"], 1024);
  for (const char* key :
       {"terminated", "lcps_per_sample", "ambiguous_steps", "max_residual", "normal_min",
        "normal_max", "tangential_min", "tangential_max", "seconds", "samples_per_second"})
    EXPECT_TRUE(j["summary"].contains(key)) << key;
  EXPECT_EQ(j["outcomes"][0]["tangential"].size(), 2u);
  EXPECT_TRUE(j["outcomes"][0]["tangential"][0].is_array());
}

TEST_F(App, CheckAnswersItsQuestions) {
  const auto compass = json_of("check compass-gait");
  EXPECT_EQ(compass["unique"], false);
  EXPECT_EQ(compass["outcomes"], 3);
  EXPECT_EQ(compass["pointed"], true);
  EXPECT_TRUE(compass["redundant_contacts"].empty());
  EXPECT_GT(compass["termination"]["c"], 0);
  const auto block = json_of("check rocking-block");
  EXPECT_EQ(block["redundant_contacts"].size(), 2u);
  // a single ball has one outcome
  routh::io::write_file(folder_ + "/ball.yaml",
                        "M: [[1, 0], [0, 1]]\nJn: [[0, 1]]\nJt: [[1, 0]]\nmu: 0.5\nv: [1, -1]\n");
  EXPECT_EQ(json_of("check " + folder_ + "/ball.yaml")["unique"], true);
  // so much friction that what a bound lets through is rounded away
  EXPECT_EQ(json_of("check rocking-block --set friction=1e6")["redundant_contacts"].size(), 2u);
}

TEST_F(App, TheSameSeedGivesTheSameBitsForAnyNumberOfThreads) {
  auto a = json_of("impact ramone --law set --samples 5000 --seed 3 --threads 1");
  auto b = json_of("impact ramone --law set --samples 5000 --seed 3 --threads 2");
  EXPECT_EQ(a["outcomes"], b["outcomes"]);
  EXPECT_EQ(a["summary"]["normal_max"], b["summary"]["normal_max"]);
}

TEST_F(App, TheExactSetAnswersQuestions) {
  const auto j = json_of(
      "impact ramone --law exact --contains 0,0.0001,0,-0.01 --maximize normal.B --minimize "
      "energy");
  EXPECT_EQ(j["summary"]["status"], "exact");
  EXPECT_TRUE(j["contains"][0]["reachable"]);
  EXPECT_GT(j["maximize"]["normal.B"]["value"], 3e-4);
  EXPECT_TRUE(j["set"][0]["vertices"][0].contains("velocity"));
  const auto set = json_of("impact compass-gait --law set --samples 2^12 --coverage");
  EXPECT_LT(set["coverage"]["outside"], 1e-9);
  EXPECT_GT(set["coverage"]["hausdorff"], 0);
  for (const char* bad :
       {"--law exact --maximize normal.Z", "--law exact --contains 1,2",
        "--law set --maximize energy", "--law exact --coverage", "--law all --draws extremes",
        "--law set --draws extremes --step 1", "--law set --draws extremes --limit 3",
        "--law set --draws far", "--law exact --max-polyhedra 0"})
    EXPECT_EQ(run(std::string("impact compass-gait ") + bad).code, 2) << bad;
  EXPECT_EQ(run("impact compass-gait --law exact --csv " + folder_ + "/set.csv").code, 0);
  const std::string csv = routh::io::read_file(folder_ + "/set.csv");
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 7);  // two triangles and the titles
  EXPECT_EQ(json_of("impact compass-gait --law exact --max-polyhedra 3")["summary"]["status"],
            "bracket");
}

TEST_F(App, BadInputExitsWithTwoAndNamesTheCulprit) {
  routh::io::write_file(folder_ + "/broken.yaml", "M: [[1, 0], [0, 1]]\nJn: [[0, 1]\n");
  routh::io::write_file(folder_ + "/file", "");
  const std::vector<std::pair<std::string, std::string>> cases{
      {"impact rocking-blok", "did you mean 'rocking-block'"},
      {"impact rocking-block --set frictoin=1", "did you mean 'friction'"},
      {"impact rocking-block --set friction=-1", "friction"},
      {"impact rocking-block --set friction", "name=value"},
      {"impact rocking-block --set friction=nan", "friction=nan"},
      {"impact rocking-block --set mass=0", "not positive definite"},
      {"impact rocking-block --law nonsense", "--law"},
      {"impact rocking-block --law set --samples 0", "samples"},
      {"impact rocking-block --law set --samples 2^60", "samples"},
      {"impact rocking-block --law set --samples 1.5", "--samples"},
      {"impact rocking-block --law set --step -1", "--step"},
      {"impact rocking-block --law sequential --order A,Z", "--order Z"},
      {"impact " + folder_ + "/broken.yaml", "broken.yaml:"},
      {"impact " + folder_, "folder"},
      {"impact rocking-block --plot " + folder_ + "/file/x", "folder"},
      {"impact rocking-block --json " + folder_ + "/file/x.json", "folder"},
      {"reproduce p1-fig99 --out " + folder_ + "/results", "p1-fig9"},
      {"nonsense", ""},
      {"", ""}};
  for (const auto& [arguments, hint] : cases) {
    const Result r = run(arguments);
    EXPECT_EQ(r.code, 2) << arguments << ": " << r.out;
    EXPECT_NE(r.out.find(hint), std::string::npos) << arguments << " said: " << r.out;
  }
  EXPECT_FALSE(fs::exists(folder_ + "/results"));
}

TEST_F(App, ASeparatingStartSaysThatThereIsNothingToDo) {
  const Result r = run("impact rocking-block --set speed=-1");
  EXPECT_EQ(r.code, 0);
  EXPECT_NE(r.out.find("no impact"), std::string::npos);
}

TEST_F(App, AJammedConeIsAnnounced) {
  routh::io::write_file(
      folder_ + "/jam.yaml",
      "M: [[1, 0], [0, 1]]\nJn: [[0, 1], [0, -1]]\nJt: [[1, 0], [-1, 0]]\nmu: 1\nv: [1, -1]\n");
  EXPECT_NE(run("impact " + folder_ + "/jam.yaml").out.find("not pointed"), std::string::npos);
  EXPECT_EQ(json_of("check " + folder_ + "/jam.yaml")["pointed"], false);
}

TEST_F(App, ALawThatCannotFinishExitsWithThree) {
  const Result r = run("impact rocking-block --law sequential --order B --json /dev/null");
  EXPECT_EQ(r.code, 3);
  // and says why where standard output carries JSON
  const Result why =
      run_plainly("impact rocking-block --law sequential --order B --json - 2>&1 >/dev/null");
  EXPECT_NE(why.out.find("did not end"), std::string::npos) << why.out;
}

TEST_F(App, AJammedSetIsWrittenAsSuch) {
  routh::io::write_file(
      folder_ + "/jam.yaml",
      "M: [[1, 0], [0, 1]]\nJn: [[0, 1], [0, -1]]\nJt: [[1, 0], [-1, 0]]\nmu: 1\nv: [1, -1]\n");
  const Result r =
      run("impact " + folder_ + "/jam.yaml --law exact --json " + folder_ + "/jam.json");
  EXPECT_EQ(r.code, 3);
  EXPECT_NE(r.out.find("has no bounded set of outcomes"), std::string::npos) << r.out;
  const auto json = nlohmann::json::parse(routh::io::read_file(folder_ + "/jam.json"));
  EXPECT_EQ(json["summary"]["status"], "jammed");
  EXPECT_EQ(json["summary"]["incomplete"], true);
  EXPECT_TRUE(json["set"].empty());
}

TEST_F(App, FiguresAndTablesAreWritten) {
  const Result r = run("impact box-and-wall --law set --samples 500 --plot " + folder_ +
                       "/figures --json " + folder_ + "/out.json --csv " + folder_ + "/out.csv");
  EXPECT_EQ(r.code, 0) << r.out;
  for (const char* file :
       {"/figures/box-and-wall-set.png", "/figures/box-and-wall-set.svg", "/out.json", "/out.csv"})
    EXPECT_GT(fs::file_size(folder_ + file), 1000u) << file;
  // nothing half-written is left behind
  for (const auto& entry : fs::recursive_directory_iterator(folder_))
    EXPECT_EQ(entry.path().string().find(".tmp"), std::string::npos) << entry.path();
}

TEST_F(App, ReproduceWritesTheTableBesideThePrintedNumbers) {
  const Result r =
      run("reproduce p1-table3 p1-outcomes --samples 2^8 --out " + folder_ + "/results");
  EXPECT_EQ(r.code, 0) << r.out;
  const std::string table = routh::io::read_file(folder_ + "/results/p1-table3.md");
  EXPECT_NE(table.find("| Rocking Block | 256 | 2.67 |"), std::string::npos) << table;
}

TEST_F(App, SimulateWritesTheWholeTrajectory) {
  const nlohmann::json j = json_of("simulate tilted-box --step 1e-3 --end 0.3 --raw");
  EXPECT_EQ(j["method"], "time-stepping");
  EXPECT_EQ(j["time"].size(), j["q"].size());
  EXPECT_EQ(j["time"].size(), j["v"].size());
  EXPECT_EQ(j["time"].size(), j["v_raw"].size());
  EXPECT_EQ(j["time"].size(), j["energy"].size());
  EXPECT_EQ(j["coordinates"][2], "box.angle");
  ASSERT_EQ(j["events"].size(), 2u);
  EXPECT_EQ(j["events"][0]["kind"], "impact");
  EXPECT_EQ(j["events"][0]["contacts"][0], "left");
  EXPECT_EQ(j["events"][1]["impulse"].size(), 4u);
  for (const char* key :
       {"steps", "lcps", "events", "max_residual", "max_penetration", "max_joint_error",
        "energy_start", "energy_end", "seconds", "steps_per_second"})
    EXPECT_TRUE(j["summary"].contains(key)) << key;
  EXPECT_EQ(j["summary"]["steps"], 300);
  EXPECT_TRUE(j["complete"]);
}

TEST_F(App, SimulateWritesCsvAtIntervals) {
  const std::string csv = folder_ + "/out.csv";
  ASSERT_EQ(run("simulate point-drop --end 0.5 --every 0.1 --csv " + csv).code, 0);
  const std::string text = routh::io::read_file(csv);
  EXPECT_EQ(text.rfind("time,point.x,point.y,point.angle,d/dt point.x", 0), 0u) << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 7);
}

TEST_F(App, SimulateDrawsFiguresAndAnimations) {
  ASSERT_EQ(run("simulate double-pendulum-wall --step 0.01 --plot " + folder_ + " --animate " +
                folder_ + "/swing.gif")
                .code,
            0);
  const std::string base = folder_ + "/double-pendulum-wall-time-stepping";
  for (const std::string& path : {base + ".png", base + ".svg", base + "-strip.png",
                                  base + "-animation.svg", folder_ + "/swing.gif"})
    EXPECT_GT(fs::file_size(path), 1000u) << path;
  EXPECT_NE(routh::io::read_file(base + "-animation.svg").find("animateTransform"),
            std::string::npos);
}

TEST_F(App, SimulateRefusesBadInput) {
  for (const char* bad : {"stick-slip --step 0", "stick-slip --step -1", "stick-slip --alpha 0",
                          "stick-slip --alpha 1.1", "stick-slip --method magic",
                          "stick-slip --end -1", "no-such-thing", "point-drop --set height=-1",
                          "stick-slip --law magic", "stick-slip --animate x.mp4"}) {
    const Result r = run(std::string("simulate ") + bad);
    EXPECT_EQ(r.code, 2) << bad;
    EXPECT_FALSE(r.out.empty()) << bad;
  }
  // open joints: by how much, and how to close them
  const std::string file = folder_ + "/open.yaml";
  routh::io::write_file(file,
                        "mechanism:\n  bodies: [{name: a, mass: 1, inertia: 1, q: [0.25, 0, 0]}]\n"
                        "  pins: [{body: a, at: [0, 0]}]\n");
  const Result open = run("simulate " + file);
  EXPECT_EQ(open.code, 2);
  EXPECT_NE(open.out.find("open by 0.25 m"), std::string::npos) << open.out;
  EXPECT_EQ(run("simulate " + file + " --project --end 0.1").code, 0);
  // a force that is not a number names itself and the time
  routh::io::write_file(file,
                        "mechanism:\n  bodies: [{name: a, mass: 1, inertia: 1}]\n"
                        "  forces: [{name: wind, coordinate: a.x, force: sqrt(0.5 - t)}]\n");
  const Result wind = run("simulate " + file);
  EXPECT_EQ(wind.code, 3);
  EXPECT_NE(wind.out.find("'wind' is not a finite number at t = 0.5"), std::string::npos)
      << wind.out;
}

TEST_F(App, AnInterruptedSimulationLeavesAMarkedFile) {
  const std::string file = folder_ + "/out.json";
  const std::string command = "timeout --signal=INT 1 " + std::string(ROUTH_PROGRAM) +
                              " simulate stick-slip --step 1e-6 --end 1000 --every 1 --json " +
                              file + " > /dev/null 2>&1";
  (void)std::system(command.c_str());
  const nlohmann::json j = nlohmann::json::parse(routh::io::read_file(file));
  EXPECT_FALSE(j["complete"]);
  EXPECT_EQ(j["status"], "interrupted");
  EXPECT_LT(j["final"]["time"], 1000);
}

TEST_F(App, TheSDomainHasTimeAsAState) {
  const nlohmann::json j = json_of("simulate zeno-block --domain s --every 0.01");
  const nlohmann::json& path = j["inclusion"];
  EXPECT_EQ(path["s"].size(), path["t"].size());
  EXPECT_EQ(path["s"].size(), path["normal_rate"].size());
  EXPECT_NEAR(path["zeno"], 28.4, 0.1);
  for (const std::string method : {"time-stepping", "compliant"}) {
    const nlohmann::json other =
        json_of("simulate tilted-box --domain s --end 0.2 --method " + method)["inclusion"];
    EXPECT_EQ(other["s"].size(), other["normal_rate"].size()) << method;
    EXPECT_EQ(other["t"].back(), 0.2) << method;
  }
  EXPECT_EQ(run("simulate tilted-box --domain s --method event-selected").code, 2);
}

TEST_F(App, SeveralContinuationsAreNamed) {
  const std::string rod = "simulate painleve-rod --method hybrid --set rate=-8 --end 0.02";
  EXPECT_NE(run(rod).out.find("goes on {tip:slip}, lifts off {}, impact without collision {tip}"),
            std::string::npos);
  const nlohmann::json event = json_of(rod)["events"][0];
  EXPECT_EQ(event["kind"], "ambiguity");
  EXPECT_EQ(event["continuations"].size(), 3u);
  EXPECT_EQ(event["continuations"][2]["impact"], true);
  EXPECT_EQ(run(rod + " --strict").code, 3);
}

TEST_F(App, ModesAreDrawnAsAGraph) {
  const std::string svg = folder_ + "/modes.svg";
  const auto j = json_of("simulate rocking-block-p4 --pseudo-impulse 0.03 --quiet --modes " + svg);
  EXPECT_EQ(j["mode_graph"]["motions"], 1);
  ASSERT_EQ(j["mode_graph"]["modes"].size(), 3u);
  EXPECT_EQ(j["mode_graph"]["modes"][0]["name"], "{l}");
  EXPECT_EQ(j["mode_graph"]["modes"][0]["visits"], 2);
  ASSERT_EQ(j["mode_graph"]["transitions"].size(), 3u);
  EXPECT_EQ(j["mode_graph"]["transitions"][0]["kind"], "impact");
  EXPECT_GT(fs::file_size(svg), 1000u);
  const auto many = json_of("ensemble rocking-block --runs 8 --end 0.1 --quiet --modes " + svg);
  EXPECT_EQ(many["mode_graph"]["motions"], 8);
}

TEST_F(App, BranchesSayWhichWayTheyWent) {
  const auto j = json_of("ensemble painleve-rod --set rate=-8 --branch 1 --end 0.01 --quiet");
  ASSERT_EQ(j["branches"].size(), 4u);
  EXPECT_EQ(j["branches"][0]["outcomes"], 3);
  EXPECT_EQ(j["branches"][2]["way"], "lifts off {}");
  EXPECT_EQ(j["branches"][3]["way"], "impact without collision {tip}");
}

TEST_F(App, CompliantContactsNearlyStopAsRigidOnes) {
  const nlohmann::json j = json_of(
      "simulate rocking-block --method compliant --stiffness 1e6 --ratio 1e3 --impact-only");
  EXPECT_NEAR(j["final"]["v"][2], -0.083, 1e-3);
  EXPECT_EQ(j["options"]["stiffness"][0], 1e9);
}

TEST_F(App, EnsemblesGroupTheirRuns) {
  const std::string csv = folder_ + "/runs.csv";
  const nlohmann::json j =
      json_of("ensemble rocking-block --runs 40 --end 0.05 --threads 2 --csv " + csv);
  EXPECT_EQ(j["runs"].size(), 40u);
  EXPECT_EQ(j["summary"]["runs"], 40);
  EXPECT_GT(j["words"].size(), 1u);
  EXPECT_TRUE(j["complete"]);
  const std::string text = routh::io::read_file(csv);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 41);
  ASSERT_EQ(run("ensemble rocking-block --runs 20 --end 0.05 --plot " + folder_).code, 0);
  EXPECT_GT(fs::file_size(folder_ + "/rocking-block-ensemble.png"), 1000u);
  EXPECT_EQ(json_of("ensemble rocking-block --branch 1 --end 0.05")["branches"].size(), 4u);
  // modes of so many contacts are not tried one by one
  EXPECT_EQ(json_of("ensemble box-stack --set n=4 --runs 2 --end 0.02")["options"]["method"],
            "time-stepping");
  EXPECT_EQ(run("ensemble rocking-block --runs 0").code, 2);
  EXPECT_EQ(run("ensemble hopper").code, 2);
}

#ifdef ROUTH_HAS_MUJOCO
TEST_F(App, EveryModelHasItsPictures) {
#ifdef ROUTH_SANITIZED
  const std::vector<std::string> models{"thrown-box", "arm-and-boxes"};  // the others take minutes
#else
  const std::vector<std::string> models{"quadruped", "biped",   "thrown-box",
                                        "tower",     "gripper", "arm-and-boxes"};
#endif
  for (const std::string& model : models) {
    // the arm only begins to swing at the boxes
    const bool collides = model != "arm-and-boxes";
    const Result impact = run("impact " + model + " --law simultaneous --plot " + folder_);
    EXPECT_EQ(impact.code, collides ? 0 : 2) << impact.out;
    const Result motion = run("simulate " + model + " --end 0.02 --plot " + folder_);
    EXPECT_EQ(motion.code, 0) << motion.out;
    std::vector<std::string> endings{"-time-stepping", "-time-stepping-strip"};
    if (collides) endings.emplace_back("-simultaneous");
    for (const std::string& ending : endings) {
      EXPECT_GT(fs::file_size(folder_ + "/" + model + ending + ".png"), 10'000u) << ending;
      EXPECT_GT(fs::file_size(folder_ + "/" + model + ending + ".svg"), 10'000u) << ending;
    }
  }
}

TEST_F(App, AModelIsAnimatedAndComparedInItsFigure) {
  const std::string gif = folder_ + "/box.gif", svg = folder_ + "/box.svg";
  EXPECT_EQ(run("simulate thrown-box --end 0.1 --animate " + gif).code, 0);
  EXPECT_EQ(routh::io::read_file(gif).substr(0, 4), "GIF8");
  EXPECT_EQ(run("simulate thrown-box --end 0.1 --animate " + svg).code, 0);
  EXPECT_NE(routh::io::read_file(svg).find("<animate"), std::string::npos);
  EXPECT_LT(fs::file_size(svg), 3'000'000u);
  const std::string figure = folder_ + "/thrown-box-simultaneous.svg";
  EXPECT_EQ(run("impact thrown-box --law simultaneous --compare mujoco --plot " + folder_).code, 0);
  EXPECT_NE(routh::io::read_file(figure).find("MuJoCo"), std::string::npos);
}
#endif

TEST_F(App, ModelsAreAnsweredOrRefusedWithAReason) {
  const Result known = run("list");
  if (known.out.find("quadruped") == std::string::npos) {
    const Result r = run("impact quadruped");
    EXPECT_EQ(r.code, 2);
    EXPECT_NE(r.out.find("libmujoco-dev"), std::string::npos) << r.out;
    GTEST_SKIP() << "built without MuJoCo";
  }
  const auto set = json_of("impact quadruped --state land --law set --samples 64 --compare mujoco");
  EXPECT_EQ(set["contacts"].size(), 4u);
  EXPECT_EQ(set["velocities"].size(), 18u);
  EXPECT_EQ(set["edges"], 8);
  EXPECT_EQ(set["outcomes"][0]["tangential"][0].size(), 2u);
  EXPECT_EQ(set["summary"]["branches_enumerated"], false);
  EXPECT_TRUE(set["compare"]["reached"]);
  EXPECT_GT(set["compare"]["distance"], 0);
  EXPECT_GT(set["compare"]["stiff"]["penetration"], 0);
  EXPECT_EQ(json_of("impact quadruped --drop 0.3")["contacts"].size(),
            2u);  // it pitches as it falls
  EXPECT_EQ(json_of("check biped")["ambiguous_contacts"].size(), 8u);
  const auto moved = json_of("simulate thrown-box --step 1e-3 --end 0.05");
  EXPECT_EQ(moved["coordinates"].size(), 7u);
  EXPECT_EQ(moved["velocities"].size(), 6u);
  EXPECT_LT(moved["summary"]["max_penetration"], 1e-8);

  routh::io::write_file(folder_ + "/bad.xml",
                        "<mujoco>\n<worldbody><geom type='blob'/></worldbody></mujoco>\n");
  const std::string high = "0,0,0.6,1,0,0,0,0,.6,-1.2,0,.6,-1.2,0,.6,-1.2,0,.6,-1.2";
  const std::string deep = "0,0,0.2,1,0,0,0,0,.6,-1.2,0,.6,-1.2,0,.6,-1.2,0,.6,-1.2";
  const std::vector<std::pair<std::string, std::string>> refused{
      {"impact nowhere.xml", "no scenario or file"},
      {"impact " + folder_ + "/bad.xml", "line 2"},
      {"impact quadruped --state lnd", "did you mean 'land'"},
      {"impact quadruped --qpos 1,2", "has 2 numbers; the model has 19"},
      {"impact quadruped --qpos " + high, "fl_foot/floor 0.2"},
      {"impact quadruped --as-is --qpos " + deep, "penetrates"},
      {"impact quadruped --qvel 0,0,1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0", "no contact approaches"},
      {"impact quadruped --law exact", "more than two contacts"},
      {"impact quadruped --set a=1", "no parameters"},
      {"impact rocking-block --state land", "--state"},
      {"impact rocking-block --compare mujoco", "not a model"},
      {"simulate quadruped --method hybrid", "time-stepping"},
      {"ensemble quadruped --method hybrid", "time-stepping"},
      {"ensemble quadruped --rtol 1e-6", "--rtol belongs to --method hybrid"},
      {"ensemble rocking-block --step 1e-3", "--step belongs to --method time-stepping"}};
  for (const auto& [arguments, reason] : refused) {
    const Result r = run(arguments);
    EXPECT_EQ(r.code, 2) << arguments;
    EXPECT_NE(r.out.find(reason), std::string::npos) << arguments << "\n" << r.out;
  }
}

}  // namespace
