// What is written, where and how: links, pipes, devices, folders, full disks, closed screens.

#include "routh/io/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include "apps/program.h"
#include "routh/io/document.h"
#include "routh/io/scenario.h"

namespace {

namespace fs = std::filesystem;
using namespace routh;
using namespace routh::test;
using Files = Program;

const std::string kProgram = ROUTH_PROGRAM;

TEST_F(Files, ThroughALinkReplaceItsTarget) {
  io::write_file(folder_ + "/target.json", "old");
  fs::create_symlink("target.json", folder_ + "/link.json");
  fs::create_symlink("link.json", folder_ + "/second.json");
  ASSERT_EQ(run("impact pushing --json " + folder_ + "/second.json").code, 0);
  EXPECT_TRUE(fs::is_symlink(folder_ + "/second.json"));
  EXPECT_TRUE(fs::is_symlink(folder_ + "/link.json"));
  EXPECT_TRUE(nlohmann::json::accept(io::read_file(folder_ + "/target.json")));
  // a link to what is not there yet
  fs::create_symlink("fresh.json", folder_ + "/dangling.json");
  ASSERT_EQ(run("impact pushing --json " + folder_ + "/dangling.json").code, 0);
  EXPECT_TRUE(fs::is_symlink(folder_ + "/dangling.json"));
  EXPECT_TRUE(fs::is_regular_file(folder_ + "/fresh.json"));
  // one that leads to itself
  fs::create_symlink("loop.json", folder_ + "/loop.json");
  EXPECT_NE(run("impact pushing --json " + folder_ + "/loop.json").code, 0);
  EXPECT_TRUE(fs::is_symlink(folder_ + "/loop.json"));
}

TEST_F(Files, KeepTheirPermissions) {
  const std::string path = folder_ + "/private.json";
  io::write_file(path, "old");
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
  ASSERT_EQ(run("impact pushing --json " + path).code, 0);
  EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_GT(fs::file_size(path), 100u);
}

TEST_F(Files, IntoPipesAndDevicesAreWrittenAsTheyAre) {
  const std::string pipe = folder_ + "/pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const Result r = shell("cat " + pipe + " & " + kProgram + " impact pushing --json " + pipe +
                         " >/dev/null; wait");
  EXPECT_TRUE(nlohmann::json::accept(r.out)) << r.out;
  EXPECT_TRUE(fs::is_fifo(pipe));
  EXPECT_EQ(run("impact pushing --json /dev/null").code, 0);
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  // what the shell has open: the screen comes first, then the table
  const std::string out = folder_ + "/out.txt";
  ASSERT_EQ(run_plainly("impact pushing --csv /dev/stdout > " + out).code, 0);
  const std::string text = io::read_file(out);
  EXPECT_LT(text.find("outcome 1"), text.find("outcome,law"));
  EXPECT_NE(text.find("outcome,law"), std::string::npos);
}

TEST_F(Files, ThatCannotBeWrittenWholeLeaveNothingBehind) {
  fs::create_symlink("/dev/full", folder_ + "/full.json");
  const Result r = run("impact pushing --json " + folder_ + "/full.json");
  EXPECT_EQ(r.code, 3) << r.out;
  EXPECT_TRUE(says(r, "full.json")) << r.out;
  EXPECT_TRUE(says(r, "No space left")) << r.out;
  EXPECT_TRUE(fs::is_symlink(folder_ + "/full.json"));
  EXPECT_EQ(left().size(), 1u);
  // a limit of the shell on the size of files: the old one stays, no temporary
  io::write_file(folder_ + "/old.json", "old");
  const Result limited =
      shell("ulimit -f 1; trap '' XFSZ; " + kProgram + " impact disk-stack --json " + folder_ +
            "/old.json 2>&1 >/dev/null");
  EXPECT_EQ(limited.code, 3) << limited.out;
  EXPECT_TRUE(says(limited, "old.json")) << limited.out;
  EXPECT_EQ(io::read_file(folder_ + "/old.json"), "old");
  EXPECT_EQ(left().size(), 2u);
}

