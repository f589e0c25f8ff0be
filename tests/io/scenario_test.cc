#include "routh/io/scenario.h"

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "routh/io/document.h"
#include "routh/io/files.h"
#include "routh/io/results.h"

namespace routh::io {
namespace {

class ScenarioFile : public ::testing::Test {
 protected:
  std::string write(const std::string& text) {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    path_ = ::testing::TempDir() + "routh-" + test->name() + ".yaml";
    write_file(path_, text);
    return path_;
  }
  std::string failure(const std::string& text) {
    try {
      (void)impact_case(load_scenario(write(text)));
    } catch (const InputError& e) {
      return e.what();
    }
    return "";
  }
  void TearDown() override { std::filesystem::remove(path_); }

 private:
  std::string path_;
};

const std::string kMatrices =
    "M: [[1, 0], [0, 1]]\nJn: [[0, 1]]\nJt: [[1, 0]]\nmu: [0.5]\nv: [1, -1]\n";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

TEST(Scenario, SaysWhatItIs) {
  const Scenario block = load_scenario("rocking-block");
  EXPECT_TRUE(block.mechanism() && block.moving() == block.mechanism());
  EXPECT_EQ(block.picture(), block.mechanism());
  EXPECT_FALSE(block.model() || block.selected() || block.contact_space());
  // a system of P5 has a picture, but is no mechanism
  const Scenario plate = load_scenario("plate", {{"springs", 5}});
  ASSERT_TRUE(plate.selected());
  EXPECT_FALSE(plate.mechanism() || plate.moving() || plate.model());
  ASSERT_TRUE(plate.picture());
  EXPECT_EQ(plate.picture()->nq(), 3);
  EXPECT_EQ(plate.terms.contacts.size(), 5u);
  EXPECT_EQ(plate.run.simulation.method, "event-selected");
  EXPECT_FALSE(load_scenario("order-test").picture());
  EXPECT_THROW((void)load_scenario("plate", {{"mass", 0}}), InputError);
}

TEST(Scenario, EveryBuiltInOneIsAMechanismOrASystemAndThePapersImpactsApproach) {
  const std::vector<std::string> names = scenario_names();
  EXPECT_GE(names.size(), 17u);
  for (const std::string& name : names) {
    if (is_model(name) && !has_models()) continue;
    const Scenario s = load_scenario(name);
    EXPECT_TRUE(s.moving() || s.selected()) << name;
    EXPECT_NE(s.title, name);
    if (s.terms.joint_gap.size() > 0) {
      EXPECT_LT(s.terms.joint_gap.cwiseAbs().maxCoeff(), 1e-12) << name;
    }
  }
  for (const char* name : {"rocking-block", "compass-gait", "box-and-wall", "ramone", "disk-stack",
                           "rimless-wheel", "pushing", "three-point-landing"}) {
    const ImpactCase impact = impact_case(load_scenario(name));
    EXPECT_TRUE(impact.approaching()) << name;
    EXPECT_TRUE(impact.apart.empty()) << name;
    EXPECT_EQ(impact.names.front(), "A") << name;
  }
}

TEST(Scenario, ItemsRepeatWithTheirNumberInNamesAndExpressions) {
  const Scenario s = load_scenario("box-stack", {{"n", 3}});
  EXPECT_EQ(s.mechanism()->nv(), 9);
  EXPECT_EQ(s.mechanism()->bodies()[2].name, "box3");
  EXPECT_NEAR(s.q[7], 3 * 0.001 + 2.5 * 0.2, 1e-15);
  EXPECT_EQ(s.mechanism()->contacts().back().name, "under_right3");
}

TEST(Scenario, OverridesChangeParametersAndWhatFollowsFromThem) {
  const Scenario s = load_scenario("rocking-block", {{"width", 3}});
  EXPECT_NEAR(s.terms.M(2, 2), (9.0 + 4) / 12, 1e-15);
  EXPECT_THROW(load_scenario("rocking-block", {{"widht", 3}}), InputError);
}

TEST(Scenario, RamoneStandsAsInTableSeven) {
  const Scenario s = load_scenario("ramone");
  // the trailing knee that makes both feet touch and the trunk velocity that leaves the trailing
  // foot at rest
  EXPECT_NEAR(s.q[6] * 180 / std::numbers::pi, -92.48, 0.01);
  EXPECT_NEAR(s.v[0], -0.4114, 5e-5);
  EXPECT_NEAR(s.v[1], -0.2105, 5e-5);
}

TEST(Scenario, UnknownNamesGetASuggestion) {
  try {
    (void)load_scenario("rocking-blok");
    FAIL();
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find("rocking-block"), std::string::npos);
  }
}

TEST_F(ScenarioFile, PlainMatricesAreAnImpact) {
  const ImpactCase impact = impact_case(load_scenario(write(kMatrices)));
  EXPECT_EQ(impact.names, std::vector<std::string>{"A"});
  EXPECT_DOUBLE_EQ(impact.problem().c[0], -1);
}

TEST_F(ScenarioFile, BilateralRowsConstrainTheImpact) {
  const ImpactCase impact = impact_case(
      load_scenario(write(replaced(kMatrices, "v: [1, -1]", "v: [0, -1]\nA: [[1, 0]]"))));
  EXPECT_NEAR(impact.problem().G(1, 1), 0, 1e-15);
}

TEST_F(ScenarioFile, EveryMistakeInMatricesIsNamed) {
  const auto expect = [&](const std::string& from, const std::string& to, const std::string& hint) {
    const std::string what = failure(replaced(kMatrices, from, to));
    EXPECT_NE(what.find(hint), std::string::npos) << to << " gave: " << what;
  };
  expect("M: [[1, 0], [0, 1]]", "M: [[1, 0], [0, nan]]", "M[1][1]");
  expect("M: [[1, 0], [0, 1]]", "M: [[1, 0.5], [0, 1]]", "not symmetric");
  expect("M: [[1, 0], [0, 1]]", "M: [[1, 0], [0, -1]]", "not positive definite");
  expect("M: [[1, 0], [0, 1]]", "M: [[1]]", "M: is 1 x 1");
  expect("Jn: [[0, 1]]", "Jn: [[0, 1, 2]]", "Jn: has 3 columns");
  expect("Jt: [[1, 0]]", "Jt: [[1, 0], [1, 0], [1, 0]]", "Jt: has 3 rows");
  expect("mu: [0.5]", "mu: [0.5, 1]", "mu: has 2 entries");
  expect("mu: [0.5]", "mu: [-0.5]", "mu: friction");
  expect("v: [1, -1]", "v: [1, -1", "not valid YAML");
  expect("v: [1, -1]", "v: [1, -1]\nA: [[1, 0]]", "A v must be zero");
  expect("v: [1, -1]\n", "", "'v' is missing");
  expect("v: [1, -1]", "velocity: [1, -1]", "unknown field");
  expect("v: [1, -1]", "v: [1, -1]\nsteps: 3", "steps");
}

const std::string kMechanism = R"(
mechanism:
  bodies:
    - {name: box, mass: 1, inertia: 1, shapes: {hull: {box: [2, 1]}}}
  planes: {floor: {point: [0, 0], normal: [0, 1]}}
  contacts:
    - {name: A, between: [box.hull.bottom_left, floor], friction: 0.5}
start:
  q: {box.y: 0.5}
  v: {box.y: -1}
)";

