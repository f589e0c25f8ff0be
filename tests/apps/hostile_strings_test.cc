// Words of a user never become code: in titles, names, units, files and folders.

#include <fstream>

#include "apps/program.h"
#include "routh/io/files.h"
#include "routh/io/gnuplot.h"
#include "routh/io/text.h"

namespace {

namespace fs = std::filesystem;
using namespace routh;
using namespace routh::test;

/// What each language between us and a picture would obey.
const std::vector<std::string> kHostile{
    "foot #2",  // digits after an escape
    "a'; system('touch marker'); #",
    "''; system(\"touch marker\"); #",
    "\"; system(\"touch marker\"); \"",
    "`touch marker`",
    "$(touch marker) & touch marker; | touch marker",
    "x\nsystem('touch marker')\nEOD\nsystem('touch marker')",
    "\\\"; `touch marker` \\",
    "@marker ^_{/Symbol a} ~a{.8-} &{x} %s%n",
    "</title><script>alert(1)</script>&\"'",
    "]]> ]]]>>",
    "one,two\"three",
    std::string("nul\0nul", 7),
    "\x1b[2J\x9b\xff",
};

/// A double-quoted string of YAML.
std::string yaml(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      out += '\\', out += c;
    else if (byte < 0x20)
      out += byte < 16 ? "\\x0" : "\\x1", out += "0123456789abcdef"[byte & 15];
    else if (byte < 0x80)
      out += c;
  }
  return out + "\"";
}

/// A block on two corners with such names everywhere; braces and dots mean something in names.
std::string scenario(std::string words) {
  std::string name;
  for (const char c : words) {
    if (c != '{' && c != '}' && c != '.') name += c;
  }
  const std::string text = yaml(name);
  return "title: " + text + "\nparameters:\n  mass: {value: 1, unit: " + text + ", about: " + text +
         "}\nmechanism:\n  gravity: [0, -9.81]\n  bodies:\n    - name: " + text +
         "\n      mass: mass\n      inertia: mass/12\n      q: [0, 0.5, 0]\n      v: [0.3, -1, 0]\n"
         "      shapes: {hull: {box: [1, 1]}}\n"
         "  planes: {floor: {point: [0, 0], normal: [0, 1]}}\n  contacts:\n    - {name: " +
         yaml(name + " 1") + ", between: [" + yaml(name + ".hull.bottom_left") +
         ", floor], friction: 0.5}\n    - {name: " + yaml(name + " 2") + ", between: [" +
         yaml(name + ".hull.bottom_right") + ", floor], friction: 0.5}\n";
}

class HostileStrings : public Program {
 protected:
  /// Runs it in the folder, where a marker would appear.
  Result here(const std::string& arguments) const {
    return shell("cd '" + folder_ + "' && " + std::string(ROUTH_PROGRAM) + " " + arguments +
                 " 2>&1");
  }
  bool marked() const { return fs::exists(folder_ + "/marker"); }
  void expect_picture(const std::string& path, const std::string& why) const {
    ASSERT_TRUE(fs::exists(folder_ + "/" + path)) << path << " for " << why;
    EXPECT_GT(fs::file_size(folder_ + "/" + path), 1000u) << path << " for " << why;
  }
};

TEST_F(HostileStrings, AreShownByEveryFigureAndObeyedByNone) {
  std::string all;
  for (const std::string& words : kHostile) all += words + " ";
  std::vector<std::string> hostile = kHostile;
  hostile.push_back(all);
  for (std::size_t k = 0; k < hostile.size(); ++k) {
    const std::string& why = hostile[k];
    std::string file = "s";
    file += std::to_string(k);
    io::write_file(folder_ + "/" + file + ".yaml", scenario(why));
    const Result impact = here("impact " + file + ".yaml --plot f --json i.json --csv i.csv");
    EXPECT_EQ(impact.code, 0) << why << impact.out;
    expect_picture("f/" + file + "-all.png", why);
    expect_picture("f/" + file + "-all.svg", why);
    EXPECT_TRUE(nlohmann::json::accept(io::read_file(folder_ + "/i.json"))) << why;
    // screens obey escapes
    EXPECT_EQ(impact.out.find('\x1b'), std::string::npos) << why;
    EXPECT_FALSE(marked()) << why;
  }
  io::write_file(folder_ + "/s.yaml", scenario(all));
  const Result motion = here(
      "simulate s.yaml --method hybrid --end 0.02 --domain s --plot f --csv m.csv --animate m.svg");
  EXPECT_EQ(motion.code, 0) << motion.out;
  for (const char* ending : {"-hybrid.png", "-hybrid-strip.svg", "-hybrid-s.png"})
    expect_picture(std::string("f/s") + ending, all);
  EXPECT_EQ(io::read_file(folder_ + "/m.svg").find("<script"), std::string::npos);
  EXPECT_EQ(motion.out.find('\x1b'), std::string::npos);
  EXPECT_FALSE(marked());
}