TEST_F(Files, NeedTheirFolderAndFiguresMakeIt) {
  for (const std::string option : {"--json", "--csv"}) {
    const Result r = run("impact pushing " + option + " " + folder_ + "/missing/out");
    EXPECT_EQ(r.code, 2) << r.out;
    EXPECT_TRUE(says(r, "no folder '" + folder_ + "/missing'")) << r.out;
  }
  EXPECT_EQ(run("simulate point-drop --animate " + folder_ + "/missing/a.svg").code, 2);
  EXPECT_TRUE(left().empty());
  const Result drawn = run("impact pushing --plot " + folder_ + "/new/figures");
  EXPECT_EQ(drawn.code, 0);
  EXPECT_TRUE(says(drawn, "made folder " + folder_ + "/new/figures")) << drawn.out;
  // not for a command that is refused
  EXPECT_EQ(run("impact pushin --plot " + folder_ + "/other").code, 2);
  EXPECT_FALSE(fs::exists(folder_ + "/other"));
  EXPECT_EQ(run("impact pushing --json " + folder_ + "/a --csv " + folder_ + "/a").code, 2);
  EXPECT_EQ(run("impact pushing --json " + folder_ + "/a --plot " + folder_ + "/a").code, 2);
  EXPECT_FALSE(fs::exists(folder_ + "/a"));
}

TEST_F(Files, AreAnnouncedOnTheScreen) {
  const std::string json = folder_ + "/out.json", csv = folder_ + "/out.csv";
  Result r = run("simulate point-drop --end 0.1 --json " + json + " --csv " + csv + " --plot " +
                 folder_ + " --animate " + folder_ + "/a.svg");
  ASSERT_EQ(r.code, 0) << r.out;
  for (const std::string& name : left()) EXPECT_TRUE(says(r, "/" + name)) << name << "\n" << r.out;
  EXPECT_TRUE(says(run("check pushing --json " + json), "wrote " + json));
  EXPECT_TRUE(says(run("ensemble rocking-block --runs 2 --end 0.01 --csv " + csv), "wrote " + csv));
  // JSON on standard output stays alone there
  const std::string aside = folder_ + "/aside";
  r = run_plainly("impact pushing --json - --csv " + csv + " 2> " + aside);
  EXPECT_TRUE(nlohmann::json::accept(r.out)) << r.out;
  EXPECT_NE(io::read_file(aside).find("wrote " + csv), std::string::npos);
}

TEST_F(Files, AScreenThatTakesNothingIsNotSuccess) {
  for (const std::string& command : std::vector<std::string>{
           "impact pushing", "impact pushing --json -", "list", "--help", "--version",
           "impact --help", "check pushing", "check pushing --json -",
           "simulate point-drop --end 0.1", "simulate point-drop --end 0.1 --json -",
           "simulate massless-leg --at-start", "ensemble rocking-block --runs 2 --end 0.01",
           "reproduce p1-outcomes --out " + folder_}) {
    for (const std::string screen : {"/dev/full", "&-"}) {
      const Result r = run_plainly(command + " 2>&1 >" + screen);
      EXPECT_EQ(r.code, 3) << command << " >" << screen << ": " << r.out;
      EXPECT_TRUE(says(r, "standard output")) << command << ": " << r.out;
    }
  }
  // bad input stays bad input
  EXPECT_EQ(run_plainly("impact nowhere >/dev/full 2>&1").code, 2);
  // and nobody to complain to is no crash
  EXPECT_EQ(run_plainly("impact nowhere 2>/dev/full").code, 2);
  EXPECT_EQ(run_plainly("impact nowhere 2>&-").code, 2);
}

TEST_F(Files, AReaderThatLeavesIsNoCrash) {
  for (const std::string command : {"list", "simulate point-drop --json -", "reproduce --help"}) {
    const Result r = shell("{ " + kProgram + " " + command + " 2>&1; echo $? > " + folder_ +
                           "/code; } | head -c 1");
    const std::string code = io::read_file(folder_ + "/code");
    EXPECT_TRUE(code == "3\n" || code == "0\n") << command << ": " << code;  // it may be quicker
  }
}

TEST_F(Files, ThatAreTooLargeOrNoneAreRefused) {
  const Result zero = run("impact /dev/zero");
  EXPECT_EQ(zero.code, 2);
  EXPECT_TRUE(says(zero, "MiB")) << zero.out;
  const Result name = run("impact " + std::string(5000, 'a'));
  EXPECT_EQ(name.code, 2);
  EXPECT_FALSE(says(name, "filesystem error")) << name.out.substr(0, 200);
  EXPECT_EQ(run("impact pushing --json " + std::string(5000, 'a')).code, 2);
  EXPECT_EQ(run("impact pushing --json /dev/fd/77").code, 3);
}

