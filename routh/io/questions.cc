#include "routh/io/questions.h"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <algorithm>
#include <charconv>
#include <cmath>

#include "routh/impact/same_outcome.h"
#include "routh/io/document.h"
#include "routh/io/results.h"
#include "routh/linear/decompose.h"

namespace routh::io {

using Eigen::VectorXd;

namespace {

/// The names that linear forms are made of, and what they stand for: rows over c and constants.
struct Term {
  std::string name;
  VectorXd q;
  double constant = 0;
  Eigen::Index velocity = -1;  // of a generalised one
  VectorXd load = {};          // of an impulse
};

/// Adds a term with a factor.
void add_term(const Term& term, double factor, Objective& objective) {
  objective.q += factor * term.q;
  objective.constant += factor * term.constant;
  if (term.load.size() > 0) {
    if (objective.load.size() == 0) objective.load = VectorXd::Zero(term.load.size());
    objective.load += factor * term.load;
  } else if (term.velocity >= 0) {
    objective.of_velocity[term.velocity] += factor;
  } else {
    objective.of_contacts += factor * term.q;
  }
}
Objective nothing(const ImpactCase& impact, const std::string& name) {
  const VectorXd none = VectorXd::Zero(impact.problem().c.size());
  return {name, none, 0, none, VectorXd::Zero(impact.scenario.v.size())};
}

std::vector<Term> terms_of(const ImpactCase& impact) {
  const ImpactProblem& p = impact.problem();
  std::vector<Term> terms;
  for (int i = 0; i < p.contacts(); ++i) {
    terms.push_back({"normal." + impact.names[i], VectorXd::Unit(p.c.size(), i)});
    for (int k = 0; k < p.tangents; ++k)
      terms.push_back(
          {(p.tangents == 1 ? std::string("tangential.") : fmt::format("tangential{}.", k + 1)) +
               impact.names[i],
           VectorXd::Unit(p.c.size(), p.tangent(i) + k)});
  }
  VectorXd all = VectorXd::Zero(p.c.size());
  all.head(p.contacts()).setOnes();
  const VectorXd none = VectorXd::Zero(p.c.size());
  terms.push_back({"impulse", none, 0, -1, all});
  for (int i = 0; i < p.contacts(); ++i)
    terms.push_back({"impulse." + impact.names[i], none, 0, -1, VectorXd::Unit(p.c.size(), i)});
  // v⁺ = v + W λ with any λ that makes the change c⁺ - c
  const Eigen::MatrixXd Q =
      linear::least_squares(p.G, Eigen::MatrixXd(impact.reduced.W.transpose()));
  for (Eigen::Index k = 0; k < impact.scenario.v.size(); ++k)
    terms.push_back(
        {fmt::format("v[{}]", k), Q.col(k), impact.scenario.v[k] - Q.col(k).dot(p.c), k});
  return terms;
}

/// A sum of terms with numbers as factors, read from left to right.
class FormReader {
 public:
  FormReader(const std::string& text, const std::vector<Term>& terms)
      : text_(text), terms_(terms) {}

  /// False where the text is no such sum.
  bool read(Objective& objective) {
    bool first = true;
    for (skip(); at_ < text_.size(); skip()) {
      double factor = 1;
      if (text_[at_] == '+' || text_[at_] == '-') {
        factor = text_[at_++] == '-' ? -1 : 1;
      } else if (!first) {
        return false;
      }
      first = false;
      if (!product(factor, objective)) return false;
    }
    const bool mixed =
        objective.load.size() > 0 &&
        (objective.q.any() || objective.of_velocity.any() || objective.constant != 0);
    return !first && !mixed && objective.q.allFinite() && std::isfinite(objective.constant) &&
           objective.load.allFinite();
  }

 private:
  void skip() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool number(double& factor) {
    const std::size_t end = std::min(text_.find_first_not_of("0123456789.", at_), text_.size());
    std::size_t stop = end;
    // an exponent
    if (stop > at_ && stop < text_.size() && (text_[stop] == 'e' || text_[stop] == 'E')) {
      std::size_t digits = stop + 1;
      if (digits < text_.size() && (text_[digits] == '-' || text_[digits] == '+')) ++digits;
      const std::size_t last =
          std::min(text_.find_first_not_of("0123456789", digits), text_.size());
      if (last > digits) stop = last;
    }
    if (stop == at_) return false;
    double value = 0;
    const char* const from = text_.data() + at_;
    const auto [rest, error] = std::from_chars(from, text_.data() + stop, value);
    if (error != std::errc() || rest != text_.data() + stop) return false;
    at_ = stop;
    factor *= value;
    return true;
  }
  bool name() {
    const Term* best = nullptr;
    for (const Term& term : terms_) {
      if (text_.compare(at_, term.name.size(), term.name) == 0 &&
          (!best || term.name.size() > best->name.size()))
        best = &term;
    }
    if (!best) return false;
    at_ += best->name.size();
    factor_of_ = best;
    return true;
  }
  bool product(double factor, Objective& objective) {
    factor_of_ = nullptr;
    for (bool more = true; more;) {
      skip();
      if (!number(factor) && (factor_of_ || !name())) return false;
      skip();
      more = at_ < text_.size() && text_[at_] == '*';
      if (more) ++at_;
    }
    if (!factor_of_) return false;  // a number alone moves nothing
    add_term(*factor_of_, factor, objective);
    return true;
  }

