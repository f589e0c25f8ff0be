// Results can be repeated from themselves.

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "apps/program.h"
#include "routh/io/files.h"

namespace {

using namespace routh::test;
using nlohmann::ordered_json;

class Rerun : public Program {
 protected:
  /// Runs a command into a file and reads it.
  ordered_json made_by(const std::string& arguments) {
    const Result r = run(arguments + " --json " + file());
    EXPECT_EQ(r.code, 0) << arguments << "\n" << r.out;
    return ordered_json::parse(routh::io::read_file(file()));
  }
  Result again(const ordered_json& result, const std::string& options = "") {
    return again(result.dump(), options);
  }
  Result again(const std::string& text, const std::string& options = "") {
    routh::io::write_file(file(), text);
    return run("rerun " + file() + options);
  }
  std::string file() const { return folder_ + "/out.json"; }
};

const std::vector<std::string>& commands() {
  static const std::vector<std::string> list{
      "impact rocking-block",
      "impact compass-gait --law simultaneous",
      "impact box-and-wall --law sequential --order A,B --set friction=0.4",
      "impact compass-gait --law set --samples 2^10 --seed 7 --threads 2 --keep 5",
      "impact ramone --law single --contact A",
      "impact compass-gait --law exact --maximize energy --minimize normal.B --contains 0,0,0,0",
      "impact compass-gait --law set --samples 2^10 --coverage",
      "check compass-gait",
      "list",
      "list rocking-block",
      "simulate point-drop --end 0.6 --raw",
      "simulate rocking-block-p4 --method hybrid --law set --seed 3",
      "simulate rocking-block-p4 --method hybrid --at-start",
      "simulate order-test --end 0.5",
      "simulate rocking-block --method compliant --end 0.05",
      "ensemble rocking-block --runs 8 --end 0.2 --seed 5",
      "ensemble rocking-block --branch 1 --end 0.2",
  };
  return list;
}

TEST_F(Rerun, EveryResultSaysAtItsTopHowItWasMade) {
  for (const std::string& command : commands()) {
    const ordered_json j = made_by(command);
    std::vector<std::string> keys;
    for (const auto& [key, value] : j.items()) keys.push_back(key);
    ASSERT_GT(keys.size(), 5u) << command;
    keys.resize(5);
    EXPECT_EQ(keys,
              (std::vector<std::string>{"schema", "version", "command", "options", "features"}))
        << command;
    EXPECT_EQ(j["schema"], 1);
    std::string line;
    for (const std::string word : j["command"]) line += (line.empty() ? "" : " ") + word;
    EXPECT_EQ(line, "routh " + command + " --json " + file());
    EXPECT_TRUE(j["features"]["exact"].is_boolean());
    EXPECT_FALSE(j["options"].contains("json"));
  }
}

TEST_F(Rerun, OptionsHaveTheirEffectiveValues) {
  const ordered_json given = made_by(
      "impact compass-gait --law set --step 0.1 --samples 2^10 --final-step 0.5")["options"];
  EXPECT_EQ(given["step"], 0.1);
  EXPECT_EQ(given["samples"], 1024);
  EXPECT_EQ(given["final_step"], 0.5);
  // defaults, and what the scenario chooses
  EXPECT_EQ(given["seed"], 0);
  EXPECT_EQ(given["limit"], 5);
  EXPECT_EQ(made_by("impact compass-gait --law set --samples 9")["options"]["step"], 0.25);
  EXPECT_EQ(made_by("impact rocking-block")["options"]["law"], "all");
  const ordered_json motion = made_by("simulate point-drop --step 0.01 --end 0.1")["options"];
  EXPECT_EQ(motion["step"], 0.01);
  EXPECT_EQ(motion["method"], "time-stepping");
  EXPECT_EQ(motion["alpha"], 0.5);
  EXPECT_EQ(made_by("simulate rocking-block-p4")["options"]["law"], "plastic");
}

TEST_F(Rerun, GivesTheSameAnswer) {
  for (const std::string& command : commands()) {
    made_by(command);
    const Result r = run("rerun " + file());
    EXPECT_EQ(r.code, 0) << command << "\n" << r.out;
    EXPECT_TRUE(says(r, "the same")) << r.out;
  }
  const Result piped =
      shell("(" ROUTH_PROGRAM " impact pushing --json - | " ROUTH_PROGRAM " rerun -) 2>&1");
  EXPECT_EQ(piped.code, 0) << piped.out;
}

TEST_F(Rerun, TimesAndThreadsAreNoPartOfTheAnswer) {
  ordered_json j = made_by("impact pushing --law set --samples 500 --threads 1");
  j["summary"]["seconds"] = 1e9;
  j["summary"]["samples_per_second"] = 1;
  j["options"]["threads"] = 64;
  EXPECT_EQ(again(j).code, 0);
}

TEST_F(Rerun, SaysWhereAnAnswerDiffers) {
  const ordered_json good = made_by("impact rocking-block");
  ordered_json j = good;
  const double energy = j["outcomes"][1]["energy"];
  j["outcomes"][1]["energy"] = energy + 1e-12;
  Result r = again(j);
  EXPECT_EQ(r.code, 3);
  EXPECT_TRUE(says(r, "$.outcomes[1].energy: ")) << r.out;
  EXPECT_EQ(again(j, " --tolerance 1e-9").code, 0);

  j = good;
  j["outcomes"].erase(0);
  r = again(j);
  EXPECT_EQ(r.code, 3);
  EXPECT_TRUE(says(r, "$.outcomes: 2 entries -> 3 entries")) << r.out;

  j = good;
  j["options"]["tolerance"] = 1;
  j["more"] = "than there is";
  j["contacts"][0] = "\033[31mC";
  j.erase("before");
  r = again(j);
  EXPECT_EQ(r.code, 3);
  for (const char* what : {"$.options.tolerance", "$.more: ", "missing", "$.contacts[0]",
                           "$.before: missing -> an object"})
    EXPECT_TRUE(says(r, what)) << what << "\n" << r.out;
  EXPECT_FALSE(says(r, "\033"));
  EXPECT_EQ(again(good, " --quiet").out, "");
}

TEST_F(Rerun, AnotherVersionMaySayMoreButNotLess) {
  ordered_json j = made_by("check pushing");
  j["version"] = "0.1.0";
  j.erase("verdict");
  Result r = again(j);
  EXPECT_EQ(r.code, 0) << r.out;
  EXPECT_TRUE(says(r, "it was made by version \"0.1.0\"")) << r.out;
  j["no_longer"] = 1;
  EXPECT_EQ(again(j).code, 3);
}

TEST_F(Rerun, WritesNoFileThatTheCommandNames) {
  const std::string places = " --csv " + folder_ + "/a.csv --plot " + folder_ + "/figures";
  for (const std::string& command :
       {"impact pushing --law set --samples 100" + places,
        "simulate point-drop --end 0.1 --animate " + folder_ + "/a.svg" + places,
        "ensemble rocking-block --runs 4 --end 0.1" + places}) {
    const ordered_json j = made_by(command);
    for (const auto& entry : std::filesystem::directory_iterator(folder_))
      std::filesystem::remove_all(entry);
    EXPECT_EQ(again(j).code, 0) << command;
    EXPECT_EQ(left(), std::vector<std::string>{"out.json"}) << command;
    EXPECT_EQ(routh::io::read_file(file()), j.dump()) << command;
  }
  // in other words, and where they could not be
  ordered_json j = made_by("impact pushing");
  for (const std::string& place : {"--csv=" + folder_ + "/b", "--plot=" + folder_ + "/b",
                                   "--json=" + folder_ + "/b", std::string("--csv=/proc/none/b")}) {
    j["command"] = {"routh", "impact", "pushing", place};
    EXPECT_EQ(again(j).code, 0) << place;
    EXPECT_EQ(left(), std::vector<std::string>{"out.json"}) << place;
  }
}

TEST_F(Rerun, RefusesWhatIsNoResult) {
  const std::string top = "{\"schema\": 1, \"command\": ";
  std::string deep = top + "[\"routh\", \"list\"], \"a\": ";
  for (int i = 0; i < 100'000; ++i) deep += "[";
  for (const auto& [text, hint] : std::vector<std::pair<std::string, std::string>>{
           {"", "is not JSON"},
           {"{", "is not JSON"},
           {"[]", "is no result of routh"},
           {"{}", "is no result of routh"},
           {"null", "is no result of routh"},
           {"\"routh\"", "is no result of routh"},
           {"{\"schema\": 1}", "no command at its top"},
           {deep, "brackets in brackets"},
           {"{\"schema\": \"1\", \"command\": []}", "schema must be"},
           {"{\"schema\": 0, \"command\": []}", "schema must be"},
           {"{\"schema\": 1.5, \"command\": []}", "schema must be"},
           {"{\"schema\": 2, \"command\": []}", "take a newer routh"},
           {"{\"schema\": 18446744073709551615, \"command\": []}", "schema must be"},
           {top + "\"routh list\"}", "a list of words"},
           {top + "{\"0\": \"routh\"}}", "a list of words"},
           {top + "[\"routh\", 7]}", "a list of words"},
           {top + "[\"routh\", [\"list\"]]}", "a list of words"},
           {top + "[\"routh\", null]}", "a list of words"},
           {top + "[]}", "must begin with"},
           {top + "[\"routh\"]}", "must begin with"},
           {top + "[\"rm\", \"-rf\"]}", "must begin with"},
           {top + "[\"routh\", \"li\\u0000st\"]}", "a word that is none"},
           {top + "[\"routh\", \"rerun\", \"" + file() + "\"]}", "no command that writes JSON"},
           {top + "[\"routh\", \"reproduce\", \"all\"]}", "no command that writes JSON"},
           {top + "[\"routh\", \"show\", \"pushing\"]}", "no command that writes JSON"},
           {top + "[\"routh\", \"--version\"]}", "no command that writes JSON"},
           {top + "[\"routh\", \"\"]}", "no command that writes JSON"},
           {top + "[\"routh\", \"impact\"]}", "scenario is required"},
           {top + "[\"routh\", \"impact\", \"--help\"]}", "asks for help"},
           {top + "[\"routh\", \"impact\", \"no-such\"]}", "no-such"},
           {top + "[\"routh\", \"impact\", \"pushing\", \"--law\", \"x\"]}", "--law"},
           {top + "[\"routh\", \"impact\", \"pushing\", \"list\"]}", "list"},
           {top + "[\"routh\", \"impact\", \"pushing\", \"--step\", \"1\"]}", "belongs to"},
           {top + "[\"routh\", \"list\", \"" + std::string(100'000, 'x') + "\"]}",
            "a word that is none"}}) {
    const Result r = again(text);
    EXPECT_EQ(r.code, 2) << text.substr(0, 200) << "\n" << r.out;
    EXPECT_TRUE(says(r, hint)) << text.substr(0, 200) << "\n" << r.out;
    EXPECT_EQ(left(), std::vector<std::string>{"out.json"});
  }
  std::string words = "\"routh\", \"list\"";
  for (int i = 0; i < 2000; ++i) words += ", \"x\"";
  EXPECT_TRUE(says(again(top + "[" + words + "]}"), "more than 1000 words"));
  EXPECT_EQ(run("rerun " + folder_ + "/none.json").code, 2);
  EXPECT_EQ(run("rerun " + folder_).code, 2);
  EXPECT_EQ(run("rerun - < /dev/null").code, 2);
}

TEST_F(Rerun, OfAFileWithoutAnAnswerIsRefused) {
  const std::string empty = R"({"schema": 1, "command": ["routh", "impact", "pushing"]})";
  EXPECT_EQ(again(empty).code, 2);
}

}  // namespace