TEST_F(Files, OfTwoOutputsAreTwo) {
  fs::create_symlink("target", folder_ + "/link");
  const std::string go = "cd '" + folder_ + "' && " + ROUTH_PROGRAM + " ";
  for (const std::string arguments :
       {"impact pushing --json ./s --csv $PWD/s", "impact pushing --json target --csv link",
        "simulate point-drop --end 0.01 --json z.svg --animate ./z.svg",
        "impact pushing --json - --csv -"}) {
    const Result r = shell(go + arguments + " 2>&1");
    EXPECT_EQ(r.code, 2) << arguments;
    EXPECT_TRUE(says(r, "the same file")) << r.out;
  }
  EXPECT_EQ(left(), std::vector<std::string>{"link"});
}

TEST_F(Files, ATableGoesToStandardOutputAlone) {
  const std::string go = "cd '" + folder_ + "' && " + ROUTH_PROGRAM + " ";
  EXPECT_EQ(shell(go + "impact pushing --csv - --json i.json 2>/dev/null").out.rfind("outcome,", 0),
            0u);
  EXPECT_EQ(shell(go + "simulate point-drop --end 0.01 --csv - 2>/dev/null").out.rfind("time,", 0),
            0u);
  EXPECT_EQ(left(), std::vector<std::string>{"i.json"});
}

// A motion that fails on its way is written as far as it went, by any method.
TEST_F(Files, HaveWhatThereWasOfARunThatFailed) {
  const std::string file = folder_ + "/wind.yaml";
  io::write_file(
      file,
      "mechanism:\n  bodies: [{name: a, mass: 1, inertia: 1, q: [0, 1, 0], shapes: {centre: "
      "{point: "
      "[0, 0]}}}]\n  planes: {floor: {point: [0, 0], normal: [0, 1]}}\n  contacts: [{name: floor, "
      "between: [a.centre, floor], friction: 0.3}]\n"
      "  forces: [{name: wind, coordinate: a.x, force: sqrt(0.6 - t)}]\n");
  for (const std::string method : {"time-stepping", "hybrid", "compliant", "event-selected"}) {
    const std::string json = folder_ + "/" + method + ".json", csv = folder_ + "/table.csv";
    const Result r = run("simulate " + file + " --method " + method + " --every 0.01 --json " +
                         json + " --csv " + csv);
    EXPECT_EQ(r.code, 3) << r.out;
    EXPECT_TRUE(says(r, "force 'wind' is not a finite number at t = 0.60")) << r.out;
    const nlohmann::json j = nlohmann::json::parse(io::read_file(json));
    EXPECT_EQ(j["status"], "invalid state");
    EXPECT_EQ(j["incomplete"], true);
    EXPECT_NEAR(j["final"]["time"], 0.6, 2e-3) << method;
    EXPECT_GE(j["time"].size(), 60u) << method;
    const std::string table = io::read_file(csv);
    EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), j["time"].size() + 1);
  }
  EXPECT_EQ(run("ensemble " + file + " --runs 2").code, 3);
}

TEST_F(Files, CountTheRunsOfAnEnsembleThatFailed) {
  // blocks that rock by more than 1e-4 are torn away; those that come to rest at once are not
  std::string block = io::scenario_text("rocking-block");
  block.replace(block.find("start:"), 0,
                "  forces: [{name: wind, coordinate: block.angle, force: 1e-9*sqrt(1e-4 - "
                "abs(q))}]\n");
  const std::string file = folder_ + "/torn.yaml", json = folder_ + "/torn.json";
  io::write_file(file, block);
  for (const std::string method : {"hybrid", "time-stepping"}) {
    const Result r =
        run("ensemble " + file + " --method " + method + " --runs 16 --end 0.1 --json " + json);
    EXPECT_EQ(r.code, 0) << r.out;
    const nlohmann::json j = nlohmann::json::parse(io::read_file(json));
    int stopped = 0;
    for (const nlohmann::json& one : j["runs"]) {
      stopped += one["status"] == "invalid state";
      EXPECT_EQ(one.contains("message"), one["status"] == "invalid state") << one;
    }
    EXPECT_GT(stopped, 0) << method;
    EXPECT_LT(stopped, 16) << method;
    EXPECT_EQ(j["summary"]["stopped"], stopped);
    EXPECT_TRUE(says(r, "warning: " + std::to_string(stopped) + " of 16 runs stopped")) << r.out;
  }
}

}  // namespace
