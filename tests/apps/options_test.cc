// An option that does not apply is refused with where it belongs; sizes are refused before memory
// is taken.

#include "apps/program.h"
#include "routh/io/files.h"

namespace {

using namespace routh;
using namespace routh::test;
using Options = Program;

// a little memory is enough to refuse; sanitizers reserve addresses by the terabyte
#ifdef ROUTH_SANITIZED
const std::string kLittleMemory = "ASAN_OPTIONS=hard_rss_limit_mb=4000 ";
#else
const std::string kLittleMemory = "ulimit -v 4000000; exec ";
#endif

void expect_refused(const std::vector<std::pair<std::string, std::string>>& cases) {
  for (const auto& [arguments, hint] : cases) {
    const Result r = shell(kLittleMemory + ROUTH_PROGRAM + " " + arguments + " 2>&1");
    EXPECT_EQ(r.code, 2) << arguments << "\n" << r.out;
    EXPECT_TRUE(says(r, hint)) << arguments << " said: " << r.out;
  }
}

TEST_F(Options, CommandsThatAreNotThereGetAHint) {
  expect_refused({
      {"impac pushing", "there is no command 'impac'; did you mean 'impact'?"},
      {"'' pushing", "there is no command ''; 'routh --help' lists them"},
      {"pushing", "there is no command 'pushing'"},
  });
}

TEST_F(Options, OfOtherLawsAreRefused) {
  expect_refused({
      {"impact pushing --keep 100", "--keep belongs to --law set; this is --law all"},
      {"impact pushing --law exact --seed 3", "--seed belongs to --law set"},
      {"impact pushing --law sequential --threads 2", "--threads belongs to --law set"},
      {"impact pushing --law simultaneous --keep 2", "--keep"},
      {"impact pushing --law single --draws corners", "--draws"},
      {"impact pushing --step 1", "--step"},
      {"impact pushing --limit 10", "--limit"},
      {"impact pushing --final-step 1", "--final-step"},
      {"impact pushing --coverage", "--coverage belongs to --law set"},
      {"impact pushing --law set --order Q,Z",
       "--order belongs to --law sequential and --law all; this is --law set"},
      {"impact pushing --law simultaneous --single algebraic", "--single"},
      {"impact pushing --contact A", "--contact belongs to --law single"},
      {"impact pushing --sensitivity", "--sensitivity belongs to --law exact"},
      {"impact pushing --epsilon 1", "--epsilon belongs to --law set"},
      {"impact pushing --law set --delta 0.1", "--delta belongs to --epsilon"},
      {"impact pushing --law set --epsilon -1", "--epsilon"},
      {"impact pushing --law set --epsilon 1 --delta 2", "--delta 2"},
      {"impact pushing --law set --epsilon 1 --limit 5", "--limit is what --epsilon computes"},
      {"impact pushing --law set --epsilon 1 --draws corners", "--draws corners"},
      {"impact pushing --maximize energy", "--maximize belongs to --law exact"},
      {"impact pushing --law set --contains 1,2", "--contains belongs to --law exact"},
      {"impact pushing --law set --max-seconds 1", "--law set --coverage"},
      {"simulate stick-slip --seed 3", "--seed belongs to --law set"},
      {"ensemble rocking-block --law simultaneous --seed 3", "--seed belongs to --law set"},
      {"simulate stick-slip --modes modes.svg", "--modes belongs to --method hybrid"},
      {"simulate rocking-block-p4 --modes modes.png", "name it .svg"},
      {"ensemble rocking-block --branch 1 --modes modes.svg",
       "--modes belongs to ensembles without --branch"},
  });
  EXPECT_EQ(run("impact rocking-block --order A,B --single algebraic").code, 0);
}

TEST_F(Options, ThatAreRefusedLeaveNothingOnTheScreen) {
  for (const char* arguments :
       {"impact pushing --law set --samples 2^63", "impact pushing --law set --samples -1",
        "impact pushing --law set --seed 2^70", "impact pushing --order A,Z",
        "impact pushing --law single --contact Z"}) {
    const Result r = shell(std::string(ROUTH_PROGRAM) + " " + arguments + " 2>/dev/null");
    EXPECT_EQ(r.code, 2) << arguments;
    EXPECT_EQ(r.out, "") << arguments;
  }
}

TEST_F(Options, OfOtherMethodsAreRefused) {
  expect_refused({
      {"simulate point-drop --method hybrid --alpha 1 --stiffness 5",
       "--alpha belongs to --method time-stepping; this is --method hybrid"},
      {"simulate point-drop --method hybrid --stiffness 5",
       "--stiffness belongs to --method event-selected and --method compliant"},
      {"simulate point-drop --method compliant --step 1e-3", "--step"},
      {"simulate point-drop --method compliant --law set", "--law belongs"},
      {"simulate point-drop --method hybrid --raw --json -", "--raw"},
      {"simulate point-drop --raw", "--raw belongs to --json"},
      {"simulate point-drop --pseudo-impulse 0.1", "--pseudo-impulse belongs to --method hybrid"},
      {"simulate point-drop --rtol 1e-3", "--rtol"},
      {"simulate point-drop --strict", "--strict"},
      {"simulate point-drop --at-start", "--at-start belongs to --method hybrid"},
      {"simulate massless-leg --at-start --csv x", "--csv belongs to motions without --at-start"},
      {"simulate point-drop --eps 1e-3", "--eps belongs to --method event-selected"},
      {"simulate plate --exact --eps 1e-3", "without --exact"},
      {"simulate plate --stiffness 10", "--stiffness belongs to mechanisms in the plane"},
      {"simulate plate --project", "--project"},
      {"simulate point-drop --ratio 3", "--ratio belongs to --method compliant"},
      {"simulate point-drop --impact-only", "--impact-only"},
      {"ensemble rocking-block --branch 1 --runs 3", "--runs belongs to ensembles without"},
      {"ensemble rocking-block --branch 1 --law set", "--law"},
      {"reproduce p3-joint --samples 100", "--samples belongs to p1-table3"},
      {"reproduce p1-outcomes --threads 1", "--threads"},
  });
}

TEST_F(Options, OfOtherScenariosAreRefused) {
  const std::string raw = folder_ + "/raw.yaml";
  io::write_file(raw, "M: [[1, 0], [0, 1]]\nJn: [[0, 1]]\nJt: [[1, 0]]\nmu: 0.5\nv: [1, -1]\n");
  expect_refused({
      {"impact pushing --edges 6", "--edges belongs to models of MuJoCo, plain matrices in space"},
      {"check pushing --edges 6", "--edges"},
      {"simulate point-drop --edges 6", "--edges"},
      {"ensemble rocking-block --edges 6", "--edges"},
      {"impact pushing --extreme-points", "--extreme-points belongs to models"},
      {"impact " + raw + " --touching 1e-3", "--touching"},
      {"impact " + raw + " --edges 6", "--edges"},
      {"impact pushing --qpos 1,2", "--qpos"},
      {"impact pushing --drop 1", "--drop"},
      {"check pushing --state x", "--state"},
  });
  const std::string space = folder_ + "/space.yaml";
  io::write_file(space,
                 "M: [[1, 0, 0], [0, 1, 0], [0, 0, 1]]\nJn: [[0, 0, 1]]\n"
                 "Jt: [[1, 0, 0], [0, 1, 0]]\nmu: 0.5\nv: [1, 0, -1]\n");
  EXPECT_EQ(json_of("impact " + space + " --edges 6")["edges"], 6);
  EXPECT_EQ(json_of("impact " + space)["cone"], "circular");
  EXPECT_EQ(json_of("impact " + space + " --cone polygon")["edges"], 8);
  EXPECT_EQ(json_of("impact " + space + " --law set")["cone"], "polygon");
  EXPECT_EQ(json_of("check " + space)["cone"]["kind"], "circular");
  expect_refused({{"impact " + space + " --law set --cone circular", "--cone circular"},
                  {"impact " + space + " --cone circular --edges 6", "--edges"},
                  {"impact pushing --cone circular", "--cone belongs to"}});
#ifdef ROUTH_HAS_MUJOCO
  expect_refused({{"simulate tower --detection off --law set", "--law: needs the instants"},
                  {"simulate quadruped --at-start", "--at-start"}});
#endif
}

TEST_F(Options, ThatAskForTooMuchAreRefusedBeforeItIsTaken) {
  expect_refused({
      {"simulate point-drop --every 1e-300", "--every 1e-300"},
      {"simulate point-drop --method hybrid --every 1e-300", "--every"},
      {"simulate point-drop --method compliant --every 1e-300", "--every"},
      {"simulate plate --every 1e-300", "--every"},
      {"simulate point-drop --end 1e300", "--end 1e+300"},
      {"simulate hopper --end 1e300", "--end"},
      {"simulate point-drop --step 1e-300", "--step 1e-300"},
      {"simulate point-drop --step 1e-9", "--every"},
      {"ensemble rocking-block --every 1e-300", "--every"},
      {"ensemble rocking-block --runs 1e12", "--runs"},
      {"ensemble rocking-block --end 1e300", "--end"},
      {"impact pushing --law set --samples 2^40 --keep 2^40", "--keep"},
      {"impact pushing --law set --samples 2^70", "--samples"},
      {"impact pushing --law set --seed 2^70", "--seed"},
      {"check box-stack --set n=1e6", "repeats 1000000 times"},
      {"check domino-row --set n=9999", "too many bodies"},
      {"simulate plate --set springs=1e9", "springs"},
  });
}

TEST_F(Options, ThatCountMustBeWholeAndEnough) {
  expect_refused({
      {"check box-stack --set n=0", "'n' is 0; it must be a whole number of at least 1"},
      {"impact domino-row --set n=0", "a whole number of at least 1"},
      {"impact domino-row --set n=-1", "a whole number of at least 1"},
      {"simulate box-stack --set n=2.5", "'n' is 2.5; it must be a whole number"},
      {"simulate box-stack --set n=nan", "n=nan"},
      {"simulate box-stack --set n=1e300", "repeats"},
  });
  EXPECT_EQ(run("simulate box-stack --set n=1 --end 0.01").code, 0);
  EXPECT_EQ(run("simulate domino-row --set n=1 --end 0.01").code, 0);

  const std::string file = folder_ + "/bad.yaml";
  const std::string contacts = "Jn: [[0, 1]]\nJt: [[1, 0]]\nmu: 0.5\nv: [1, -1]\n";
  for (const auto& [text, hint] : std::vector<std::pair<std::string, std::string>>{
           {"mechanism: {bodies: []}", "none of them can move"},
           {"mechanism: {bodies: [{name: a, joint: fixed}]}", "none of them can move"},
           {"M: []\nJn: []\nJt: []\nmu: []\nv: []", "at least one number"},
           {"M: [[1, 0], [0, 1]]\n" + contacts + "impact: {limit: 1e300}", "impact.limit"},
           {"M: [[1, 0], [0, 1]]\n" + contacts + "impact: {samples: -1}", "impact.samples"},
           {"M: [[1, 0], [0, 1]]\n" + contacts + "impact: {samples: 0.5}", "impact.samples"}}) {
    io::write_file(file, text);
    expect_refused({{"impact " + file, hint}});
  }
}

TEST_F(Options, WithoutAValueAreRefusedByName) {
  std::vector<std::pair<std::string, std::string>> cases;
  for (const char* option : {"--json", "--csv", "--plot", "--keep", "--seed", "--samples"})
    cases.emplace_back(std::string("impact pushing --law set ") + option + " ''", option);
  for (const char* option : {"--json", "--csv", "--plot", "--animate", "--method", "--end"})
    cases.emplace_back(std::string("simulate point-drop ") + option + " ''", option);
  cases.emplace_back("impact pushing --law exact --max-polyhedra ''", "--max-polyhedra");
  cases.emplace_back("check pushing --json ''", "--json");
  cases.emplace_back("ensemble rocking-block --runs ''", "--runs");
  cases.emplace_back("reproduce p1-fig9 --out ''", "--out");
  cases.emplace_back("impact ''", "scenario");
  expect_refused(cases);
}

TEST_F(Options, ThatAreNoNumbersAreRefusedByName) {
  expect_refused({
      {"impact pushing --law set --final-step nan", "--final-step"},
      {"impact pushing --law set --samples 0", "--samples 0"},
      {"impact pushing --set mass=1,5", "the decimal sign is a point"},
      {"impact pushing --law set --samples 1,000", "--samples"},
      {"simulate point-drop --gamma=nan", "--gamma"},
      {"simulate point-drop --method hybrid --pseudo-impulse nan", "--pseudo-impulse"},
      {"simulate point-drop --method hybrid --pseudo-impulse inf", "--pseudo-impulse"},
      {"simulate point-drop --method event-selected --contact-damping nan", "--contact-damping"},
      {"simulate point-drop --method compliant --damping-ratio nan", "--damping-ratio"},
      {"simulate joint-error --method event-selected", "--method event-selected"},
  });
  EXPECT_EQ(run("simulate point-drop --gamma 0 --end 0.01").code, 0);
  expect_refused({{"impact pushing --law exact --max-polyhedra 0", "--max-polyhedra 0"}});
}

// A GPU is an optional component; where it was built in and no GPU is there the CPU does the work.
TEST_F(Options, ADeviceIsRefusedWhereItCannotBe) {
  expect_refused({{"impact rocking-block --law exact --device cuda", "--device belongs to"},
                  {"map rocking-block --vary friction=0:1:2 --law simultaneous --device cuda",
                   "--device belongs to"},
                  {"impact rocking-block --law set --device gpu", "--device"}});
  EXPECT_EQ(run("impact rocking-block --law set --samples 9 --device cpu").code, 0);
  const std::string command = "impact rocking-block --law set --samples 2000 --device cuda";
  if (run("--version").out.find("without CUDA") != std::string::npos) {
    expect_refused({{command, "make cuda"},
                    {"map rocking-block --vary friction=0:1:2 --device cuda", "make cuda"}});
    return;
  }
  expect_refused({{"impact disk-stack --law set --draws extremes --device cuda", "--device cuda"}});
  const Result r = run(command);
  EXPECT_EQ(r.code, 0) << r.out;
  const nlohmann::json j = json_of(command),
                       cpu = json_of("impact rocking-block --law set --samples 2000");
  if (r.out.find("no GPU") == std::string::npos) return;
  EXPECT_NE(r.out.find("the CPU takes its place"), std::string::npos) << r.out;
  EXPECT_EQ(j["summary"]["device"], "cpu");
  EXPECT_NE(j["summary"]["device_trouble"].get<std::string>().find("no GPU"), std::string::npos);
  EXPECT_EQ(j["outcomes"], cpu["outcomes"]);
}

TEST_F(Options, OfAScenarioAreGivenOnceAndNamesAreOfOne) {
  const std::string file = folder_ + "/bad.yaml";
  const std::string two =
      "M: [[1, 0], [0, 1]]\nJn: [[0, 1], [0, 1]]\nJt: [[1, 0], [1, 0]]\nmu: 0.5\n";
  for (const auto& [text, hint] : std::vector<std::pair<std::string, std::string>>{
           {two + "v: [1, -1]\nmu: 3\n", "bad.yaml:6: 'mu' is given twice"},
           {two + "v: [1, -1]\nnames: [A, A]\n", "another contact is called 'A'"},
           {two + "v: [1, -1]\n[a]: 1\n", "a key must be a single word"},
           {two + "v: [1e300, -1e300]\n", "v: the kinetic energy"},
           {"mechanism:\n  bodies: [{name: a, mass: 1, inertia: 1, shapes: {h: {box: [1, 1]}}}]\n"
            "  planes: {g: {point: [0, -0.5], normal: [0, 1]}}\n  contacts:\n"
            "    - {name: A, between: [a.h.bottom_left, g], friction: 1}\n"
            "    - {name: A, between: [a.h.bottom_right, g], friction: 1}\n",
            "bad.yaml:6: mechanism.contacts[1].name: another contact is called 'A'"}}) {
    io::write_file(file, text);
    expect_refused({{"impact " + file, hint}});
  }
}

TEST_F(Options, AndExitCodesAreInTheHelp) {
  const Result help = run("--help");
  for (const char* code : {"0 done", "2 bad input", "3 not finished or not written", "130"})
    EXPECT_TRUE(says(help, code)) << help.out;
  const std::string impact = run("impact --help").out;
  const std::size_t group = impact.find("Of --law sequential or all:\n  --order");
  EXPECT_LT(group, impact.find("contacts in the order")) << impact;
  EXPECT_TRUE(says(run("simulate --help"), "Of --method time-stepping:\n  --step"));
}

}  // namespace
