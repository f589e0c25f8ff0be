#include "routh/impact/witness_search.h"

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <functional>

#include "routh/impact/polytopes.h"
#include "routh/linear/decompose.h"

namespace routh {
namespace {

using Eigen::VectorXd;

constexpr double kFits = 1e-11;     // velocities below this fit labels of both sides
constexpr double kNoTime = 3e-11;   // amounts below this are no phase
constexpr double kBetter = 1e-11;   // gains above this count
constexpr int kChangesTried = 20;   // of changes until one can be
constexpr int kMostPhases = 60;     // of a path that grows
constexpr int kEveryLocation = 64;  // up to this many are all tried at a breakpoint

/// Is there a mixture x ≥ 0 with gain · x > 0 that keeps rates x ≥ 0, or = 0 where `equal`? A
/// linear program of a few columns that begins, and may well end, at x = 0: by Bland's rule. The
/// first row of T is the gain, columns are T's.
class LocalProgram {
 public:
  void begin(int rows, int columns) {
    rows_ = rows, columns_ = columns;
    T_.assign(static_cast<std::size_t>(rows + 1) * columns, 0);
    basic_.resize(rows);
    nonbasic_.resize(columns);
    equal_.assign(rows, 0);
    for (int r = 0; r < rows; ++r) basic_[r] = columns + r;
    for (int j = 0; j < columns; ++j) nonbasic_[j] = j;
  }
  double& at(int row, int column) { return T_[static_cast<std::size_t>(row) * columns_ + column]; }
  void set_equal(int row) { equal_[row - 1] = 1; }
  static constexpr double kLocal = 1e-9;  ///< what counts as zero

  bool rises() {
    const auto fixed = [&](int variable) {
      return variable >= columns_ && equal_[variable - columns_];
    };
    for (int steps = 0; steps < 200; ++steps) {
      int column = -1;
      for (int j = 0; j < columns_; ++j) {
        if (at(0, j) > kLocal && !fixed(nonbasic_[j]) &&
            (column < 0 || nonbasic_[j] < nonbasic_[column]))
          column = j;
      }
      if (column < 0) return false;
      int leaving = -1;
      for (int r = 1; r <= rows_; ++r) {
        const double a = at(r, column);
        if (fixed(basic_[r - 1]) ? std::abs(a) <= kLocal : a >= -kLocal) continue;
        if (leaving < 0 || basic_[r - 1] < basic_[leaving - 1]) leaving = r;
      }
      if (leaving < 0) return true;  // nothing stands in the way
      const double inverse = 1 / at(leaving, column);
      for (int j = 0; j < columns_; ++j) {
        if (j == column) continue;
        const double scale = -inverse * at(leaving, j);
        if (scale == 0) continue;
        for (int r = 0; r <= rows_; ++r) at(r, j) += scale * at(r, column);
        at(leaving, j) = scale;
      }
      for (int r = 0; r <= rows_; ++r) at(r, column) *= inverse;
      at(leaving, column) = inverse;
      std::swap(basic_[leaving - 1], nonbasic_[column]);
    }
    return true;
  }

 private:
  int rows_ = 0, columns_ = 0;
  std::vector<double> T_;
  std::vector<int> basic_, nonbasic_;
  std::vector<char> equal_;
};

}  // namespace

bool OrderSearch::rises(const Location& location, const VectorXd& forms,
                        const VectorXd& gain) const {
  static thread_local LocalProgram program;
  static thread_local std::vector<int> edges;
  static thread_local std::vector<ContactLabel::Row> rows;
  edges.clear(), rows.clear();
  bool gains = false;
  for (int i = 0; i < space_.contacts(); ++i) {
    for (const int g : space_.label(location, i).edges) {
      edges.push_back(g);
      gains = gains || gain[g] > LocalProgram::kLocal;
    }
  }
  if (!gains) return false;
  for (int i = 0; i < space_.contacts(); ++i) {
    const ContactLabel& label = space_.label(location, i);
    for (const ContactLabel::Row& row : label.rows) {
      if (row.sense == 0 || std::abs(forms[row.form]) <= kFits) rows.push_back(row);
    }
  }
  program.begin(static_cast<int>(rows.size()), static_cast<int>(edges.size()));
  for (std::size_t j = 0; j < edges.size(); ++j) {
    const int column = static_cast<int>(j);
    program.at(0, column) = gain[edges[j]];
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const double rate = space_.rates(rows[r].form, edges[j]);
      program.at(static_cast<int>(r) + 1, column) = rows[r].sense < 0 ? -rate : rate;
    }
  }
  for (std::size_t r = 0; r < rows.size(); ++r) {
    if (rows[r].sense == 0) program.set_equal(static_cast<int>(r) + 1);
  }
  return program.rises();
}

