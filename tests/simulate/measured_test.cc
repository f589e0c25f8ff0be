// Measured impacts: what is made by a known law with known noise must be found again.

#include "routh/simulate/measured.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <random>

namespace routh {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

/// A plate of unit mass thrown on one corner or on two, in the plane.
std::vector<MeasuredImpact> thrown(int count, int contacts, std::mt19937& random) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<MeasuredImpact> impacts;
  while (static_cast<int>(impacts.size()) < count) {
    MeasuredImpact m{.name = std::to_string(impacts.size()),
                     .group = static_cast<int>(impacts.size())};
    m.M = Vector3d(1, 1, 0.1).asDiagonal();
    m.contacts = contacts;
    m.J.resize(2 * contacts, 3);
    for (int i = 0; i < contacts; ++i) {
      const double x = contacts == 1 ? 0.5 * uniform(random) : i - 0.5;
      m.J.row(i) << 0, 1, x;
      m.J.row(contacts + i) << 1, 0, 0.2;
    }
    m.v_minus = Vector3d(2 * uniform(random), -2 + uniform(random), uniform(random));
    if ((m.J * m.v_minus).head(contacts).maxCoeff() < -0.2) impacts.push_back(m);
  }
  return impacts;
}

void give(MeasuredImpact& m, const VectorXd& v, double noise, std::mt19937& random) {
  std::normal_distribution<double> normal(0, noise);
  m.sigma = Vector3d(1, 1, 1 / std::sqrt(0.1)) * noise;
  m.v_plus = v;
  for (int i = 0; i < 3; ++i) m.v_plus[i] += normal(random) * m.sigma[i] / noise;
}

bool same(double a, double b) { return std::abs(a - b) <= 1e-12; }

TEST(Measured, FrictionAndRestitutionThatMadeTheImpactsAreFoundAgain) {
  std::mt19937 random(1);
  const auto laws = measured_laws(50, 1);
  for (const Restitution means :
       {Restitution::kStronge, Restitution::kPoisson, Restitution::kNewton}) {
    std::vector<MeasuredImpact> impacts = thrown(60, 1, random);
    const ContactParameters truth{0.17, 0.43, means};
    const double noise = 0.01;
    for (MeasuredImpact& m : impacts) give(m, laws[1].predict(m, truth)[0].v, noise, random);
    const ContactFit fit = fit_contact(impacts, laws[1], means);
    EXPECT_NEAR(fit.parameters.mu, truth.mu, 0.02) << to_string(means);
    EXPECT_NEAR(fit.parameters.e, truth.e, 0.02) << to_string(means);
    // three components of this noise
    EXPECT_NEAR(fit.distance, std::sqrt(3) * noise, 0.5 * noise);
    EXPECT_NEAR(noise_of(impacts[0]), std::sqrt(3) * noise, 1e-12);
  }
}

TEST(Measured, WithoutNoiseTheFitIsTheTruthNotTheNearestOfAGrid) {
  std::mt19937 random(6);
  const auto laws = measured_laws(2, 1);
  for (const ContactParameters truth : {ContactParameters{0.1234, 0.4321, Restitution::kStronge},
                                        ContactParameters{0.789, 0.0567, Restitution::kPoisson}}) {
    std::vector<MeasuredImpact> impacts = thrown(80, 1, random);
    for (MeasuredImpact& m : impacts) m.v_plus = laws[1].predict(m, truth)[0].v;
    const ContactFit fit = fit_contact(impacts, laws[1], truth.restitution);
    EXPECT_NEAR(fit.parameters.mu, truth.mu, 1e-4);
    EXPECT_NEAR(fit.parameters.e, truth.e, 1e-4);
    EXPECT_LT(fit.distance, 1e-4);
  }
}

