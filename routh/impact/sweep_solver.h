#pragma once

#include <Eigen/Core>
#include <utility>
#include <vector>

#include "routh/impact/modes.h"

namespace routh {

/// One solution of the step problem P1 (72)-(74) of many contacts in space, whose modes are too
/// many to enumerate. Contact after contact is solved exactly with the others held fast, in sweeps
/// (block Gauss-Seidel); once a sweep changes no mode, the linear equations of the modes give the
/// solution to rounding. Redundant rows are met with a small diagonal and iterative refinement:
/// impulses are then some of many, velocities are not. Where sweeps creep, because rows nearly
/// depend on each other, the proximal point method takes over, and last Lemke's algorithm. Where
/// the step has several solutions, start and order of the sweeps choose one.
class SweepSolver {
 public:
  /// For this G, μ and D. Space only (tangents = 2).
  explicit SweepSolver(const ImpactProblem& problem);

  struct Options {
    double tolerance = 1e-10;  ///< largest residual, relative
    int sweeps = 1500;         ///< before Lemke
  };
  /// Solves at the contact velocity c with the bound λmax (empty: none, P1 (31)), from the impulse
  /// in `lambda`, sweeping in `order`. False when no solution in tolerance was found; `lambda` is
  /// then the best one.
  bool solve(const Eigen::VectorXd& c, const Eigen::VectorXd& bound, const std::vector<int>& order,
             const Options& options, Eigen::VectorXd& lambda);

  /// Forgets the modes of the last solve, which otherwise begin the next.
  void reset() { modes_.clear(); }
  /// Modes to begin the next solve with.
  void start_from(Modes modes) { modes_ = std::move(modes); }

  double residual() const { return residual_; }  ///< relative, of the last solution
  /// Contact velocity of the last solution; entries that its modes make zero are exactly zero.
  const Eigen::VectorXd& c_plus() const { return c_plus_; }
  const Modes& modes() const { return modes_; }
  int sweeps() const { return sweeps_; }  ///< of the last solve
  bool by_lemke() const { return by_lemke_; }

 private:
  /// A contact with all others held fast, (n, t1, t2).
  struct Local {
    Eigen::Matrix3d G, inverse;
    Eigen::Matrix2d inverse_t;
    double mu;
    std::vector<Eigen::Vector3d> push;  ///< G (1, μ d_e): velocity per normal impulse when slipping
    std::vector<Eigen::Vector3d> turn;  ///< G (0, d_e+1 - d_e)
  };
  bool solve_normalised(const Eigen::VectorXd& c, const Eigen::VectorXd& bound,
                        const std::vector<int>& order, const Options& options,
                        Eigen::VectorXd& lambda);
  bool try_mode(const Local& at, const ContactMode& mode, const Eigen::Vector3d& free, double bound,
                double slack, Eigen::Vector3d& lambda) const;
  bool solve_contact(int contact, const Eigen::Vector3d& free, double bound, double slack,
                     Eigen::Vector3d& lambda);
  bool brakes_most(int edge, const Eigen::Vector2d& ct, double slack) const;
  bool in_cone(const Eigen::Vector2d& friction, double size, double slack) const;
  bool solve_modes(const Eigen::VectorXd& bound, double diagonal, int repeats, Eigen::VectorXd& x);
  bool correct_mode(int contact, double bound, const Eigen::Vector3d& lambda,
                    const Eigen::Vector3d& c, double slack);
  bool correct_modes(const Eigen::VectorXd& bound, const Eigen::VectorXd& lambda,
                     const Eigen::VectorXd& c, double slack);
  void solve_and_correct(const Eigen::VectorXd& bound, int corrections, double tolerance,
                         double slack);
  void approach(const Eigen::VectorXd& bound, double tolerance, double slack);
  void consider(const Eigen::VectorXd& bound, const Eigen::VectorXd& lambda);
  double measure(const Eigen::VectorXd& bound, const Eigen::VectorXd& lambda);

  Normalised units_;
  ImpactProblem& problem_ = units_.problem;  ///< at the velocity of the last solve
  int m_, edges_;
  Eigen::MatrixXd G_;                      ///< rows and columns contact by contact
  std::vector<Eigen::Vector2d> d_, side_;  ///< edges of D and d_e+1 - d_e
  std::vector<Eigen::Vector2d> out_;       ///< middle of d_e and d_e+1
  std::vector<Local> local_;

  Eigen::VectorXd c_, now_, x_, best_;  ///< contact by contact
  Eigen::VectorXd c_plus_;
  Modes modes_, best_modes_;
  double residual_ = 0;
  int sweeps_ = 0;
  bool by_lemke_ = false;
};

}  // namespace routh