  const std::string& text_;
  const std::vector<Term>& terms_;
  std::size_t at_ = 0;
  const Term* factor_of_ = nullptr;
};

double energy_at(const ImpactCase& impact, const VectorXd& c) {
  return kinetic_energy(impact.scenario.terms, lift_velocity(impact, c));
}
double value_at(const ImpactCase& impact, const Objective& objective, const VectorXd& c) {
  return objective.q.size() ? objective.q.dot(c) + objective.constant : energy_at(impact, c);
}

void refuse_impulse(const Objective& objective) {
  if (objective.load.size() > 0)
    throw InputError(fmt::format(
        "{}: a set of velocities does not know impulses; ask for it together with the law",
        objective.name));
}

}  // namespace

Objective parse_objective(const ImpactCase& impact, const std::string& option,
                          const std::string& text) {
  if (text == "energy") return {text};
  const std::vector<Term> terms = terms_of(impact);
  Objective objective = nothing(impact, text);
  for (const Term& term : terms) {
    if (term.name == text) return add_term(term, 1, objective), objective;
  }
  if (text.size() <= 1000 && FormReader(text, terms).read(objective)) return objective;
  const bool space = impact.problem().tangents == 2;
  throw InputError(fmt::format(
      "{} {}: must be energy, normal.NAME or {} with a contact of {}, v[0] to v[{}], or a sum of "
      "these with factors such as v[0] - 0.5*normal.{}; or impulse, impulse.NAME and sums of these",
      option, text, space ? "tangential1.NAME, tangential2.NAME" : "tangential.NAME",
      join(impact.names), impact.scenario.v.size() - 1, impact.names.front()));
}

std::vector<Objective> every_objective(const ImpactCase& impact) {
  std::vector<Objective> all;
  for (const Term& term : terms_of(impact)) {
    if (term.velocity >= 0 || term.load.size() > 0) continue;
    all.push_back(nothing(impact, term.name));
    add_term(term, 1, all.back());
  }
  all.push_back({"energy"});
  return all;
}

Extreme maximize(const ImpactCase& impact, const std::vector<Polytope>& pieces,
                 const Objective& objective) {
  refuse_impulse(objective);
  // linear functions and the convex energy are largest at corners
  Extreme best{.value = -HUGE_VAL};
  for (const Polytope& piece : pieces) {
    for (const VectorXd& c : piece.corners) {
      const double value = value_at(impact, objective, c);
      if (value > best.value) best = {value, c, objective.name};
    }
  }
  return best;
}

Extreme minimize(const ImpactCase& impact, const std::vector<Polytope>& pieces,
                 const Objective& objective) {
  refuse_impulse(objective);
  Extreme best{.value = HUGE_VAL};
  const linear::SymmetricEigen M = linear::symmetric_eigen(impact.scenario.terms.M);
  const Eigen::MatrixXd root =
      M.values.cwiseMax(0).cwiseSqrt().asDiagonal() * M.vectors.transpose();
  for (const Polytope& piece : pieces) {
    if (objective.q.size()) {
      for (const VectorXd& c : piece.corners) {
        const double value = value_at(impact, objective, c);
        if (value < best.value) best = {value, c, objective.name};
      }
      continue;
    }
    // energy is least where √M v is nearest to the origin
    std::vector<VectorXd> points;
    for (const VectorXd& c : piece.corners) points.push_back(root * lift_velocity(impact, c));
    const VectorXd weights = min_norm_weights(points);
    VectorXd c = VectorXd::Zero(piece.corners[0].size()), point = VectorXd::Zero(points[0].size());
    for (std::size_t k = 0; k < points.size(); ++k) {
      c += weights[k] * piece.corners[k];
      point += weights[k] * points[k];
    }
    if (0.5 * point.squaredNorm() < best.value)
      best = {0.5 * point.squaredNorm(), c, objective.name};
  }
  return best;
}

WitnessTarget witness_target(const Objective& objective, bool most) {
  if (objective.q.size() == 0)
    return {most ? WitnessTarget::kMostEnergy : WitnessTarget::kLeastEnergy};
  const double side = most ? 1 : -1;
  return {WitnessTarget::kLinear, side * objective.q, side * objective.load};
}

std::vector<WitnessTarget> witness_targets(const Questions& questions) {
  std::vector<WitnessTarget> targets;
  for (const Objective& o : questions.maximize) targets.push_back(witness_target(o, true));
  for (const Objective& o : questions.minimize) targets.push_back(witness_target(o, false));
  return targets;
}

std::string search_text(const ImpactCase& impact, const Questions& questions,
                        const std::vector<double>& best) {
  std::string text;
  const double before = energy_at(impact, impact.problem().c);
  const std::size_t maxima = questions.maximize.size();
  for (std::size_t t = 0; t < best.size() && text.size() < 60; ++t) {
    const bool most = t < maxima;
    const Objective& o = most ? questions.maximize[t] : questions.minimize[t - maxima];
    if (!std::isfinite(best[t])) continue;
    const double value = o.q.size() ? (most ? best[t] : -best[t]) + o.constant : before + best[t];
    text += fmt::format("{}{} {} to {:.5g}", text.empty() ? "" : ", ", o.name, most ? "up" : "down",
                        value);
  }
  return text;
}

std::string phase_text(const ImpactCase& impact, const WitnessPhase& phase) {
  using enum ContactState;
  std::vector<std::string> parts;
  for (const ContactState state : {kSticking, kSlidingPositive, kSlidingNegative, kSliding}) {
    std::vector<std::string> names;
    for (int i = 0; i < impact.problem().contacts(); ++i) {
      if (phase.states[i] == state && phase.impulse[i] > 0) names.push_back(impact.names[i]);
    }
    if (names.empty()) continue;
    const bool one = names.size() == 1;
    std::string who = names.back();
    names.pop_back();
    if (!one) who = fmt::format("{} and {}", join(names), who);
    const char* verb = state == kSticking ? "stick" : "slide";
    const char* way = state == kSlidingPositive ? " +" : state == kSlidingNegative ? " -" : "";
    parts.push_back(
        fmt::format("{} push{} and {}{}{}", who, one ? "es" : "", verb, one ? "s" : "", way));
  }
  return parts.empty() ? "nothing pushes" : join(parts);
}

VectorXd parse_contact_velocity(const ImpactCase& impact, const std::string& option,
                                const std::string& text) {
  constexpr double kFastest = 1e50;
  std::vector<double> numbers;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    try {
      numbers.push_back(evaluate(text.substr(at, end - at)));
    } catch (const InputError& e) {
      throw InputError(fmt::format("{} {}: {}", option, text, e.what()));
    }
    at = end + 1;
  }
  const std::size_t wanted = impact.problem().c.size();
  if (numbers.size() != wanted) {
    throw InputError(
        fmt::format("{} {}: has {} numbers; {} contacts need {} (normals, then tangentials)",
                    option, text, numbers.size(), impact.names.size(), wanted));
  }
  for (const double x : numbers) {
    if (!(std::abs(x) <= kFastest))
      throw InputError(
          fmt::format("{} {}: velocities must be numbers up to {:.0e}", option, text, kFastest));
  }
  return Eigen::Map<VectorXd>(numbers.data(), static_cast<Eigen::Index>(wanted));
}