TEST_F(ScenarioFile, EveryMistakeInAMechanismIsNamed) {
  EXPECT_EQ(failure(kMechanism), "");
  const auto expect = [&](const std::string& from, const std::string& to, const std::string& hint) {
    const std::string what = failure(replaced(kMechanism, from, to));
    EXPECT_NE(what.find(hint), std::string::npos) << to << " gave: " << what;
  };
  expect("mass: 1", "mass: -1", "mass must not be negative");
  expect("mass: 1", "masss: 1", "did you mean 'mass'");
  expect("box: [2, 1]", "box: [2, 0]", "must be positive");
  expect("hull.bottom_left", "hull.bottom", "first must be a corner");
  expect("hull.bottom_left", "hul.bottom_left", "no shape 'hul'");
  expect("hull.bottom_left, floor", "hull.bottom_left, flor", "no plane 'flor'");
  expect("friction: 0.5", "friction: -0.5", "friction must be");
  expect("box.y: 0.5", "box.z: 0.5", "no coordinate 'box.z'");
  expect("box.y: 0.5", "box.y: 0.4", "penetrates by 0.1");
  expect("box.y: 0.5", "box.y: 0.6", "no contact touches");
  expect("mass: 1, inertia: 1", "inertia: 1", "not positive definite");
}

TEST_F(ScenarioFile, ContactsThatDoNotTouchAreLeftOut) {
  const ImpactCase impact = impact_case(load_scenario(write(replaced(
      kMechanism, "friction: 0.5}",
      "friction: 0.5}\n    - {name: B, between: [box.hull.top_left, floor], friction: 0.5}"))));
  EXPECT_EQ(impact.names, std::vector<std::string>{"A"});
  EXPECT_EQ(impact.apart, std::vector<std::string>{"B"});
}