// A biped lands on both feet always: the nearest order of two contacts has to do.
TEST(Measured, WhereNoImpactHasOneContactThoseWithTheFewestAreFittedTo) {
  std::mt19937 random(7);
  const auto laws = measured_laws(2, 1);
  std::vector<MeasuredImpact> impacts = thrown(60, 2, random);
  for (std::size_t k = 0; k < impacts.size(); ++k) {
    const auto outcomes = laws[1].predict(impacts[k], {0.3, 0.6});
    impacts[k].v_plus = outcomes[k % outcomes.size()].v;
  }
  const MeasuredStudy s = study(impacts, {.samples = 2, .most = 10});
  EXPECT_EQ(s.fitted_contacts, 2);
  EXPECT_EQ(s.fitted, 30u);
  EXPECT_NEAR(s.fits[0].fit.parameters.mu, 0.3, 0.01);
  EXPECT_NEAR(s.fits[0].fit.parameters.e, 0.6, 0.01);
  // a half without impacts is no half
  for (MeasuredImpact& m : impacts) m.group = 1;
  EXPECT_THROW((void)study(impacts, {.samples = 2}), std::invalid_argument);
  for (MeasuredImpact& m : impacts) m.group = 2;
  EXPECT_THROW((void)study(impacts, {.samples = 2}), std::invalid_argument);
  EXPECT_THROW((void)study({}, {.samples = 2}), std::invalid_argument);
}

// With which contact the nearest order begins says something only beside the controls.
TEST(Measured, BeginningsAreHeldAgainstThoseOfControls) {
  std::mt19937 random(8);
  const auto laws = measured_laws(2, 1);
  int second = 0, says = 0;
  double chance = 0;
  for (MeasuredImpact& m : thrown(150, 2, random)) {
    const auto outcomes = laws[1].predict(m, {0.2, 0.5});
    for (const PredictedOutcome& o : outcomes) {
      if (o.begins == 1) m.v_plus = o.v;
    }
    if (m.v_plus.size() == 0) continue;
    const MeasuredDistance d = measure(m, outcomes, random());
    if (d.begins < 0) continue;
    ASSERT_EQ(d.control_begins.size(), d.controls.size());
    if (d.controls.empty()) continue;
    ++says, second += d.begins == 1;
    chance += static_cast<double>(std::count(d.control_begins.begin(), d.control_begins.end(), 1)) /
              static_cast<double>(d.controls.size());
  }
  EXPECT_GT(says, 30);
  EXPECT_EQ(second, says);
  EXPECT_LT(chance, 0.9 * says);
}

TEST(Measured, WhereEveryImpactTakesAnOrderOfItsOwnTheSetIsNearerThanItsControl) {
  std::mt19937 random(2);
  std::vector<MeasuredImpact> impacts = thrown(60, 1, random), twice = thrown(80, 2, random);
  const auto laws = measured_laws(300, 1), others = measured_laws(1, 99);
  const ContactParameters truth{0.2, 0.4};
  for (MeasuredImpact& m : impacts) give(m, laws[1].predict(m, truth)[0].v, 1e-3, random);
  for (std::size_t k = 0; k < twice.size(); ++k) {
    // one sample of the set, another one each time
    const auto outcomes = measured_laws(1, 1000 + k)[2].predict(twice[k], truth);
    give(twice[k], outcomes.front().v, 1e-3, random);
  }
  impacts.insert(impacts.end(), twice.begin(), twice.end());
  const MeasuredStudy s = study(impacts, {.samples = 300, .most = 40});
  ASSERT_EQ(s.laws.size(), 5u);
  EXPECT_NEAR(s.fits[0].fit.parameters.mu, 0.2, 0.02);
  EXPECT_NEAR(s.fits[0].fit.parameters.e, 0.4, 0.02);
  std::vector<double> near, at_once;
  std::vector<const MeasuredDistance*> distances;
  for (const StudyRow& row : s.rows) {
    if (impacts[row.impact].contacts != 2) continue;
    at_once.push_back(row.laws[0].nearest);
    near.push_back(row.laws[2].nearest);
    distances.push_back(&row.laws[2]);
  }
  EXPECT_EQ(near.size(), 40u);
  EXPECT_LT(median(near), 0.3 * median(at_once));
  EXPECT_LT(rank_test(distances, same).chance, 1e-3);
}