OrderSearch::OrderSearch(const OrderSpace& space, std::function<bool()> stop)
    : space_(space), stop_(std::move(stop)), program_(space, stop_) {
  const RationalImpact& exact = space.exact;
  const int n = exact.dimension;
  directions_.resize(n, static_cast<Eigen::Index>(space.edges.size()));
  Eigen::MatrixXd mobility(n, n);
  start_.resize(n);
  for (int a = 0; a < n; ++a) {
    start_[a] = exact.start[a].get_d();
    for (int b = 0; b < n; ++b) mobility(a, b) = exact.G[a][b].get_d();
    for (std::size_t g = 0; g < space.edges.size(); ++g) {
      const OrderSpace::Edge& edge = space.edges[g];
      directions_(a, static_cast<Eigen::Index>(g)) =
          std::ldexp(space.direction(edge)[a].get_d(), edge.scale);
    }
  }
  inertia_ = linear::inverse(mobility);
  const linear::SymmetricEigen eigen = linear::symmetric_eigen(inertia_);
  root_ = eigen.values.cwiseMax(0).cwiseSqrt().asDiagonal() * eigen.vectors.transpose();
  owner_.assign(space.start.size(), 0);
  for (int i = 0; i < space.contacts(); ++i) {
    for (const ContactLabel& label : space.labels[i]) {
      for (const ContactLabel::Row& row : label.rows) owner_[row.form] = i;
    }
  }
}

VectorXd OrderSearch::state(const OrderPath& path) const {
  VectorXd y = start_;
  for (const VectorXd& alpha : path.alpha) y += directions_ * alpha;
  return y;
}

double OrderSearch::value(const OrderPath& path, const SearchTarget& target) const {
  if (target.kind == SearchTarget::kLinear) {
    double sum = 0;
    for (const VectorXd& alpha : path.alpha) sum += target.gain.dot(alpha);
    return sum;
  }
  const VectorXd y = state(path);
  const double energy = 0.5 * y.dot(inertia_ * y);
  return target.kind == SearchTarget::kMostEnergy ? energy : -energy;
}

VectorXd OrderSearch::gains(const OrderPath& path, const SearchTarget& target) const {
  if (target.kind == SearchTarget::kLinear) return target.gain;
  const VectorXd slope = directions_.transpose() * (inertia_ * state(path));
  return target.kind == SearchTarget::kMostEnergy ? slope : VectorXd(-slope);
}

OrderStatus OrderSearch::solve(OrderPath& path, const VectorXd& gain, OrderEnd end) {
  if (stopped()) return OrderStatus::kUndecided;
  for (int i = 0; i < space_.contacts(); ++i) {
    if (!space_.fits(space_.label(path.order[0], i), space_.start, 0))
      return OrderStatus::kInfeasible;
  }
  ++programs_;
  return program_.solve(path, gain, end);
}

const VectorXd& OrderSearch::forms_before(const OrderPath& path, int phase) const {
  return phase == 0 ? space_.start : path.forms[phase - 1];
}

std::vector<std::vector<int>> OrderSearch::choices(const VectorXd& forms) const {
  std::vector<std::vector<int>> all(space_.contacts());
  for (int i = 0; i < space_.contacts(); ++i) {
    for (std::size_t l = 0; l < space_.labels[i].size(); ++l) {
      if (space_.fits(space_.labels[i][l], forms, kFits)) all[i].push_back(static_cast<int>(l));
    }
  }
  return all;
}

Location OrderSearch::draw(const std::vector<std::vector<int>>& choices,
                           SearchRandom& random) const {
  Location location;
  for (const std::vector<int>& labels : choices)
    location.push_back(static_cast<std::uint8_t>(
        labels.empty() ? 0 : labels[random.below(static_cast<int>(labels.size()))]));
  return location;
}

