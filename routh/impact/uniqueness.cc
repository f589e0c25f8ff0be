#include "routh/impact/uniqueness.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "routh/impact/rational_impact.h"
#include "routh/lcp/double_description.h"

namespace routh {
namespace {

using Eigen::VectorXd;
using lcp::IntegerRow;

constexpr double kSolves = 1e-9;   // relative residual of both solutions of an example
constexpr double kDiffers = 1e-6;  // relative difference of their velocities
constexpr int kExamples = 50;      // rays tried for an example

struct OutOfTime {};

/// A linear form over δλ without fractions.
IntegerRow whole_row(const RationalVector& form) {
  mpz_class common = 1;
  for (const Rational& x : form) common = lcm(common, x.get_den());
  std::vector<mpz_class> entries;
  for (const Rational& x : form) entries.push_back(x.get_num() * (common / x.get_den()));
  return IntegerRow(std::move(entries));
}

/// What the friction of a contact may be in two solutions.
enum class FrictionPair { kBothForward, kBothBack, kForwardRests, kRestsBack };

/// How one contact differs between two solutions; `turned` exchanges them.
struct PairBranch {
  bool normal_turned = false;
  FrictionPair friction = FrictionPair::kBothForward;
  bool friction_turned = false;
};

class PairSearch {
 public:
  PairSearch(const ImpactProblem& problem, const std::function<bool()>& stop)
      : problem_(problem), exact_(problem), n_(static_cast<int>(problem.c.size())) {
    pause_ = [&stop] {
      if (stop && stop()) throw OutOfTime{};
    };
    // velocities as forms over impulses: T G Tᵀ
    for (int i = 0; i < n_; ++i) {
      RationalVector form(n_);
      for (int k = 0; k < n_; ++k) {
        for (int a = 0; a < exact_.dimension; ++a)
          form[k] += exact_.T[i][a] * dot(exact_.G[a], exact_.T[k]);
      }
      moves_.push_back(whole_row(form));
    }
  }

  UniquenessResult run() {
    branches_.resize(problem_.contacts());
    try {
      extend(lcp::CutCone::everything(n_), 0);
    } catch (const OutOfTime&) {
      return {.why = "stopped before all was tried", .cones = cones_};
    }
    if (example_) return {StepUniqueness::kAmbiguous, example_, {}, cones_};
    if (doubtful_) return {.why = "no step was found that confirms a doubt", .cones = cones_};
    return {.status = StepUniqueness::kUnique, .cones = cones_};
  }

 private:
  bool still(const IntegerRow& ray) const {
    return std::all_of(moves_.begin(), moves_.end(),
                       [&](const IntegerRow& form) { return product_sign(form, ray) == 0; });
  }
  /// Contact after contact, as long as something moves.
  void extend(const lcp::CutCone& cone, int i) {
    if (example_) return;
    ++cones_;
    pause_();
    const auto ray_still = [&](const lcp::CutCone::Ray& ray) { return still(ray.row); };
    if (std::all_of(cone.rays.begin(), cone.rays.end(), ray_still) &&
        std::all_of(cone.lines.begin(), cone.lines.end(),
                    [&](const IntegerRow& line) { return still(line); }))
      return;
    if (i == problem_.contacts()) return doubt(cone);
    const int t = exact_.tangent(i);
    const auto unit = [&](int k, const Rational& by) {
      RationalVector form(n_);
      form[k] = by;
      return form;
    };
    for (const bool normal_turned : {false, true}) {
      if (i == 0 && normal_turned) break;  // the two may be exchanged
      lcp::CutCone of_normal = cone;
      const Rational sign = normal_turned ? -1 : 1;
      of_normal.cut(whole_row(unit(i, sign)), false, pause_);
      of_normal.cut(normal_turned ? moves_[i] : negated(moves_[i]), false, pause_);
      const auto go_on = [&](lcp::CutCone next, FrictionPair friction, bool turned) {
        branches_[i] = {normal_turned, friction, turned};
        extend(next, i + 1);
      };
      if (exact_.frictionless[i]) {
        lcp::CutCone smooth = of_normal;
        smooth.cut(whole_row(unit(t, 1)), true, pause_);
        go_on(std::move(smooth), FrictionPair::kBothForward, false);
        continue;
      }
      // λt + μ λn, zero of what slides forward, and λt - μ λn, zero of what slides back
      RationalVector forward = unit(t, 1), back = unit(t, 1);
      forward[i] = exact_.mu[i], back[i] = -exact_.mu[i];
      for (const bool to_back : {false, true}) {
        lcp::CutCone both = of_normal;
        both.cut(whole_row(to_back ? back : forward), true, pause_);
        go_on(std::move(both), to_back ? FrictionPair::kBothBack : FrictionPair::kBothForward,
              false);
        for (const bool turned : {false, true}) {
          lcp::CutCone mixed = of_normal;
          const IntegerRow limit = whole_row(to_back ? back : forward);
          mixed.cut(turned ? negated(moves_[t]) : moves_[t], false, pause_);
          mixed.cut(turned ? limit : negated(limit), false, pause_);
          go_on(std::move(mixed), to_back ? FrictionPair::kRestsBack : FrictionPair::kForwardRests,
                turned);
        }
      }
    }
  }

