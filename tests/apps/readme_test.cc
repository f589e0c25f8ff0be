// The README keeps its word: its files and commands work as they stand there. (Its C++ is compiled
// by tests/package.)

#include <gtest/gtest.h>

#include <sstream>

#include "apps/program.h"
#include "routh/io/files.h"

namespace {

using namespace routh::test;
using Readme = Program;

std::vector<std::string> readme() {
  std::istringstream text(routh::io::read_file(ROUTH_README));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

/// Does this program lack what a line needs?
bool lacks(const std::string& line) {
  static const std::string version = run("--version").out;
  const auto has = [](const std::string& text, const char* words) {
    return text.find(words) != std::string::npos;
  };
  const bool model = has(line, "quadruped") || has(line, "tower");
  return (has(line, "--law exact") && has(version, "without exact")) ||
         (model && has(version, "without models"));
}

TEST_F(Readme, FilesAndCommandsWorkAsTheyStandThere) {
  std::string file;  // impact.yaml, which it writes out
  for (const std::string& line : readme()) {
    if (line.starts_with("    # impact.yaml") || (!file.empty() && line.starts_with("    ")))
      file += line.substr(4) + "\n";
    else if (!file.empty())
      break;
  }
  ASSERT_NE(file.find("Jn:"), std::string::npos);
  routh::io::write_file(folder_ + "/impact.yaml", file);

  int commands = 0;
  for (std::string line : readme()) {
    const std::string start = "    build/routh ";
    if (!line.starts_with(start)) continue;
    line = line.substr(start.size(), line.find('#') - start.size());
    if (line.find("my_robot") != std::string::npos) continue;       // yours
    if (line.find("reproduce all") != std::string::npos) continue;  // minutes
    if (lacks(line)) continue;
    const Result r = shell("cd " + folder_ + " && " ROUTH_PROGRAM " " + line + " 2>&1");
    EXPECT_EQ(r.code, 0) << line << "\n" << r.out;
    ++commands;
  }
  EXPECT_GT(commands, 15);
}

TEST_F(Readme, LinksLeadSomewhere) {
  const std::filesystem::path root = std::filesystem::path(ROUTH_README).parent_path();
  int links = 0;
  for (const std::string& line : readme()) {
    for (std::size_t at = 0; (at = line.find("](", at)) != std::string::npos; ++at) {
      const std::string target = line.substr(at + 2, line.find(')', at) - at - 2);
      EXPECT_TRUE(std::filesystem::exists(root / target)) << target;
      ++links;
    }
  }
  EXPECT_GT(links, 10);
}

}  // namespace
