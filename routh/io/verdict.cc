#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "routh/io/results.h"

/// Results in words.
namespace routh::io {
namespace {

constexpr std::size_t kNamedInVerdict = 2;  // contacts of a verdict

/// "sticks, slides or separates", in this order whatever was found first.
std::string does(const std::vector<ContactState>& states) {
  std::vector<std::string> words;
  const auto add = [&](const char* word, std::initializer_list<ContactState> which) {
    if (std::any_of(states.begin(), states.end(), [&](ContactState s) {
          return std::find(which.begin(), which.end(), s) != which.end();
        }))
      words.emplace_back(word);
  };
  using enum ContactState;
  add("sticks", {kSticking});
  if (std::find(states.begin(), states.end(), kSlidingPositive) != states.end() &&
      std::find(states.begin(), states.end(), kSlidingNegative) != states.end())
    add("slides either way", {kSlidingPositive});
  else
    add("slides", {kSlidingPositive, kSlidingNegative, kSliding});
  add("separates", {kSeparating});
  if (words.size() < 2) return words.empty() ? "" : words[0];
  const std::string last = words.back();
  words.pop_back();
  return fmt::format("{} or {}", fmt::join(words, ", "), last);
}

/// What there is more than one of.
std::string several(const Ambiguity& known) {
  if (const ExactResult* set = known.whole_set())
    return set->pieces.size() == 1
               ? "the set of outcomes is more than a point"
               : fmt::format("the set of outcomes has {} pieces", set->pieces.size());
  if (known.outcomes.empty()) return "samples end differently";
  const std::string found =
      fmt::format("{} outcome{}", known.outcomes.size(), known.outcomes.size() > 1 ? "s" : "");
  return found + (!known.mixtures             ? ""
                  : known.outcomes.size() > 1 ? " and mixtures of them"
                                              : ", others by mixing the order of impulses");
}

/// Of a range that samples or an unfinished search found.
const char* at_least(const Ambiguity& known) {
  return known.sampled() || !known.searched() ? "at least " : "";
}

std::string not_unique(const ImpactCase& impact, const Ambiguity& known) {
  std::string text = several(known);
  // the contacts that differ most, by what they do
  std::size_t named = 0;
  for (const ContactSpread& c : known.contacts) {
    if (named == kNamedInVerdict || c.states.size() < 2) continue;
    text += fmt::format("{} {} {}", named++ ? "," : ";", impact.names[c.contact], does(c.states));
  }
  text += fmt::format("; velocities spread over {}{:.3g} m/s", at_least(known), known.spread);
  if (!known.searched()) text += fmt::format("; searched: {}", searched_text(known));
  return text;
}

std::string not_known(const Ambiguity& known) {
  if (known.exact && known.exact->status == ExactStatus::kJammed)
    return "not known whether unique: the contacts can jam, there is no set";
  if (known.exact)
    return fmt::format("not known whether unique: {}",
                       known.exact->pieces.empty()
                           ? "no set was found"
                           : "the budget was spent, the set found contains more than the outcomes");
  const bool samples = known.set && known.set->terminated > 0;
  if (known.outcomes.empty() && !samples)
    return fmt::format("not known whether unique: no outcome was found; searched: {}",
                       searched_text(known));
  return fmt::format("perhaps unique: {}, but {}; searched: {}",
                     !known.outcomes.empty() ? "one outcome was found"
                     : known.coarse          ? "samples end alike but for the size of their steps"
                                             : "samples end alike",
                     known.ended()            ? "others may exist"
                     : known.outcomes.empty() ? "samples prove nothing"
                                              : "not every order or sample ended",
                     searched_text(known));
}

std::string verdict_by(const ImpactCase& impact, const Ambiguity& known, const std::string& law) {
  const std::string by = law.empty() ? "" : fmt::format(" by the {} law", law);
  const std::optional<bool> unique = known.unique();
  if (!unique) return not_known(known);
  if (!*unique)
    return fmt::format("NOT unique{}: {}{}", by,
                       known.colliding ? ""
                                       : "no contact approaches, yet friction allows an impact "
                                         "without collision: ",
                       not_unique(impact, known));
  if (!known.colliding)
    return fmt::format("unique{}: no contact approaches, the velocity stays as it is", by);
  return fmt::format(
      "unique{}: {}", by,
      known.whole_set() ? "the set is one point" : "one outcome; " + searched_text(known));
}

}  // namespace

std::string searched_text(const Ambiguity& known) {
  std::vector<std::string> parts;
  if (known.simultaneous)
    parts.push_back(known.all_modes() ? "all contact modes" : "some contact modes");
  if (known.sequential)
    parts.push_back(known.one_order      ? "one order"
                    : known.all_orders() ? "all orders"
                                         : "some orders");
  if (known.whole)
    parts.push_back("the exact set");
  else if (known.set && known.set->terminated == known.set->samples)
    parts.push_back(fmt::format("{} samples", known.set->samples));
  else if (known.set)
    parts.push_back(
        fmt::format("{} samples, {} of which ended", known.set->samples, known.set->terminated));
  if (!known.listed.empty())
    parts.push_back(known.all_listed ? "all that the law has" : "not all that the law has");
  if (known.stopped) parts.push_back("stopped early");
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string verdict(const ImpactCase& impact, const Ambiguity& known) {
  return verdict_by(impact, known, "");
}

std::string verdict(const ImpactCase& impact, const ImpactReport& report) {
  if (report.law == "single")
    return report.outcomes.empty() ? "not known whether unique: the contact did not come to an end"
                                   : "unique for each contact alone; 'routh check' asks about all";
  if (report.law == "witnesses") {
    const std::size_t count = report.outcomes.size();
    if (count == 0) return "not known whether unique: no extreme was found";
    if (count == 1) return "perhaps unique: all extremes that were found are one outcome";
    return fmt::format(
        "NOT unique: {} extreme outcomes; velocities spread over at least {:.3g} m/s", count,
        report.known.spread);
  }
  return verdict_by(impact, report.known, report.law == "all" ? "" : report.law);
}

/// "slip of B"
std::string violated(const ImpactCase& impact, const Violation& violation) {
  return violation.contact < 0
             ? std::string(to_string(violation.of))
             : fmt::format("{} of {}", to_string(violation.of), impact.names[violation.contact]);
}

std::string nothing_text(const ImpactCase& impact, const ImpactReport& report) {
  std::string text = "no outcome was found";
  const std::optional<SimultaneousResult>& at_once = report.known.simultaneous;
  if (!at_once || !at_once->nothing) return text;
  const auto& [best, violation, exists] = *at_once->nothing;
  text += fmt::format(": what comes closest violates the {} by {:.2g} of the largest velocity; {}",
                      violated(impact, violation), violation.size,
                      exists ? "one exists, since the friction cone is pointed"
                             : "none need exist, since the friction cone is not pointed");
  if (!report.borderline.empty())
    text += fmt::format(
        "; {} that rounding can neither confirm nor refute",
        report.borderline.size() == 1 ? "there is a candidate" : "there are candidates");
  return text;
}

std::string order_text(const ImpactCase& impact, const std::vector<int>& order) {
  std::vector<std::string> names;
  for (const int i : order) names.push_back(impact.names[i]);
  return fmt::format("{}", fmt::join(names, " "));
}

}  // namespace routh::io
