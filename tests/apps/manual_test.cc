// Help, manual page, completion, colours and silence.

#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <set>

#include "apps/program.h"
#include "routh/io/files.h"

namespace {

using namespace routh::test;
using Manual = Program;

const std::vector<std::string> kCommands{"list",     "show", "impact",   "check",     "simulate",
                                         "ensemble", "map",  "measured", "reproduce", "rerun"};

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
  return text;
}

/// Long options as the help of a command lists them.
std::set<std::string> options_of(const std::string& command) {
  std::set<std::string> options;
  std::istringstream lines(run(command + " --help").out);
  const std::regex option("--[a-z][-a-z0-9]*");
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("  -")) continue;
    const std::string names = line.substr(0, line.find(' ', 2));
    for (std::sregex_iterator it(names.begin(), names.end(), option), end; it != end; ++it)
      options.insert(it->str());
  }
  return options;
}

/// What bash offers at the end of a line.
std::string bash_offers(const std::string& words) {
  return shell("bash -c 'eval \"$(" ROUTH_PROGRAM " completion bash)\"; COMP_WORDS=(routh " +
               words +
               "); COMP_CWORD=$((${#COMP_WORDS[@]}-1)); _routh; echo \"${COMPREPLY[@]}\"' 2>&1")
      .out;
}

TEST_F(Manual, AndEveryShellKnowEveryOptionOfEveryCommand) {
  const std::string man = replaced(run("man").out, "\\-", "-");
  const std::string zsh = run("completion zsh").out, fish = run("completion fish").out;
  const Result help = run("--help");
  for (const std::string& command : kCommands) {
    EXPECT_TRUE(says(help, "\n  " + command + " ")) << command;
    EXPECT_NE(man.find(".SH routh " + command + "\n"), std::string::npos);
    EXPECT_NE(zsh.find("    " + command + ")\n"), std::string::npos);
    const std::set<std::string> options = options_of(command);
    EXPECT_TRUE(options.contains("--help")) << command;
    const std::string bash = " " + replaced(bash_offers(command + " --"), "\n", " ");
    for (const std::string& option : options) {
      EXPECT_NE(man.find(option), std::string::npos) << command << " " << option;
      EXPECT_NE(bash.find(" " + option + " "), std::string::npos) << command << " " << option;
      EXPECT_NE(zsh.find(option + "["), std::string::npos) << command << " " << option;
      EXPECT_TRUE(std::regex_search(
          fish, std::regex("from " + command + "'[^\n]* -l " + option.substr(2) + " ")))
          << command << " " << option;
    }
  }
  // nothing is offered that is not there
  EXPECT_FALSE(options_of("impact").contains("--end"));
  EXPECT_EQ(bash_offers("impact --en"), "\n");
  EXPECT_EQ(run("completion tcsh").code, 2);
}

TEST_F(Manual, BashCompletesCommandsOptionsValuesAndScenarios) {
  EXPECT_EQ(bash_offers("imp"), "impact\n");
  EXPECT_EQ(bash_offers("impact --la"), "--law\n");
  EXPECT_EQ(bash_offers("impact --law s"), "simultaneous sequential set single\n");
  EXPECT_EQ(bash_offers("impact compass-gait --law ex"), "exact\n");
  EXPECT_EQ(bash_offers("simulate domino-row --method hy"), "hybrid\n");
  EXPECT_EQ(bash_offers("show rocking-b"), "rocking-block rocking-block-p4\n");
  EXPECT_EQ(bash_offers("reproduce p1-table3 p2-fig"), "p2-fig3 p2-fig4\n");
  routh::io::write_file(folder_ + "/mine.yaml", "");
  EXPECT_EQ(bash_offers("impact " + folder_ + "/mi"), folder_ + "/mine.yaml\n");
  EXPECT_EQ(bash_offers("check x --json " + folder_ + "/mi"), folder_ + "/mine.yaml\n");
}

TEST_F(Manual, ExamplesOfTheHelpRun) {
  // balls that come back with half of their speed
  std::string balls =
      "vx_minus,vy_minus,w_minus,vx_plus,vy_plus,w_plus,jn_x,jn_y,jn_w,jt_x,jt_y,jt_w\n";
  for (int speed = 10; speed < 34; ++speed)
    balls +=
        "0,-" + std::to_string(speed) + ",0,0," + std::to_string(speed / 2.0) + ",0,0,1,0,1,0,1\n";
  routh::io::write_file(folder_ + "/impacts.csv", balls);
  // impact first: it writes what rerun reads
  for (const std::string command : {"impact", "list", "show", "check", "simulate", "ensemble",
                                    "map", "measured", "reproduce", "rerun"}) {
    const std::string help = run(command + " --help").out;
    std::istringstream lines(help.substr(help.find("Examples:")));
    int examples = 0;
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with("  routh ")) continue;
      ++examples;
      if (line == "  routh reproduce all") continue;  // minutes
      const Result r = shell("cd " + folder_ + " && (" +
                             replaced(line, " routh ", " " ROUTH_PROGRAM " ") + ") 2>&1");
      EXPECT_EQ(r.code, 0) << line << "\n" << r.out;
    }
    EXPECT_GT(examples, 1) << command;
  }
}

TEST_F(Manual, ColoursAreForTerminalsAlone) {
  const auto on_terminal = [](const std::string& environment, const std::string& arguments) {
    return shell("env -u NO_COLOR TERM=xterm " + environment + " script -qec '" ROUTH_PROGRAM " " +
                 arguments + "' /dev/null < /dev/null")
        .out;
  };
  for (const char* arguments :
       {"check compass-gait", "impact rocking-block", "list pushing", "impact no-such-scenario"}) {
    EXPECT_NE(on_terminal("", arguments).find("\033[1"), std::string::npos) << arguments;
    EXPECT_EQ(on_terminal("NO_COLOR=1", arguments).find("\033[1"), std::string::npos) << arguments;
    EXPECT_EQ(on_terminal("TERM=dumb", arguments).find("\033[1"), std::string::npos) << arguments;
    EXPECT_EQ(run(arguments).out.find('\033'), std::string::npos) << arguments;
  }
  EXPECT_EQ(on_terminal("", "check compass-gait --json -").find('\033'), std::string::npos);
}

TEST_F(Manual, QuietLeavesTheScreenEmptyAndWritesFiles) {
  const std::string places = " --quiet --json " + folder_ + "/a.json --csv " + folder_ +
                             "/a.csv --plot " + folder_ + "/figures";
  for (const std::string& line :
       {"impact pushing" + places, "simulate point-drop --end 0.1" + places,
        "ensemble rocking-block --runs 2 --end 0.1" + places,
        "check pushing -q --json " + folder_ + "/a.json", std::string("list -q"),
        "reproduce p1-outcomes -q --out " + folder_, "rerun -q " + folder_ + "/a.json"}) {
    const Result r = run(line);
    EXPECT_EQ(r.code, 0) << line << "\n" << r.out;
    EXPECT_EQ(r.out, "") << line;
  }
  EXPECT_GT(left().size(), 4u);
  EXPECT_EQ(json_of("check pushing --quiet")["colliding"], true);
  EXPECT_NE(run_plainly("impact pushing --quiet --csv -").out.find("outcome,"), std::string::npos);
  EXPECT_EQ(run("impact no-such-scenario --quiet").code, 2);
  EXPECT_TRUE(says(run("impact no-such-scenario --quiet"), "no-such-scenario"));
}

}  // namespace
