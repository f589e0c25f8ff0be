#include "siconos_stack.h"

#include <SolverOptions.h>
#include <dlfcn.h>

#include <SiconosKernel.hpp>
#include <algorithm>
#include <cmath>

namespace routh::bench {
namespace {

// Lemke is faster, but on some stacks returns success with boxes that fly away
constexpr int kSolver = SICONOS_FRICTION_2D_NSGS;

/// OpenBLAS hands even problems of twenty rows to all cores, which makes Siconos several times
/// slower.
void use_one_thread() {
  if (void* set = dlsym(RTLD_DEFAULT, "openblas_set_num_threads")) {
    reinterpret_cast<void (*)(int)>(set)(1);
  }
}

/// Counts the problems its solver gives up on, instead of printing a warning for each.
class CountingStepping : public TimeStepping {
 public:
  CountingStepping(SP::NonSmoothDynamicalSystem system, double h)
      : TimeStepping(system, std::make_shared<TimeDiscretisation>(0., h),
                     std::make_shared<MoreauJeanOSI>(0.5),
                     std::make_shared<FrictionContact>(2, kSolver)) {
    setNewtonOptions(SICONOS_TS_LINEAR);
    setCheckSolverFunction([](int status, Simulation* simulation) {
      if (status != 0) ++static_cast<CountingStepping*>(simulation)->unsolved;
    });
  }
  long unsolved = 0;
};

/// A corner at `corner` of the upper box on the floor:
///   y = height of the corner,  ẏ = its velocity upwards and to the right.
class OnFloor : public LagrangianScleronomousR {
 public:
  explicit OnFloor(Eigen::Vector2d corner) : corner_(std::move(corner)) {
    _jachq = std::make_shared<SimpleMatrix>(2, 3);
  }

  void computeh(const BlockVector& q, BlockVector&, SiconosVector& y) override {
    y.setValue(0, q(1) + arm(q(2)).y());
  }

  void computeJachq(const BlockVector& q, BlockVector&) override {
    const Eigen::Vector2d r = arm(q(2));
    SimpleMatrix& J = *_jachq;
    J(0, 0) = 0, J(0, 1) = 1, J(0, 2) = r.x();
    J(1, 0) = 1, J(1, 1) = 0, J(1, 2) = -r.y();
  }

 private:
  Eigen::Vector2d arm(double angle) const {
    const double c = std::cos(angle), s = std::sin(angle);
    return {c * corner_.x() - s * corner_.y(), s * corner_.x() + c * corner_.y()};
  }

  Eigen::Vector2d corner_;
};

/// The same on the top edge of the box below, whose coordinates come first:
///   y = n · (corner - centre below) - height/2,  n and t across and along the edge.
class OnBox : public LagrangianScleronomousR {
 public:
  OnBox(Eigen::Vector2d corner, double top) : corner_(std::move(corner)), top_(top) {
    _jachq = std::make_shared<SimpleMatrix>(2, 6);
  }

  void computeh(const BlockVector& q, BlockVector&, SiconosVector& y) override {
    place(q);
    y.setValue(0, n_.dot(r_below_) - top_);
  }

  void computeJachq(const BlockVector& q, BlockVector&) override {
    place(q);
    fill_row(0, n_);
    fill_row(1, t_);
  }

 private:
  void place(const BlockVector& q) {
    const SiconosVector &below = *q.getAllVect()[0], &above = *q.getAllVect()[1];
    const double c = std::cos(above(2)), s = std::sin(above(2));
    r_above_ = {c * corner_.x() - s * corner_.y(), s * corner_.x() + c * corner_.y()};
    r_below_ = {above(0) - below(0) + r_above_.x(), above(1) - below(1) + r_above_.y()};
    t_ = {std::cos(below(2)), std::sin(below(2))};
    n_ = {-t_.y(), t_.x()};
  }

  void fill_row(int row, const Eigen::Vector2d& d) {
    SimpleMatrix& J = *_jachq;
    J(row, 0) = -d.x(), J(row, 1) = -d.y();
    J(row, 2) = -(r_below_.x() * d.y() - r_below_.y() * d.x());
    J(row, 3) = d.x(), J(row, 4) = d.y();
    J(row, 5) = r_above_.x() * d.y() - r_above_.y() * d.x();
  }