std::optional<OrderPath> OrderSearch::grow(OrderPath path, SearchRandom& random) {
  const int m = space_.contacts();
  const bool in_turn = random.uniform() < 0.5;
  int alone = -1;
  for (int steps = 0; steps < kMostPhases && !stopped(); ++steps) {
    const VectorXd at = path.order.empty() ? space_.start : path.forms.back();
    if (at.head(m).minCoeff() > -kNoTime) return {};  // too slow to be told from the end
    // a phase to some corner: contacts pushed out at different paces, some even back
    OrderPath phase{.order = {draw(choices(at), random)}};
    const bool straight = random.uniform() < 0.3;
    VectorXd gain = VectorXd::Zero(static_cast<Eigen::Index>(space_.edges.size()));
    for (int i = 0; i < m; ++i) {
      const double pace = std::pow(10, -2 * random.uniform());
      const bool back = random.uniform() < 0.3;
      if (space_.label(phase.order[0], i).closed())
        gain += (back && !straight ? -pace : pace) * space_.rates.row(i).transpose();
    }
    for (double& g : gain) g += straight ? 0 : 0.1 * (2 * random.uniform() - 1);
    if (in_turn) {
      // one contact alone until it is done, as in the sequential law
      while (alone < 0 || at[alone] > -kNoTime) alone = random.below(m);
      for (std::size_t g = 0; g < space_.edges.size(); ++g) {
        const auto k = static_cast<Eigen::Index>(g);
        gain[k] = space_.edges[g].contact == alone ? space_.rates(alone, k) : -10;
      }
    }
    ++programs_;
    if (program_.step(phase, gain, at) != OrderStatus::kOptimal) continue;
    if (phase.alpha[0].sum() < kNoTime) continue;

    // its basis follows those of the phases before
    const int k = static_cast<int>(path.order.size());
    path.order.push_back(phase.order[0]);
    path.alpha.push_back(phase.alpha[0]);
    path.forms.push_back(phase.forms[0]);
    for (const auto& [one, edge] : phase.basis.pushes) path.basis.pushes.push_back({k, edge});
    for (const auto& [one, form] : phase.basis.tight) path.basis.tight.push_back({k, form});
    if (path.forms.back().head(m).minCoeff() < -kNoTime) continue;
    if (solve(path, gain, OrderEnd::kFinal) != OrderStatus::kOptimal) return {};
    return path;
  }
  return {};
}

std::optional<OrderPath> OrderSearch::regrow(const OrderPath& path, SearchRandom& random) {
  const int kept = random.below(static_cast<int>(path.order.size()));
  OrderPath prefix;
  prefix.order.assign(path.order.begin(), path.order.begin() + kept);
  prefix.alpha.assign(path.alpha.begin(), path.alpha.begin() + kept);
  prefix.forms.assign(path.forms.begin(), path.forms.begin() + kept);
  for (const OrderBasis::Item& item : path.basis.pushes) {
    if (item.phase < kept) prefix.basis.pushes.push_back(item);
  }
  for (const OrderBasis::Item& item : path.basis.tight) {
    if (item.phase < kept) prefix.basis.tight.push_back(item);
  }
  return grow(std::move(prefix), random);
}

bool OrderSearch::prune(OrderPath& path) const {
  const int K = static_cast<int>(path.order.size());
  std::vector<int> place(K, -1);  // where a phase, or the end of the one before it, went
  OrderPath kept;
  for (int k = 0; k < K; ++k) {
    const bool passes = path.alpha[k].sum() < kNoTime && k + 1 < K;
    if (!passes && !kept.order.empty() && kept.order.back() == path.order[k]) {
      // the same location twice is one phase
      kept.alpha.back() += path.alpha[k];
      kept.forms.back() = path.forms[k];
    } else if (!passes) {
      kept.order.push_back(path.order[k]);
      kept.alpha.push_back(path.alpha[k]);
      kept.forms.push_back(path.forms[k]);
    }
    place[k] = static_cast<int>(kept.order.size()) - 1;
  }
  if (static_cast<int>(kept.order.size()) == K) return false;
  for (const auto& [phase, edge] : path.basis.pushes) {
    if (path.alpha[phase][edge] > 0) kept.basis.pushes.push_back({place[phase], edge});
  }
  for (const auto& [phase, form] : path.basis.tight) {
    if (place[phase] >= 0) kept.basis.tight.push_back({place[phase], form});
  }
  path = std::move(kept);
  return true;
}

