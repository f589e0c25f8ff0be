// The first line, standard input, numbers and names: what a person meets first.

#include <gtest/gtest.h>

#include <filesystem>

#include "apps/program.h"
#include "routh/io/files.h"

namespace {

namespace fs = std::filesystem;
using namespace routh::test;
using Verdict = Program;

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// Every scenario that has an impact, but for the slow ones.
const std::vector<std::string> kImpacts{
    "box-and-wall", "circle-track",  "compass-gait",  "domino-row", "painleve-rod", "pushing",
    "ramone",       "rimless-wheel", "rocking-block", "thrown-box", "zeno-block"};

TEST_F(Verdict, LeadsImpactAndCheckAndAgreesWithTheirJson) {
  for (const std::string& name : kImpacts) {
    const nlohmann::json impact = json_of("impact " + name), check = json_of("check " + name);
    const std::string verdict = impact["verdict"];
    EXPECT_EQ(first_line(run_plainly("impact " + name + " 2>/dev/null").out), verdict);
    EXPECT_EQ(first_line(run_plainly("check " + name + " 2>/dev/null").out), verdict);
    for (const char* key : {"verdict", "unique", "spread"})
      EXPECT_EQ(impact[key], check[key]) << name << " " << key;
    EXPECT_EQ(impact["outcomes"].size(), check["outcomes"]) << name;
    EXPECT_EQ(verdict.rfind("NOT unique", 0) == 0, impact["unique"] == false) << name;
    EXPECT_EQ(verdict.rfind("unique", 0) == 0, impact["unique"] == true) << name;
    EXPECT_TRUE(impact["unique"] != true || impact["outcomes"].size() == 1) << name;
    if (impact["outcomes"].size() > 1) {
      EXPECT_EQ(impact["unique"], false) << name;
      EXPECT_NE(verdict.find(std::to_string(impact["outcomes"].size()) + " outcomes"),
                std::string::npos)
          << verdict;
    }
  }
}

TEST_F(Verdict, ContradictsItselfNowhere) {
  for (const std::string& name : kImpacts) {
    const Result r = run("check " + name);
    EXPECT_EQ(says(r, "NOT unique"), says(r, "is the outcome unique?           no")) << r.out;
  }
}

TEST_F(Verdict, SaysWhatWasSearchedWhereContactsAreTooMany) {
  const Result box = run("impact thrown-box");
  EXPECT_EQ(box.code, 0);
  EXPECT_TRUE(says(box, "searched: all contact modes, some orders")) << first_line(box.out);
  const nlohmann::json j = json_of("impact thrown-box --samples 100 --seed 3 --draws uniform");
  EXPECT_EQ(j["summary"]["set"]["samples"], 100);
  EXPECT_GT(j["outcomes"].size(), 1u);
  EXPECT_EQ(json_of("impact thrown-box")["outcomes"], json_of("impact thrown-box")["outcomes"]);
  // by one law it says so
  EXPECT_EQ(json_of("impact compass-gait --law simultaneous")["verdict"].get<std::string>().rfind(
                "NOT unique by the simultaneous law: 3 outcomes", 0),
            0u);
}

// Few samples, or large steps, do not make the set law doubt what the others know.
TEST_F(Verdict, OfTheSetLawAgreesWithThatOfAllLaws) {
  for (const std::string& name : kImpacts) {
    if (name == "thrown-box" || name == "painleve-rod") continue;  // in space; without an impact
    const nlohmann::json all = json_of("check " + name);
    const nlohmann::json set = json_of("impact " + name + " --law set --samples 64");
    EXPECT_EQ(set["unique"], all["unique"]) << name << " " << set["verdict"];
    if (all["unique"] == false) {
      EXPECT_NEAR(set["spread"].get<double>(), all["spread"].get<double>(), 1e-9) << name;
    }
  }
}

// Two contacts without friction that press each other's bodies: at once both stop, in turn the
// first to be hit separates. The unit of velocity does not matter, and nothing is shown as zero
// that is not.
TEST_F(Verdict, DoesNotDependOnUnits) {
  for (const std::string scale : {"1e-9", "1", "1e6"}) {
    const std::string file = folder_ + "/g.yaml";
    routh::io::write_file(file,
                          "G: [[1, 0.5, 0, 0], [0.5, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]\n"
                          "mu: [0, 0]\nc: [-" +
                              scale + ", -" + scale + ", 0, 0]\n");
    const nlohmann::json j = json_of("impact " + file);
    EXPECT_EQ(j["unique"], false) << scale;
    EXPECT_EQ(j["outcomes"].size(), 3u) << scale;
    const Result shown = run("impact " + file);
    EXPECT_FALSE(says(shown, "normal     0.0000  tangential     0.0000  approaches")) << shown.out;
  }
}

TEST_F(Verdict, AScenarioMayComeFromStandardInput) {
  const std::string program = ROUTH_PROGRAM;
  const std::string piped = program + " show pushing | " + program;
  const Result impact = shell(piped + " impact - --json -");
  EXPECT_EQ(impact.code, 0);
  EXPECT_EQ(nlohmann::json::parse(impact.out)["outcomes"], json_of("impact pushing")["outcomes"]);
  EXPECT_EQ(shell(piped + " check - 2>&1").code, 0);
  const Result csv = shell(piped + " impact - --csv -");
  EXPECT_EQ(csv.out.rfind("outcome,law,order", 0), 0u) << csv.out;
  EXPECT_EQ(shell(program + " show point-drop | " + program + " simulate - --end 0.1 2>&1").code,
            0);
  // nothing, or something else
  const Result empty = shell(program + " impact - </dev/null 2>&1");
  EXPECT_EQ(empty.code, 2);
  EXPECT_TRUE(says(empty, "standard input is empty")) << empty.out;
  const Result model = shell("echo '<mujoco/>' | " + program + " impact - 2>&1");
  EXPECT_EQ(model.code, 2);
  EXPECT_TRUE(says(model, "model of MuJoCo")) << model.out;
  const Result bad = shell("echo 'M: [[1]]' | " + program + " impact - 2>&1");
  EXPECT_EQ(bad.code, 2);
  EXPECT_TRUE(says(bad, "standard input")) << bad.out;
}

TEST_F(Verdict, FiguresOfFilesOfOneNameDoNotMeet) {
  for (const std::string robot : {"one", "two"}) {
    fs::create_directories(folder_ + "/" + robot);
    routh::io::write_file(folder_ + "/" + robot + "/scene.yaml", run_plainly("show pushing").out);
    const Result r =
        run("impact " + folder_ + "/" + robot + "/scene.yaml --plot " + folder_ + "/figures");
    EXPECT_TRUE(says(r, robot + "-scene-all.png")) << r.out;
  }
}

// No contact approaches, yet friction can stop the slip at once (Painleve).
TEST_F(Verdict, OfAnImpactWithoutCollisionDoesNotContradictItself) {
  const Result r = run("impact painleve-rod");
  EXPECT_TRUE(says(r, "NOT unique: no contact approaches, yet friction allows")) << r.out;
  EXPECT_FALSE(says(r, "the velocity stays as it is")) << r.out;
  EXPECT_EQ(run("impact painleve-rod --law single").code, 0);
}

// Whatever step the scenario prefers for its samples.
TEST_F(Verdict, FollowsNoStepThatAScenarioAsksFor) {
  const std::string matrices =
      "{M: [[4, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]], Jn: [[1, 1, 0, 1], "
      "[0, 0, 0, -1]], Jt: [[1, 1, -1, -1], [1, 0, 0, 1]], mu: [1, 3], v: [-1, -1, -1, 2], "
      "impact: {step: 1000000000, limit: 1000}}";
  routh::io::write_file(folder_ + "/large-step.yaml", matrices);
  EXPECT_TRUE(says(run("check " + folder_ + "/large-step.yaml"), "NOT unique"));
}

TEST_F(Verdict, IsUnfinishedWithoutAnOutcome) {
  // no velocity of a mechanism has these contact velocities
  routh::io::write_file(folder_ + "/none.yaml", "{G: [[1, 1], [1, 1]], c: [-1, 0], mu: 1}");
  EXPECT_EQ(run("check " + folder_ + "/none.yaml").code, 3);
  EXPECT_EQ(run("impact " + folder_ + "/none.yaml").code, 3);
}

}  // namespace