  Eigen::Vector2d corner_;
  double top_;
  Eigen::Vector2d r_above_, r_below_, n_, t_;  // at the last configuration
};

class SiconosStack : public StackCode {
 public:
  SiconosStack(const Stack& stack, double h)
      : system_(std::make_shared<NonSmoothDynamicalSystem>(0, 1e6)) {
    use_one_thread();
    add_boxes(stack);
    add_contacts(stack);
    stepping_ = std::make_shared<CountingStepping>(system_, h);
  }

  std::string name() const override { return "Siconos"; }
  void run(int steps) override {
    for (int i = 0; i < steps; ++i) {
      stepping_->computeOneStep();
      stepping_->nextStep();
    }
  }
  Eigen::VectorXd q() const override {
    return collect([](const LagrangianDS& box) { return box.q(); });
  }
  Eigen::VectorXd v() const override {
    return collect([](const LagrangianDS& box) { return box.velocity(); });
  }
  int contacts() const override {
    return static_cast<int>(
        std::count_if(interactions_.begin(), interactions_.end(),
                      [](const auto& i) { return i->lambda(1)->getValue(0) > 0; }));
  }
  double penetration() const override {
    double deepest = 0;
    for (const auto& i : interactions_) deepest = std::max(deepest, -i->y(0)->getValue(0));
    return deepest;
  }
  long unsolved() const override { return stepping_->unsolved; }

 private:
  void add_boxes(const Stack& stack) {
    for (std::size_t i = 0; i < stack.boxes.size(); ++i) {
      const Box& box = stack.boxes[i];
      const auto q = std::make_shared<SiconosVector>(3), v = std::make_shared<SiconosVector>(3);
      for (unsigned k = 0; k < 3; ++k) {
        const auto at = static_cast<Eigen::Index>(3 * i + k);
        q->setValue(k, stack.q[at]), v->setValue(k, stack.v[at]);
      }
      const auto M = std::make_shared<SimpleMatrix>(3, 3);
      M->zero();
      M->setValue(0, 0, box.mass), M->setValue(1, 1, box.mass), M->setValue(2, 2, box.inertia);
      const auto weight = std::make_shared<SiconosVector>(3);
      weight->zero();
      weight->setValue(1, -box.mass * stack.gravity);
      boxes_.push_back(std::make_shared<LagrangianLinearTIDS>(q, v, M));
      boxes_.back()->setFExtPtr(weight);
      system_->insertDynamicalSystem(boxes_.back());
    }
  }

  void add_contacts(const Stack& stack) {
    const auto law = std::make_shared<NewtonImpactFrictionNSL>(0., 0., stack.mu, 2);
    for (std::size_t i = 0; i < stack.boxes.size(); ++i) {
      for (const double side : {-0.5, 0.5}) {
        const Eigen::Vector2d corner(side * stack.boxes[i].width, -stack.boxes[i].height / 2);
        if (i == 0) {
          interactions_.push_back(
              std::make_shared<Interaction>(law, std::make_shared<OnFloor>(corner)));
          system_->link(interactions_.back(), boxes_[i]);
        } else {
          interactions_.push_back(std::make_shared<Interaction>(
              law, std::make_shared<OnBox>(corner, stack.boxes[i - 1].height / 2)));
          system_->link(interactions_.back(), boxes_[i - 1], boxes_[i]);
        }
      }
    }
  }

  template <typename Part>
  Eigen::VectorXd collect(Part part) const {
    Eigen::VectorXd all(3 * static_cast<Eigen::Index>(boxes_.size()));
    Eigen::Index k = 0;
    for (const auto& box : boxes_) {
      for (unsigned i = 0; i < 3; ++i) all[k++] = part(*box)->getValue(i);
    }
    return all;
  }

  std::shared_ptr<NonSmoothDynamicalSystem> system_;
  std::vector<std::shared_ptr<LagrangianDS>> boxes_;
  std::vector<std::shared_ptr<Interaction>> interactions_;
  std::shared_ptr<CountingStepping> stepping_;
};

}  // namespace

std::unique_ptr<StackCode> siconos_stack(const Stack& stack, double h) {
  return std::make_unique<SiconosStack>(stack, h);
}

std::string siconos_settings() {
  const std::unique_ptr<SolverOptions, decltype(&solver_options_delete)> options(
      solver_options_create(kSolver), &solver_options_delete);
  return "Siconos: Moreau-Jean integrator with theta 0.5, NSGS solver to " +
         std::to_string(options->dparam[SICONOS_DPARAM_TOL]) + " in at most " +
         std::to_string(options->iparam[SICONOS_IPARAM_MAX_ITER]) + " iterations, one thread";
}

}  // namespace routh::bench