TEST_F(HostileStrings, OfAnEnsembleAndOfAnimationsAreShown) {
  io::write_file(folder_ + "/s.yaml", scenario(kHostile[0] + kHostile[2] + kHostile[3]));
  const Result ensemble = here("ensemble s.yaml --runs 4 --end 0.01 --plot f --csv e.csv");
  EXPECT_EQ(ensemble.code, 0) << ensemble.out;
  expect_picture("f/s-ensemble.png", "ensemble");
  EXPECT_EQ(here("simulate s.yaml --end 0.02 --step 1e-3 --animate a.gif").code, 0);
  expect_picture("a.gif", "animation");
  EXPECT_EQ(here("simulate s.yaml --method event-selected --end 0.02 --plot f").code, 0);
  expect_picture("f/s-event-selected.png", "event-selected");
  EXPECT_FALSE(marked());
}

TEST_F(HostileStrings, NameFilesAndFolders) {
  for (const std::string name : {"o'brien & $HOME", "|touch marker", "`touch marker`", "-e", "a\nb",
                                 "\"; touch marker; \"", "%d %s"}) {
    // as an argument that the shell leaves alone
    std::string argument = "'./";
    for (const char c : name) argument += c == '\'' ? "'\\''" : std::string(1, c);
    argument += "'";
    if (name[0] == '|') argument.erase(1, 2);
    const Result r = here("simulate point-drop --end 0.1 --plot " + argument);
    EXPECT_EQ(r.code, 0) << name << r.out;
    expect_picture(name + "/point-drop-time-stepping.png", name);
    expect_picture(name + "/point-drop-time-stepping-strip.svg", name);
    EXPECT_FALSE(marked()) << name;
  }
  // and scenarios
  io::write_file(folder_ + "/it's `a` $file.yaml", scenario("plain"));
  EXPECT_EQ(here("impact \"it's \\`a\\` \\$file.yaml\" --plot f").code, 0);
  expect_picture("f/it's `a` $file-all.png", "scenario");
  const Result odd = here("impact \"$(printf '\\377').yaml\" --json - ");
  EXPECT_EQ(odd.code, 2) << odd.out;
}

#ifdef ROUTH_HAS_MUJOCO
TEST_F(HostileStrings, OfModelsAreShown) {
  const std::string name = "a'`touch marker`&quot;&#10;,&lt;b&gt;";
  io::write_file(folder_ + "/m.xml",
                 "<mujoco model=\"" + name + "\"><worldbody><geom name=\"floor" + name +
                     "\" type=\"plane\" size=\"2 2 .1\"/><body name=\"" + name +
                     "\" pos=\"0 0 .1\"><freejoint name=\"" + name + "\"/><geom name=\"" + name +
                     "\" type=\"box\" size=\".1 .1 .1\"/></body></worldbody></mujoco>");
  const Result impact = here(
      "impact m.xml --law simultaneous --qvel 0.1,0,-1,0,0,0 --plot f "
      "--csv i.csv");
  EXPECT_EQ(impact.code, 0) << impact.out;
  expect_picture("f/m-simultaneous.png", "model");
  const Result motion = here("simulate m.xml --end 0.02 --plot f --animate m.svg");
  EXPECT_EQ(motion.code, 0) << motion.out;
  expect_picture("f/m-time-stepping-strip.png", "model");
  EXPECT_EQ(here("simulate m.xml --end 0.02 --animate m.gif").code, 0);
  EXPECT_EQ(io::read_file(folder_ + "/m.svg").find("<b>"), std::string::npos);
  EXPECT_FALSE(marked());
}
#endif