Answers answers(const ImpactCase& impact, const std::vector<Polytope>& pieces, bool exact,
                const Questions& questions, const std::optional<WitnessResult>& found,
                const std::vector<std::optional<ImpulseRange>>& impulses) {
  Answers all;
  const double before = energy_at(impact, impact.problem().c);
  // the witness's value, and beside it what the set and the bound of energy and cone prove
  const auto extreme = [&](const Objective& o, bool most, std::size_t place) {
    const bool of_impulse = o.load.size() > 0;
    Extreme answer{.name = o.name};
    if (!pieces.empty() && !of_impulse) {
      answer = most ? maximize(impact, pieces, o) : minimize(impact, pieces, o);
      answer.bound = answer.value;
    }
    answer.unit = o.q.size() == 0 ? "J" : of_impulse ? "N s" : "m/s";
    const bool proven = of_impulse ? place < impulses.size() && impulses[place] : exact;
    if (of_impulse && proven) answer.bound = most ? impulses[place]->most : impulses[place]->least;
    if (!found || found->best.size() <= place || found->best[place].outcome.c_plus.size() == 0)
      return answer;
    const Witness& witness = found->best[place];
    const double side = most ? 1 : -1;
    double bound = found->at_most[place];
    bound = o.q.size() ? side * bound + o.constant : before + bound;
    if (std::isfinite(bound) && (!answer.bound || side * bound < side * *answer.bound) && !proven)
      answer.bound = bound;
    answer.value = of_impulse ? o.load.dot(witness.outcome.impulse)
                              : value_at(impact, o, witness.outcome.c_plus);
    answer.c = witness.outcome.c_plus;
    answer.witness = witness;
    // rounding must not part the two
    if (answer.bound && side * *answer.bound < side * answer.value) answer.bound = answer.value;
    return answer;
  };
  std::size_t place = 0;
  for (const Objective& o : questions.maximize) all.maximize.push_back(extreme(o, true, place++));
  for (const Objective& o : questions.minimize) all.minimize.push_back(extreme(o, false, place++));
  for (std::size_t k = 0; k < questions.contains.size() && !pieces.empty(); ++k) {
    const VectorXd& c = questions.contains[k];
    const Nearest nearest = nearest_point(pieces, c);
    all.contains.push_back({c, nearest, same_outcome(impact.problem(), c, nearest.point)});
  }
  return all;
}

}  // namespace routh::io