/// A list, or a list of lists, of YAML.
std::string yaml(const Eigen::MatrixXd& m) {
  const Eigen::IOFormat rows(Eigen::FullPrecision, Eigen::DontAlignCols, ", ", ", ", "[", "]", "[",
                             "]");
  std::ostringstream text;
  text << (m.cols() == 1 ? Eigen::MatrixXd(m.transpose()) : m).format(rows);
  return m.cols() == 1 ? text.str().substr(1, text.str().size() - 2) : text.str();
}

// The same impact by its mechanism and in contact space, rows in either order.
TEST_F(ScenarioFile, InContactSpaceHasTheOutcomesOfItsMechanism) {
  for (const char* name : {"rocking-block", "compass-gait", "thrown-box"}) {
    if (is_model(name) && !has_models()) continue;
    Scenario scenario = load_scenario(name);
    scenario.run.edges = kEdges;
    const ImpactCase by_mechanism = impact_case(scenario);
    const ImpactProblem& p = by_mechanism.problem();
    const int m = p.contacts(), k = 1 + p.tangents, n = k * m;
    std::vector<int> turn(n);  // where the row of a contact stands
    for (int i = 0; i < m; ++i) {
      turn[k * i] = i;
      for (int t = 0; t < p.tangents; ++t) turn[k * i + 1 + t] = p.tangent(i) + t;
    }
    const ImpactReport expected = report_simultaneous(by_mechanism, {});
    for (const bool in_turn : {false, true}) {
      const Eigen::MatrixXd G = in_turn ? Eigen::MatrixXd(p.G(turn, turn)) : p.G;
      const Eigen::VectorXd c = in_turn ? Eigen::VectorXd(p.c(turn)) : p.c;
      Scenario given =
          load_scenario(write("G: " + yaml(G) + "\nc: " + yaml(c) + "\nmu: " + yaml(p.mu) +
                              "\ntangents: " + std::to_string(p.tangents) +
                              (in_turn ? "\norder: by_contact\n" : "\n")));
      given.run.edges = kEdges;
      const ImpactCase impact = impact_case(given);
      EXPECT_EQ(impact.problem().tangents, p.tangents);
      const ImpactReport report = report_simultaneous(impact, {});
      ASSERT_EQ(report.outcomes.size(), expected.outcomes.size()) << name;
      for (std::size_t r = 0; r < report.outcomes.size(); ++r) {
        EXPECT_LT((report.outcomes[r].outcome.c_plus - expected.outcomes[r].outcome.c_plus).norm(),
                  1e-9);
        EXPECT_NEAR(report.outcomes[r].energy - report.outcomes[0].energy,
                    expected.outcomes[r].energy - expected.outcomes[0].energy, 1e-9);
      }
    }
  }
}

TEST_F(ScenarioFile, InContactSpaceNamesWhatIsWrong) {
  const std::string good = "G: [[1, 0], [0, 1]]\nc: [-1, 0]\nmu: 0.5\n";
  EXPECT_EQ(failure(good), "");
  const std::vector<std::array<std::string, 3>> cases{
      {"G: [[1, 0], [0, 1]]", "G: [[1, 0, 0], [0, 1, 0]]", "G must be 2 x 2"},
      {"G: [[1, 0], [0, 1]]", "G: [[1, 2], [0, 1]]", "symmetric"},
      {"G: [[1, 0], [0, 1]]", "G: [[1, 2], [2, 1]]", "eigenvalue -1"},
      {"c: [-1, 0]", "c: [-1, 0, 0]", "c: has 3 entries"},
      {"c: [-1, 0]", "c: []", "c"},
      {"mu: 0.5", "mu: [0.5, 0.5]", "there are 1 contacts"},
      {"mu: 0.5", "mu: -1", "negative"},
      {"mu: 0.5", "mu: 1e300", "above 1e12"},
      {"mu: 0.5", "mu: 0.5\ntangents: 3", "1 (planar) or 2"},
      {"mu: 0.5", "mu: 0.5\norder: by_row", "by_contact"},
      {"mu: 0.5", "mu: 0.5\nJn: [[1, 0]]", "Jn"}};
  for (const auto& [from, to, hint] : cases)
    EXPECT_NE(failure(replaced(good, from, to)).find(hint), std::string::npos)
        << to << " said: " << failure(replaced(good, from, to));
}

}  // namespace
}  // namespace routh::io