TEST_F(HostileStrings, ReadBackFromGnuplotAsTheyWere) {
  for (const std::string& text : kHostile) {
    const std::string seen = io::run_gnuplot("set print \"-\"\nprint " + io::gnuplot_text(text));
    if (text.find("]]>") == std::string::npos)
      EXPECT_EQ(seen, io::valid_utf8(io::without_controls(text)) + "\n");
    else
      EXPECT_EQ(seen.find("]]>"), std::string::npos) << "is not well-formed in SVG";
  }
}

TEST_F(HostileStrings, AreReferredToAndComplainedOfWithoutSteeringTheTerminal) {
  const std::string name = "\x1b[2Jbody";
  const std::string start = "start: {v: {" + yaml(name + ".y") + ": -2}}\n";
  io::write_file(folder_ + "/s.yaml", scenario(name) + start);
  EXPECT_EQ(here("impact s.yaml").code, 0) << here("impact s.yaml").out;
  for (const std::string& wrong :
       {"start: {q: {" + yaml("\x1b[2Jno") + ": 1}}\n", yaml("\x1b[2Jno") + ": 1\n",
        "start: {touch: {" + yaml("\x1b[2Jno") + ": x}}\n"}) {
    io::write_file(folder_ + "/s.yaml", scenario(name) + wrong);
    const Result r = here("impact s.yaml");
    EXPECT_EQ(r.code, 2) << wrong;
    EXPECT_TRUE(says(r, "[2Jno")) << r.out;
    EXPECT_EQ(r.out.find('\x1b'), std::string::npos) << wrong;
  }
  // words of the command line come back in complaints too
  for (const char* arguments : {"impact $'\\e[2J'", "impact pushing --law $'\\e[2J'"}) {
    const Result r = shell("bash -c \"" + std::string(ROUTH_PROGRAM) + " " + arguments + "\" 2>&1");
    EXPECT_EQ(r.code, 2) << r.out;
    EXPECT_EQ(r.out.find('\x1b'), std::string::npos) << arguments;
  }
}

TEST_F(HostileStrings, InBracesOfATitleAreShownAsTheyAre) {
  const std::string rest = "\nM: [[1]]\nJn: [[1]]\nJt: [[0]]\nmu: 0\nv: [-1]\n";
  for (const auto& [title, shown] : std::vector<std::pair<std::string, std::string>>{
           {"{}", "{}"}, {"a {b", "a {b"}, {"x_{1.5} {1+1}", "x_{1.5} 2"}, {"{{2}}", "{2}"}}) {
    io::write_file(folder_ + "/s.yaml", "title: " + yaml(title) + rest);
    const Result r = here("impact s.yaml");
    EXPECT_EQ(r.code, 0) << r.out;
    EXPECT_TRUE(says(r, ": " + shown + "\n")) << r.out;
  }
}

TEST_F(HostileStrings, KeepTheirCellOfATable) {
  EXPECT_EQ(io::csv_cell("plain"), "plain");
  EXPECT_EQ(io::csv_cell("a,b"), "\"a,b\"");
  EXPECT_EQ(io::csv_cell("a\"b\nc"), "\"a\"\"b\nc\"");
  io::write_file(folder_ + "/s.yaml", scenario("one,two\"three"));
  ASSERT_EQ(here("impact s.yaml --csv i.csv").code, 0);
  const std::string csv = io::read_file(folder_ + "/i.csv");
  EXPECT_NE(csv.find("\"v.one,two\"\"three.x\""), std::string::npos) << csv;
}

TEST_F(HostileStrings, AreMendedWhereTheyAreNotText) {
  EXPECT_EQ(io::valid_utf8("Zähler ½ 𝛼"), "Zähler ½ 𝛼");
  EXPECT_EQ(io::valid_utf8("a\xff\xc3"), "a??");
  EXPECT_EQ(io::valid_utf8("\xc0\xaf\xed\xa0\x80\xf4\x90\x80\x80"), "?????????");
  EXPECT_EQ(io::xml_text("<a b='c'>&\"\n"), "&lt;a b=&#39;c&#39;&gt;&amp;&quot; ");
  EXPECT_EQ(io::json_text(io::Json{{"name", "a\xff"}}), "{\"name\":\"a\xef\xbf\xbd\"}");
}

}  // namespace