  void doubt(const lcp::CutCone& cone) {
    doubtful_ = true;
    std::vector<IntegerRow> rays = cone.lines;
    for (const lcp::CutCone::Ray& ray : cone.rays) rays.push_back(ray.row);
    // inside of the cone, then its corners
    if (rays.size() > 1) {
      std::vector<mpz_class> sum(n_);
      for (const lcp::CutCone::Ray& ray : cone.rays) {
        for (int k = 0; k < n_; ++k) sum[k] += ray.row.x[k];
      }
      rays.insert(rays.begin(), IntegerRow(std::move(sum)));
    }
    for (const IntegerRow& ray : rays) {
      if (still(ray) || tried_ >= kExamples) continue;
      ++tried_;
      if (try_example(ray)) return;
    }
  }

  /// Two solutions that differ by a ray, if velocities as they demand exist; confirmed by the
  /// residual.
  bool try_example(const IntegerRow& ray) {
    const int m = problem_.contacts();
    double size = 0;
    VectorXd difference(n_);
    for (int k = 0; k < n_; ++k) {
      difference[k] = std::ldexp(ray.image[k], 2 * exact_.speed - exact_.unit[k]);
      size = std::max(size, std::abs(difference[k]));
    }
    const VectorXd moved = problem_.G * difference;
    Outcome one, two;
    one.impulse = two.impulse = one.c_plus = two.c_plus = VectorXd::Zero(n_);
    AmbiguousStep step{VectorXd(), VectorXd(m), {}, {}};
    const double load = 10 * size * (1 + 1 / least_friction());
    for (int i = 0; i < m; ++i) {
      const int t = problem_.tangent(i);
      const double n = difference[i], mu = problem_.mu[i];
      two.impulse[i] = load, one.impulse[i] = load + n;
      step.lambda_max[i] = std::max(one.impulse[i], two.impulse[i]);
      (branches_[i].normal_turned ? two : one).c_plus[i] =
          branches_[i].normal_turned ? -moved[i] : moved[i];
      const double slip = moved[t];
      const bool turned = branches_[i].friction_turned;
      Outcome& first = turned ? two : one;
      Outcome& second = turned ? one : two;
      switch (branches_[i].friction) {
        case FrictionPair::kBothForward:
        case FrictionPair::kBothBack: {
          const double way = branches_[i].friction == FrictionPair::kBothForward ? 1 : -1;
          one.impulse[t] = -way * mu * one.impulse[i];
          two.impulse[t] = -way * mu * two.impulse[i];
          one.c_plus[t] = way * std::max(0.0, way * slip);
          two.c_plus[t] = way * std::max(0.0, -way * slip);
          break;
        }
        case FrictionPair::kForwardRests:
          first.c_plus[t] = turned ? -slip : slip;
          first.impulse[t] = -mu * first.impulse[i];
          second.impulse[t] = first.impulse[t] - (turned ? -difference[t] : difference[t]);
          break;
        case FrictionPair::kRestsBack:
          second.c_plus[t] = -(turned ? -slip : slip);
          second.impulse[t] = mu * second.impulse[i];
          first.impulse[t] = second.impulse[t] + (turned ? -difference[t] : difference[t]);
          break;
      }
    }
    // velocities of one body depend on each other
    step.c = one.c_plus - problem_.G * one.impulse;
    ImpactProblem p = problem_;
    p.c = step.c;
    const double speed = std::max(one.c_plus.norm(), step.c.norm());
    one.residual = violation(p, one.impulse, step.lambda_max, one.c_plus).size;
    two.c_plus = one.c_plus - moved;
    two.residual = violation(p, two.impulse, step.lambda_max, two.c_plus).size;
    if (!(one.residual <= kSolves && two.residual <= kSolves && moved.norm() > kDiffers * speed) ||
        !reachable(one.c_plus))
      return false;
    step.first = std::move(one), step.second = std::move(two);
    example_ = std::move(step);
    return true;
  }
  double least_friction() const {
    double least = 1;
    for (const double mu : problem_.mu) {
      if (mu > 0) least = std::min(least, mu);
    }
    return least;
  }
  /// Do some generalised velocities have these contact velocities?
  bool reachable(const VectorXd& c) const {
    RationalVector y;
    for (int a = 0; a < exact_.dimension; ++a) {
      const auto own = std::find_if(exact_.T.begin(), exact_.T.end(), [&](const RationalVector& t) {
        const auto others = std::count_if(t.begin(), t.end(), [](auto& x) { return sgn(x) != 0; });
        return others == 1 && t[a] == 1;
      });
      const auto row = own - exact_.T.begin();
      y.emplace_back(std::ldexp(c[row], -exact_.unit[row]));
    }
    return (exact_.velocity(y) - c).norm() <= kSolves * c.norm();
  }

  const ImpactProblem& problem_;
  RationalImpact exact_;
  int n_;
  lcp::Pause pause_;
  std::vector<IntegerRow> moves_;  // δc as forms over δλ
  std::vector<PairBranch> branches_;
  std::optional<AmbiguousStep> example_;
  bool doubtful_ = false;
  int cones_ = 0, tried_ = 0;
};

}  // namespace

std::string_view to_string(StepUniqueness uniqueness) {
  switch (uniqueness) {
    case StepUniqueness::kUnique:
      return "certified";
    case StepUniqueness::kAmbiguous:
      return "refuted";
    case StepUniqueness::kUnknown:
      return "unknown";
  }
  return "unknown";
}

UniquenessResult step_uniqueness(const ImpactProblem& problem, const std::function<bool()>& stop) {
  validate(problem);
  if (problem.tangents > 1) return {.why = "contacts in space have too many pairs of modes"};
  if (problem.bounces()) return {.why = "contacts bounce"};
  if (problem.contacts() > kMostUniqueness)
    return {.why = "more than " + std::to_string(kMostUniqueness) +
                   " contacts have too many pairs of modes"};
  PairSearch search(problem, stop);
  return search.run();
}

}  // namespace routh