// The nearest of several outcomes never is farther than the first: what is chosen after the fact
// must not look like evidence.
TEST(Measured, ErrorsInRandomDirectionsAreNoNearerThanTheirControls) {
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  const auto laws = measured_laws(40, 1);
  const ContactParameters truth{0.2, 0.4};
  std::vector<std::vector<MeasuredDistance>> all(2);
  for (MeasuredImpact& m : thrown(250, 2, random)) {
    for (const int which : {1, 2}) {
      const auto outcomes = laws[which].predict(m, truth);
      // an error of half the spread of outcomes, wherever energy does not grow and nothing
      // approaches
      const auto possible = [&] {
        return energy_kept(m) <= 1 && (m.J.topRows(2) * m.v_plus).minCoeff() >= 0;
      };
      for (int tries = 0; tries < 100; ++tries) {
        Vector3d error(normal(random), normal(random), normal(random) / std::sqrt(0.1));
        m.v_plus = outcomes[0].v + 0.3 * error / std::sqrt(error.dot(m.M * error));
        if (possible()) break;
      }
      if (possible()) all[which - 1].push_back(measure(m, outcomes, random()));
    }
  }
  for (const std::vector<MeasuredDistance>& of_law : all) {
    ASSERT_GT(of_law.size(), 150u);
    std::vector<const MeasuredDistance*> distances;
    for (const MeasuredDistance& d : of_law) distances.push_back(&d);
    const RankTest test = rank_test(distances, same);
    EXPECT_NEAR(test.farther, 0.5, 0.08);
    EXPECT_GT(test.chance, 0.01);
    EXPECT_LT(test.chance, 0.99);
  }
}

TEST(Measured, AMeasurementThatAContactCannotMakeIsUnexplainedAndEnergyIsKept) {
  std::mt19937 random(3);
  MeasuredImpact m = thrown(1, 1, random)[0];
  m.v_plus = m.v_minus + m.M.inverse() * m.J.transpose() * Eigen::Vector2d(0.7, -0.1);
  EXPECT_NEAR(unexplained(m), 0, 1e-12);
  // across both rows in the metric of M
  const Eigen::Vector3d off = Eigen::FullPivLU<MatrixXd>(m.J).kernel().col(0);
  m.v_plus += off;
  EXPECT_NEAR(unexplained(m), std::sqrt(off.dot(m.M * off)), 1e-9);
  m.v_plus = 0.5 * m.v_minus;
  EXPECT_NEAR(energy_kept(m), 0.25, 1e-12);
}

TEST(Measured, TheChanceOfRanksIsThatOfAPlaceDrawnAmongThem) {
  const auto test = [](const std::vector<MeasuredDistance>& of) {
    std::vector<const MeasuredDistance*> distances;
    for (const MeasuredDistance& d : of) distances.push_back(&d);
    return rank_test(distances, same);
  };
  // one control each: a coin
  const MeasuredDistance nearer{.nearest = 1, .controls = {2}},
      farther{.nearest = 3, .controls = {2}}, tie{.nearest = 2, .controls = {2}};
  EXPECT_NEAR(test(std::vector<MeasuredDistance>(10, nearer)).chance, std::pow(0.5, 10), 1e-15);
  EXPECT_NEAR(test({nearer, farther}).chance, 0.75, 1e-15);
  EXPECT_EQ(test({tie, tie}).chance, 1);
  EXPECT_EQ(test({tie, tie}).ties, 2);
  EXPECT_EQ(test({tie, nearer}).farther, 0.75);
  // the second of four places
  EXPECT_NEAR(test({{.nearest = 1, .controls = {0, 2, 3}}}).chance, 0.5, 1e-15);
  // two of three controls tie with the nearest outcome itself, one is farther
  EXPECT_NEAR(test({{.nearest = 1, .controls = {1, 1, 2}}}).chance, 0.75, 1e-15);
  EXPECT_EQ(test({}).chance, 1);
}

TEST(Measured, AMedianOfNothingIsNoNumber) {
  EXPECT_TRUE(std::isnan(median({})));
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({3, 1, 2, 10}), 2.5);
  EXPECT_EQ(median({1, HUGE_VAL}), HUGE_VAL);
}

}  // namespace
}  // namespace routh