void OrderSearch::insert(OrderPath& path, const Insertion& what) const {
  std::vector<Location> put;
  for (const Location& location : what.locations) {
    const bool again =
        put.empty() ? what.at > 0 && path.order[what.at - 1] == location : put.back() == location;
    if (!again) put.push_back(location);
  }
  while (!put.empty() && what.at < static_cast<int>(path.order.size()) &&
         put.back() == path.order[what.at])
    put.pop_back();
  path.order.insert(path.order.begin() + what.at, put.begin(), put.end());
  const int by = static_cast<int>(put.size());
  for (OrderBasis::Item& item : path.basis.pushes) item.phase += item.phase >= what.at ? by : 0;
  for (OrderBasis::Item& item : path.basis.tight) item.phase += item.phase >= what.at ? by : 0;
}

bool OrderSearch::tidy(OrderPath& path, const SearchTarget& target) {
  OrderPath shorter = path;
  if (!prune(shorter)) return false;
  const double before = value(path, target);
  if (solve(shorter, gains(path, target), OrderEnd::kFinal) != OrderStatus::kOptimal ||
      !optimise(shorter, target) || value(shorter, target) < before - kBetter)
    return false;
  path = std::move(shorter);
  return true;
}

bool OrderSearch::optimise(OrderPath& path, const SearchTarget& target) {
  OrderPath best = path;
  if (path.alpha.size() != path.order.size()) {
    best.alpha.clear();
    if (solve(best, gains(best, target), OrderEnd::kFinal) != OrderStatus::kOptimal) return false;
  }
  if (target.kind == SearchTarget::kLeastEnergy) return path = std::move(best), least_energy(path);
  // energy is convex: its slope leads upwards from corner to corner
  for (int k = 0; k < 50; ++k) {
    OrderPath next = best;
    if (solve(next, gains(best, target), OrderEnd::kFinal) != OrderStatus::kOptimal) {
      if (k == 0) return false;
      break;
    }
    const bool better = value(next, target) > value(best, target) + kBetter;
    if (better || k == 0) best = std::move(next);
    if (!better || target.kind == SearchTarget::kLinear) break;
  }
  path = std::move(best);
  return true;
}

/// The least energy of an order's paths is that of the point nearest to rest, a mixture of corners:
/// Wolfe's algorithm with linear programs to find corners that lead on.
bool OrderSearch::least_energy(OrderPath& path) {
  const SearchTarget target{SearchTarget::kLeastEnergy};
  std::vector<OrderPath> corners;
  std::vector<VectorXd> points;
  OrderPath at = path;
  for (int k = 0; k < 50; ++k) {
    OrderPath next = at;
    const VectorXd gain = gains(at, target);
    next.mixture.clear();
    if (solve(next, gain, OrderEnd::kFinal) != OrderStatus::kOptimal) break;
    double leads = 0;
    for (std::size_t p = 0; p < next.alpha.size(); ++p)
      leads += gain.dot(next.alpha[p]) - (k > 0 ? gain.dot(at.alpha[p]) : 0);
    if (k > 0 && leads <= 1e-13) {
      // optimal: the multipliers are those of this corner
      at.basis = next.basis;
      at.multipliers = next.multipliers;
      break;
    }
    points.push_back(root_ * state(next));
    corners.push_back(next);
    const VectorXd weights = min_norm_weights(points);
    at = next;
    at.mixture.clear();
    for (VectorXd& alpha : at.alpha) alpha.setZero();
    for (VectorXd& forms : at.forms) forms.setZero();
    for (std::size_t c = 0; c < corners.size(); ++c) {
      const double weight = weights[static_cast<Eigen::Index>(c)];
      if (weight <= 0) continue;
      at.mixture.emplace_back(weight, corners[c].basis);
      for (std::size_t p = 0; p < at.alpha.size(); ++p) {
        at.alpha[p] += weight * corners[c].alpha[p];
        at.forms[p] += weight * corners[c].forms[p];
      }
    }
    if (at.mixture.size() == 1) at.mixture.clear();
  }
  if (corners.empty()) return false;
  path = std::move(at);
  return true;
}

