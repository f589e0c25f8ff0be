#include "routh/event_selected/systems.h"

#include <gtest/gtest.h>

#include "routh/event_selected/integrate.h"

namespace routh::event_selected {
namespace {

using Eigen::Vector2d;

Options tight(Options options) {
  options.step = {.rtol = 1e-12, .atol = 1e-13};
  return options;
}

TEST(Hopper, ClosedFormObeysTheEquationsOfMotion) {
  const Hopper hopper{.stiffness_over_mass = 80, .length = 0.7, .height = 1.9};
  Crossed crossed(2);
  double last = hopper.energy(hopper.start());
  for (double t = 0.011; t < 4; t += 0.0137) {
    const Vector2d x = hopper.exact(t), ahead = hopper.exact(t + 1e-6),
                   behind = hopper.exact(t - 1e-6);
    EXPECT_NEAR(hopper.energy(x), last, 1e-10);
    crossed << (x[0] < hopper.length), (x[0] >= hopper.length);
    Vector2d dx;
    hopper.field(x, crossed, dx);
    EXPECT_NEAR((ahead - behind)[0] / 2e-6, dx[0], 1e-6);
    EXPECT_NEAR((ahead - behind)[1] / 2e-6, dx[1], 1e-3);
  }
}

TEST(Hopper, HopsForTenMinutesAndKeepsItsEnergy) {
  Hopper hopper;
  const auto s = integrate(hopper, hopper.start(),
                           tight({.exact = true, .t_end = 600, .reset = Hopper::reset()}));
  ASSERT_TRUE(s.finished()) << describe(s, {});
  EXPECT_GT(s.counts.events, 900);
  EXPECT_NEAR(hopper.energy(s.x) / hopper.energy(hopper.start()), 1, 1e-9);
  EXPECT_LT((s.x - hopper.exact(600)).norm(), 1e-5);
  // touchdown and lift-off alternate
  for (std::size_t i = 0; i < s.events.size(); ++i)
    ASSERT_EQ(s.events[i].guard, static_cast<int>(i % 2));
}

TEST(Hopper, ProjectionsKeepTheEnergyToTheOrderOfEps) {
  Hopper hopper;
  double drift[2];
  for (int i = 0; i < 2; ++i) {
    const double eps = i == 0 ? 1e-3 : 1e-4;
    const auto s = integrate(hopper, hopper.start(),
                             tight({.eps = eps, .t_end = 60, .reset = Hopper::reset()}));
    ASSERT_TRUE(s.finished());
    drift[i] = std::abs(hopper.energy(s.x) - hopper.energy(hopper.start()));
    EXPECT_EQ(s.counts.projections, s.counts.events);
  }
  EXPECT_LT(drift[0], 1e-2);
  EXPECT_LT(drift[1], drift[0] / 50);
}

TEST(Hopper, ATouchShallowerThanEpsIsNotLost) {
  // the leg is pressed by less than eps: lift-off is met before it ever leaves its neighbourhood
  Hopper hopper{.stiffness_over_mass = 1e4, .height = 1.001};
  const auto s =
      integrate(hopper, hopper.start(),
                tight({.eps = 0.01, .t_end = 1, .reset = Hopper::reset(), .sample_every = 1e-3}));
  ASSERT_TRUE(s.finished());
  EXPECT_GT(s.counts.events, 5);
  for (std::size_t i = 0; i < s.events.size(); ++i)
    EXPECT_EQ(s.events[i].guard, static_cast<int>(i % 2));
  for (const Vector2d& x : s.states) EXPECT_NEAR(x[0], 1, 0.01);

  const auto exact = integrate(hopper, hopper.start(),
                               tight({.exact = true, .t_end = 1, .reset = Hopper::reset()}));
  EXPECT_LT((exact.x - hopper.exact(1)).norm(), 1e-8);
}

TEST(Plate, ForceIsTheSumOverTheTouchingSprings) {
  Plate plate({.springs = 7, .damping = 3, .mass = 1.3, .inertia = 0.6});
  const auto& p = plate.parameters();
  const Plate::State x = (Plate::State() << 0.1, 0.95, -0.07, 0.2, -1.1, 0.4).finished();
  Crossed crossed = Crossed::Constant(14, false);
  crossed.head(7) << true, false, true, true, false, false, true;
  plate.select(crossed, -1);
  Plate::State dx;
  plate.field(x, crossed, dx);

  Eigen::Vector3d force(0, -p.mass * p.gravity, 0);
  for (int i = 0; i < 7; ++i) {
    if (!crossed[i]) continue;
    const double at = -1 + 2 * i / 6.0, t = std::tan(x[2]), s = 1 / std::pow(std::cos(x[2]), 2);
    const Eigen::RowVector3d Dh(t, -1, s * (x[0] - at));
    const double h = p.length + t * (x[0] - at) - x[1], hdot = Dh * x.tail<3>();
    force -= (p.stiffness / 7 * h + p.damping / 7 * hdot) * Dh.transpose();
    EXPECT_NEAR(plate.guard(x, i), h, 1e-15);
    EXPECT_NEAR(plate.rate(x, dx, 7 + i), -hdot, 1e-15);
  }
  EXPECT_TRUE(dx.head<3>().isApprox(x.tail<3>()));
  EXPECT_TRUE(dx.tail<3>().isApprox(
      Eigen::Vector3d(force.array() / Eigen::Array3d(p.mass, p.mass, p.inertia)), 1e-13));

  // all values at once are the single ones, and crossing changes what it should
  Eigen::VectorXd h(14), hdot(14);
  plate.guards(x, h), plate.rates(x, dx, hdot);
  for (int k = 0; k < 14; ++k) {
    EXPECT_NEAR(h[k], plate.guard(x, k), 1e-15);
    EXPECT_NEAR(hdot[k], plate.rate(x, dx, k), 1e-15);
  }
  Plate again(p);
  again.select(Crossed::Constant(14, false), -1);
  for (const int k : {0, 2, 3, 4, 6, 7 + 4}) again.select(crossed, k);
  Plate::State same;
  again.field(x, crossed, same);
  EXPECT_EQ(same, dx);
}

TEST(Plate, KeepsItsEnergyWithoutDampingAndLosesItWithDamping) {
  for (const int springs : {2, 30, 100}) {
    Plate plate({.springs = springs});
    const auto s =
        integrate(plate, plate.start(), tight({.exact = true, .t_end = 2, .reset = plate.reset()}));
    ASSERT_TRUE(s.finished()) << describe(s, {});
    EXPECT_GE(s.counts.events, 3 * springs);
    const double start = plate.energy(plate.start(), Crossed::Constant(2 * springs, false));
    EXPECT_NEAR(plate.energy(s.x, s.crossed), start, 1e-8 * start);

    Plate damped({.springs = springs, .damping = 4});
    const auto d = integrate(damped, damped.start(),
                             tight({.exact = true, .t_end = 2, .reset = damped.reset()}));
    ASSERT_TRUE(d.finished()) << describe(d, {});
    EXPECT_LT(damped.energy(d.x, d.crossed), 0.8 * start);
  }
}

TEST(Plate, AFlatPlateOnTwoSpringsIsTheHopper) {
  // springs of 200 N/m in all under 1 kg: k/m = 200
  Plate plate({.springs = 2, .height = 2, .angle = 0});
  Hopper hopper{.stiffness_over_mass = 200};
  const auto s =
      integrate(plate, plate.start(), tight({.exact = true, .t_end = 3, .reset = plate.reset()}));
  ASSERT_TRUE(s.finished());
  EXPECT_NEAR(s.x[1], hopper.exact(3)[0], 1e-9);
  EXPECT_NEAR(s.x[4], hopper.exact(3)[1], 1e-8);
  EXPECT_EQ(s.x[2], 0);
}

TEST(Plate, ProjectionsConvergeToExactLocation) {
  Plate plate({.springs = 20, .damping = 4});
  const auto exact =
      integrate(plate, plate.start(), tight({.exact = true, .t_end = 1, .reset = plate.reset()}));
  double error[2];
  for (int i = 0; i < 2; ++i) {
    const auto s =
        integrate(plate, plate.start(),
                  tight({.eps = i == 0 ? 1e-4 : 1e-5, .t_end = 1, .reset = plate.reset()}));
    ASSERT_TRUE(s.finished());
    error[i] = (s.x - exact.x).norm();
  }
  EXPECT_LT(error[0], 1e-3);
  EXPECT_NEAR(std::log10(error[0] / error[1]), 2, 0.2);
}

TEST(Plate, TheModelEndsWhereThePlateStandsUpright) {
  Plate plate({.springs = 2});
  const Plate::State spinning = (Plate::State() << 0, 5, 0, 0, 0, 20).finished();
  const auto s = integrate(plate, spinning, {.t_end = 2, .reset = plate.reset()});
  EXPECT_EQ(s.status, Status::kNotFinite);
  EXPECT_NEAR(std::abs(s.x[2]), M_PI / 2, 1e-3);
}

/// The plate without the hint which springs can be next: every guard is looked at.
struct PlainPlate {
  using State = Plate::State;
  Plate plate;
  void select(const Crossed& crossed, int k) { plate.select(crossed, k); }
  void field(const State& x, const Crossed& crossed, State& dx) { plate.field(x, crossed, dx); }
  void guards(const State& x, Eigen::VectorXd& h) { plate.guards(x, h); }
  void rates(const State& x, const State& dx, Eigen::VectorXd& hdot) { plate.rates(x, dx, hdot); }
};

TEST(Plate, LookingAtTheNextSpringsOnlyFindsTheSameEventsAsLookingAtAll) {
  for (const bool exact : {false, true})
    for (const double angle : {-0.08, 0.0, 0.003, 0.06})
      for (const double eps : {1e-4, 3e-3, 0.05}) {
        Plate plate({.springs = eps < 1e-3 ? 2 : 23, .damping = 4, .angle = angle});
        PlainPlate plain{plate};
        const Options options =
            tight({.eps = eps, .exact = exact, .t_end = 2, .reset = plate.reset()});
        const auto few = integrate(plate, plate.start(), options);
        const auto all = integrate(plain, plate.start(), options);
        ASSERT_TRUE(few.finished() && all.finished());
        // springs met at the same instant may come in any order
        ASSERT_EQ(few.events.size(), all.events.size());
        for (std::size_t i = 0; i < few.events.size(); ++i)
          EXPECT_NEAR(few.events[i].time, all.events[i].time, 1e-8);
        EXPECT_LT((few.x - all.x).norm(), 1e-6);
        EXPECT_EQ(few.counts.projections, all.counts.projections);
      }
}

TEST(Plate, FinishesForAnyEps) {
  for (double eps = 1e-3; eps < 0.3; eps *= 1.1)
    for (const int springs : {5, 20, 50})
      for (const double damping : {0.0, 4.0}) {
        Plate plate({.springs = springs, .damping = damping});
        const Options options{.eps = eps,
                              .t_end = 2,
                              .reset = plate.reset(),
                              .step = {.rtol = 1e-6, .atol = 1e-6},
                              .sample_every = 0.02};
        const auto s = integrate(plate, plate.start(), options);
        EXPECT_TRUE(s.finished()) << "eps " << eps << ", " << springs
                                  << " springs: " << describe(s, options);
        EXPECT_TRUE(std::is_sorted(s.times.begin(), s.times.end()));
        EXPECT_EQ(s.times.size(), 101 + s.events.size());
      }
}

TEST(Plate, RefusesParametersThatAreNoPlate) {
  EXPECT_THROW(Plate({.springs = 0}), std::invalid_argument);
  EXPECT_THROW(Plate({.stiffness = -1}), std::invalid_argument);
  EXPECT_THROW(Plate({.damping = -1}), std::invalid_argument);
  EXPECT_THROW(Plate({.mass = 0}), std::invalid_argument);
  EXPECT_THROW(Plate({.inertia = 0}), std::invalid_argument);
  EXPECT_THROW(Plate({.angle = 2}), std::invalid_argument);
}

}  // namespace
}  // namespace routh::event_selected