VectorXd OrderSearch::rate(const OrderPath& path, const OrderBasis::Item& row) const {
  if (row.index != OrderBasis::kProgress) return space_.rates.row(row.index).transpose();
  VectorXd sum = VectorXd::Zero(space_.rates.cols());
  for (int i = 0; i < space_.contacts(); ++i) {
    if (space_.label(path.order[row.phase], i).closed()) sum += space_.rates.row(i).transpose();
  }
  return sum;
}

OrderSearch::Gains OrderSearch::reduced(const OrderPath& path, const VectorXd& gain,
                                        int phase) const {
  Gains left{gain, gain, gain, gain};
  const int K = static_cast<int>(path.order.size());
  for (std::size_t k = 0; k < path.basis.tight.size(); ++k) {
    const OrderBasis::Item& row = path.basis.tight[k];
    if (row.phase < phase - 1 || path.multipliers[k] == 0) continue;
    const VectorXd by = path.multipliers[k] * rate(path, row);
    const auto has = [&](const Location& location) {
      if (row.index == OrderBasis::kProgress) return true;
      const auto& rows = space_.label(location, owner_[row.index]).rows;
      return std::any_of(rows.begin(), rows.end(), [&](auto& r) { return r.form == row.index; });
    };
    const bool here = row.phase == phase - 1;
    left.all -= by;
    if (!here) left.inside -= by;
    if (!here || phase == K || has(path.order[phase])) left.with -= by;
    if (!here || !has(path.order[phase - 1])) left.without -= by;
  }
  return left;
}

void OrderSearch::each_location(const VectorXd& forms, const Location& like, SearchRandom& random,
                                const std::function<void(const Location&)>& take) const {
  const int m = space_.contacts();
  const std::vector<std::vector<int>> labels = choices(forms);
  double count = 1;
  for (const std::vector<int>& list : labels) count *= static_cast<double>(list.size());
  if (count == 0) return;
  if (count <= kEveryLocation) {
    std::vector<std::size_t> digit(m, 0);
    for (bool more = true; more;) {
      Location location(m);
      for (int i = 0; i < m; ++i) location[i] = static_cast<std::uint8_t>(labels[i][digit[i]]);
      take(location);
      more = false;
      for (int i = 0; i < m && !more; ++i) {
        more = ++digit[i] < labels[i].size();
        if (!more) digit[i] = 0;
      }
    }
    return;
  }
  // one label at a time, and some at random
  for (int i = 0; i < m; ++i) {
    for (const int l : labels[i]) {
      Location location = like;
      location[i] = static_cast<std::uint8_t>(l);
      take(location);
    }
  }
  for (int k = 0; k < kEveryLocation; ++k) take(draw(labels, random));
}

std::vector<OrderSearch::Insertion> OrderSearch::candidates(const OrderPath& path,
                                                            const VectorXd& gain,
                                                            SearchRandom& random) const {
  std::vector<Insertion> all;
  const int K = static_cast<int>(path.order.size());
  for (int at = 0; at <= K && !stopped(); ++at) {
    const Gains left = reduced(path, gain, at);
    const VectorXd& forms = forms_before(path, at);
    const Location& before = path.order[std::max(0, at - 1)];
    const Location& behind = path.order[std::min(at, K - 1)];
    const auto add = [&](std::vector<Location> locations) {
      all.push_back({at, std::move(locations), random.uniform()});
    };
    // behind the last phase: it may end earlier, where contacts still approach
    if (at == K) {
      const VectorXd middle = 0.5 * (forms + forms_before(path, K - 1));
      each_location(forms, before, random, [&](const Location& location) {
        bool opens = false;  // a contact that need not end at rest any more
        for (int i = 0; i < space_.contacts(); ++i)
          opens =
              opens || (space_.label(before, i).closed() && !space_.label(location, i).closed());
        if (location != before && (opens || rises(location, middle, left.without))) add({location});
      });
      break;
    }
    // at the breakpoint before the phase
    each_location(forms, behind, random, [&](const Location& location) {
      if (location == before || location == behind) return;
      if (rises(location, forms, left.without) && rises(location, forms, left.with)) {
        add({location});
      } else if (rises(location, forms, left.inside)) {
        add({behind, location});
      } else if (at > 0 && rises(location, forms, left.all)) {
        add({location, before});
      }
    });
    // inside the phase, wherever that is best
    const VectorXd middle = 0.5 * (forms + path.forms[at]);
    each_location(middle, behind, random, [&](const Location& location) {
      if (location != behind && rises(location, middle, left.inside)) add({behind, location});
    });
  }
  std::sort(all.begin(), all.end(),
            [](const Insertion& a, const Insertion& b) { return a.order < b.order; });
  return all;
}

void OrderSearch::climb(OrderPath& path, const SearchTarget& target, SearchRandom& random,
                        std::int64_t until, Keep keep) {
  while (programs_ < until && !stopped()) {
    const VectorXd gain = gains(path, target);
    const double before = value(path, target);
    bool better = false;
    for (const Insertion& insertion : candidates(path, gain, random)) {
      if (programs_ >= until || stopped()) break;
      OrderPath tried = path;
      insert(tried, insertion);
      if (solve(tried, gain, OrderEnd::kFinal) != OrderStatus::kOptimal) continue;
      if (target.kind != SearchTarget::kLinear) optimise(tried, target);
      if (value(tried, target) <= before + kBetter) continue;
      if (keep == Keep::kPath) tidy(tried, target);
      path = std::move(tried);
      better = true;
      break;
    }
    if (!better) return;
  }
}

void OrderSearch::change(OrderPath& path, SearchRandom& random) const {
  const int K = static_cast<int>(path.order.size()), m = space_.contacts();
  const double kind = random.uniform();
  if (kind < 0.5) {
    // locations that take no time, where they fit
    std::vector<int> places(1 + random.below(3));
    for (int& at : places) at = random.below(K + 1);
    std::sort(places.begin(), places.end(), std::greater<>());
    places.erase(std::unique(places.begin(), places.end()), places.end());
    for (const int at : places) {  // the last first: those before it stay where they are
      const auto labels = choices(forms_before(path, at));
      Insertion what{at, {}};
      for (int s = 1 + random.below(3); s > 0; --s) what.locations.push_back(draw(labels, random));
      if (at > 0 && at < K) what.locations.push_back(path.order[at - 1]);
      insert(path, what);
    }
  } else if (kind < 0.8 || K == 1) {
    // one contact otherwise for a while
    const int i = random.below(m), label = random.below(static_cast<int>(space_.labels[i].size()));
    const int from = random.below(K), to = from + random.below(K - from);
    for (int k = from; k <= to; ++k) path.order[k][i] = static_cast<std::uint8_t>(label);
  } else if (kind < 0.9) {
    // a phase less; what it had goes to the one before
    const int gone = random.below(K);
    path.order.erase(path.order.begin() + gone);
    for (auto* items : {&path.basis.pushes, &path.basis.tight}) {
      std::erase_if(*items, [&](const OrderBasis::Item& item) { return item.phase == gone; });
      for (OrderBasis::Item& item : *items) item.phase -= item.phase > gone;
    }
  } else {
    // a phase twice, the second time a little different
    const int twice = random.below(K), i = random.below(m);
    Location other = path.order[twice];
    other[i] = static_cast<std::uint8_t>(random.below(static_cast<int>(space_.labels[i].size())));
    insert(path, {twice, {path.order[twice], other}});
  }
}

void OrderSearch::disturb(OrderPath& path, const SearchTarget& target, SearchRandom& random) {
  VectorXd gain = gains(path, target);
  const double noise = gain.lpNorm<Eigen::Infinity>() * std::pow(10, -3 * random.uniform());
  for (double& g : gain) g += noise * (2 * random.uniform() - 1);
  for (int k = 0; k < kChangesTried; ++k) {
    OrderPath tried = path;
    tried.mixture.clear();
    change(tried, random);
    if (solve(tried, gain, OrderEnd::kFinal) != OrderStatus::kOptimal) continue;
    prune(tried);
    path = std::move(tried);
    return;
  }
}

}  // namespace routh
