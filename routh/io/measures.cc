#include "routh/io/measures.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "routh/io/document.h"
#include "routh/io/text.h"
#include "routh/simulate/reduce.h"

namespace routh::io {
namespace {

using Eigen::VectorXd;

constexpr double kNoMeasure = std::numeric_limits<double>::quiet_NaN();
constexpr double kAtRest = 1e-6;  // of the energy that there was

std::string unit_of(const std::string& what) { return what == "energy" ? "J" : "m/s"; }

/// Range of a form over the outcomes, in the units of the user: energy afterwards, not its change.
Between range_of(const ImpactMeasured& m, int form) {
  const Objective& objective = m.forms[form];
  Between range = m.rows[form] < 0 ? m.result.energy : m.result.forms[m.rows[form]];
  if (!range.known()) return range;
  const double shift = m.rows[form] < 0
                           ? kinetic_energy(m.impact.scenario.terms, m.impact.scenario.v)
                           : objective.constant;
  range.low += shift, range.high += shift;
  // no energy is below zero: what is there is rounding
  if (m.rows[form] < 0)
    range.low = std::max(0.0, range.low), range.high = std::max(0.0, range.high);
  return range;
}

/// A measure of one form: "max.energy", "spread.normal.A".
std::optional<Measure> form_measure(const std::string& name, MeasureList& list) {
  struct Way {
    const char *prefix, *about;
    double (*of)(const Between&);
  };
  static const Way kWays[] = {
      {"max.", "largest {} after the impact [{}]", [](const Between& r) { return r.high; }},
      {"min.", "smallest {} after the impact [{}]", [](const Between& r) { return r.low; }},
      {"worst.", "largest |{}| after the impact [{}]",
       [](const Between& r) { return std::max(std::abs(r.low), std::abs(r.high)); }},
      {"spread.", "spread of {} over the outcomes [{}]",
       [](const Between& r) { return r.width(); }}};
  for (const Way& way : kWays) {
    if (!name.starts_with(way.prefix)) continue;
    const std::string what = name.substr(std::string(way.prefix).size());
    auto known = std::find(list.forms.begin(), list.forms.end(), what);
    if (known == list.forms.end()) known = list.forms.insert(list.forms.end(), what);
    const int form = static_cast<int>(known - list.forms.begin());
    // energy has no sign
    const char* how = what == "energy" && name.starts_with("worst.") ? kWays[0].about : way.about;
    const std::string about = fmt::format(fmt::runtime(how), what, unit_of(what));
    return Measure{.name = name,
                   .about = about,
                   .form = form,
                   .of_impact = [form, of = way.of](const ImpactMeasured& m) {
                     const Between range = range_of(m, form);
                     return range.known() ? of(range) : kNoMeasure;
                   }};
  }
  return {};
}

/// What one contact is asked to do: states as bits.
struct Asks {
  std::string contact;
  unsigned states = 0;
};
unsigned state_bits(const std::string& word) {
  unsigned bits = 0;
  for (int s = 0; s <= static_cast<int>(ContactState::kSliding); ++s) {
    const std::string name(to_string(static_cast<ContactState>(s)));
    // "slides" is any direction
    if (name == word || (word == "slides" && name.starts_with("slides"))) bits |= 1u << s;
  }
  return bits;
}

/// "probability.A.sticks&B.separates"
std::optional<Measure> probability(const std::string& name, const Scenario& scenario) {
  constexpr std::string_view kPrefix = "probability.";
  if (!name.starts_with(kPrefix)) return {};
  std::vector<Asks> asks;
  std::vector<std::string> known;
  for (const Contact& contact : scenario.terms.contacts) known.push_back(contact.name);
  std::string rest = name.substr(kPrefix.size());
  for (bool more = true; more;) {
    const std::size_t end = rest.find('&');
    more = end != std::string::npos;
    const std::string one = rest.substr(0, end);
    rest = more ? rest.substr(end + 1) : "";
    const std::size_t dot = one.rfind('.');
    const std::string contact = one.substr(0, dot == std::string::npos ? 0 : dot);
    const unsigned states = dot == std::string::npos ? 0 : state_bits(one.substr(dot + 1));
    if (states == 0)
      throw InputError(fmt::format(
          "--measure {}: write probability.CONTACT.STATE, joined by & where several are meant; "
          "states are sticks, slides, slides+, slides- and separates",
          name));
    // contacts of models come and go
    if (index_of(known, contact) < 0 && !scenario.model()) {
      const std::string close = nearest(contact, known);
      throw InputError(fmt::format(
          "--measure {}: there is no contact '{}'; {}", name, contact,
          close.empty() ? "known are " + join(known) : "did you mean '" + close + "'?"));
    }
    asks.push_back({contact, states});
  }
  return Measure{.name = name,
                 .about = name.substr(kPrefix.size()) + ", part of the samples",
                 .words = true,
                 .samples = true,
                 .of_impact = [asks](const ImpactMeasured& m) {
                   std::vector<std::pair<std::size_t, unsigned>> where;
                   for (const Asks& one : asks) {
                     const int i = index_of(m.impact.names, one.contact);
                     if (i < 0) return kNoMeasure;
                     where.emplace_back(static_cast<std::size_t>(i), one.states);
                   }
                   if (m.result.ended == 0) return kNoMeasure;
                   std::uint64_t count = 0;
                   for (const auto& [word, times] : m.result.words) {
                     const bool all =
                         std::all_of(where.begin(), where.end(), [&w = word](const auto& place) {
                           return place.second >> (w[place.first] - 'a') & 1;
                         });
                     if (all) count += times;
                   }
                   return static_cast<double>(count) / static_cast<double>(m.result.ended);
                 }};
}

/// Which outcomes a law counts: those of a continuum have no number.
std::string counted(const std::string& law) {
  return law == "set"   ? "outcomes of the simultaneous law"
         : law == "all" ? "outcomes without mixtures"
                        : "outcomes of the " + law + " law";
}

double sampled(const ImpactMeasured& m, double value) {
  return m.result.ended > 0 ? value : kNoMeasure;
}

const std::vector<Measure>& plain_measures() {
  static const std::vector<Measure> list{
      {.name = "outcomes",
       .about = "outcomes of the law; of the laws set and all, which have mixtures of them, those "
                "that can be counted",
       .counts = true,
       .simultaneous = true,
       .of_impact =
           [](const ImpactMeasured& m) {
             if (m.result.outcomes > 0) return static_cast<double>(m.result.outcomes);
             return m.result.simultaneous.value_or(0) > 0
                        ? static_cast<double>(*m.result.simultaneous)
                        : kNoMeasure;
           }},
      {.name = "simultaneous",
       .about = "outcomes of the simultaneous law",
       .counts = true,
       .simultaneous = true,
       .of_impact =
           [](const ImpactMeasured& m) {
             return m.result.simultaneous ? static_cast<double>(*m.result.simultaneous)
                                          : kNoMeasure;
           }},
      {.name = "unique",
       .about = "is the outcome unique? 1: yes",
       .counts = true,
       .of_impact =
           [](const ImpactMeasured& m) {
             return m.result.unique ? static_cast<double>(*m.result.unique) : kNoMeasure;
           }},
      {.name = "spread",
       .about = "widest range of a contact velocity [m/s]",
       .of_impact = [](const ImpactMeasured& m) { return m.result.spread(); }},
      {.name = "steps",
       .about = "mean number of steps",
       .samples = true,
       .of_impact = [](const ImpactMeasured& m) { return sampled(m, m.result.steps); }},
      {.name = "impulse",
       .about = "mean sum of normal impulses [N s]",
       .samples = true,
       .of_impact = [](const ImpactMeasured& m) { return sampled(m, m.result.impulse); }},
      {.name = "ambiguous",
       .about = "part of the samples with an ambiguous step",
       .samples = true,
       .of_impact =
           [](const ImpactMeasured& m) {
             return sampled(m, static_cast<double>(m.result.ambiguous) /
                                   static_cast<double>(m.result.samples));
           }},
      {.name = "ended",
       .about = "part of the samples that ended",
       .samples = true,
       .of_impact =
           [](const ImpactMeasured& m) {
             return m.result.samples > 0 ? static_cast<double>(m.result.ended) /
                                               static_cast<double>(m.result.samples)
                                         : kNoMeasure;
           }},
      {.name = "contacts",
       .about = "contacts that touch",
       .counts = true,
       .of_impact =
           [](const ImpactMeasured& m) { return static_cast<double>(m.impact.names.size()); }},
      {.name = "residual",
       .about = "worst residual, relative",
       .of_impact = [](const ImpactMeasured& m) { return m.result.residual; }}};
  return list;
}

/// Part of the runs that do so, of those that were not refused.
Measure share(const std::string& name, const std::string& about,
              std::function<bool(const RunsMeasured&, const EnsembleRun&)> does) {
  return {.name = name, .about = about, .of_runs = [does = std::move(does)](const RunsMeasured& m) {
            std::uint64_t all = 0, some = 0;
            for (const EnsembleRun& run : m.result.runs) {
              if (!run.finished) continue;
              ++all;
              some += does(m, run);
            }
            return all > 0 ? static_cast<double>(some) / static_cast<double>(all) : kNoMeasure;
          }};
}

bool at_rest(const RunsMeasured& m, const EnsembleRun& run) {
  const Scenario& scenario = m.scenario;
  if (run.status == SimulationStatus::kInterrupted) return false;
  const Terms now = scenario.moving()->terms(run.final.q, run.final.v, run.final.time);
  const double there = std::max(std::abs(run.energy_start - run.energy_end),
                                kinetic_energy(scenario.terms, scenario.v));
  return kinetic_energy(now, run.final.v) <= kAtRest * there;
}

/// "end(torso.z<0.2)", "ever(block.angle>0.5)".
std::optional<Measure> bound(const std::string& name, const Scenario& scenario) {
  const bool ever = name.starts_with("ever(");
  if ((!ever && !name.starts_with("end(")) || !name.ends_with(")")) return {};
  const std::size_t open = name.find('('), sign = name.find_first_of("<>");
  const auto fail = [&](const std::string& what) {
    throw InputError(fmt::format("--measure {}: {}", name, what));
  };
  if (sign == std::string::npos || sign == open + 1)
    fail("write a coordinate, < or >, and a number, such as end(torso.z<0.2)");
  const std::string what = name.substr(open + 1, sign - open - 1);
  double least = 0;
  try {
    least = evaluate(name.substr(sign + 1, name.size() - sign - 2));
  } catch (const InputError& e) {
    fail(e.what());
  }
  const int i = index_of(scenario.coordinates, what);
  if (i < 0) {
    const std::string close = nearest(what, scenario.coordinates);
    fail(fmt::format("there is no coordinate '{}'; {}", what,
                     close.empty() ? "known are " + join(scenario.coordinates)
                                   : "did you mean '" + close + "'?"));
  }
  const bool above = name[sign] == '>';
  return share(name,
               fmt::format("part of the runs with {} {} {:g} {}", what, above ? "above" : "below",
                           least, ever ? "at some time" : "at the end"),
               [=](const RunsMeasured& m, const EnsembleRun& run) {
                 const auto beyond = [&](const VectorXd& q) {
                   return above ? q[i] > least : q[i] < least;
                 };
                 if (beyond(run.final.q)) return true;
                 const std::vector<VectorXd>& way = m.result.kept[run.index].q;
                 return ever && std::any_of(way.begin(), way.end(), beyond);
               });
}

const std::vector<Measure>& run_measures() {
  static const std::vector<Measure> list{
      share("rests", "part of the runs that end at rest", at_rest),
      share("early", "part of the runs that stop before their end",
            [](const RunsMeasured&, const EnsembleRun& run) { return ends_early(run.status); }),
      {.name = "impacts",
       .about = "mean number of impacts",
       .of_runs =
           [](const RunsMeasured& m) {
             double sum = 0;
             for (const EnsembleRun& run : m.result.runs) sum += run.impacts;
             return m.result.runs.empty() ? kNoMeasure
                                          : sum / static_cast<double>(m.result.runs.size());
           }},
      {.name = "words",
       .about = "different contact words",
       .counts = true,
       .of_runs = [](const RunsMeasured& m) { return static_cast<double>(m.result.words.size()); }},
      {.name = "modes",
       .about = "different final modes",
       .counts = true,
       .of_runs = [](const RunsMeasured& m) { return static_cast<double>(m.result.modes.size()); }},
      {.name = "energy",
       .about = "mean energy at the end [J]",
       .of_runs = [](const RunsMeasured& m) {
         double sum = 0;
         for (const EnsembleRun& run : m.result.runs) sum += run.energy_end;
         return m.result.runs.empty() ? kNoMeasure
                                      : sum / static_cast<double>(m.result.runs.size());
       }}};
  return list;
}

}  // namespace

const std::vector<MeasureKind>& measure_kinds(bool of_runs) {
  const auto kinds = [](const std::vector<Measure>& plain, std::vector<MeasureKind> more) {
    std::vector<MeasureKind> all;
    for (const Measure& m : plain) all.push_back({m.name, m.about});
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  static const std::vector<MeasureKind> impacts =
      kinds(plain_measures(),
            {{"max.WHAT", "largest energy, normal.NAME, tangential.NAME, v[K] or sum of these"},
             {"min.WHAT", "smallest"},
             {"worst.WHAT", "largest size"},
             {"spread.WHAT", "its range"},
             {"probability.CONTACT.STATE",
              "part of the samples where the contact sticks, slides, slides+, slides-, separates; "
              "several joined by &"}});
  static const std::vector<MeasureKind> runs =
      kinds(run_measures(), {{"end(NAME<X)",
                              "part of the runs with a coordinate below (>: above) a "
                              "number at the end"},
                             {"ever(NAME>X)", "at some time"}});
  return of_runs ? runs : impacts;
}

MeasureList measures_of(const MapPlan& plan, const Scenario& scenario) {
  MeasureList list;
  const bool of_runs = plan.runs > 0;
  for (const std::string& name : plan.measures) {
    if (std::any_of(list.measures.begin(), list.measures.end(),
                    [&](const Measure& m) { return m.name == name; }))
      throw InputError(fmt::format("--measure {}: is given twice", name));
    const std::vector<Measure>& plain = of_runs ? run_measures() : plain_measures();
    const auto known =
        std::find_if(plain.begin(), plain.end(), [&](const Measure& m) { return m.name == name; });
    std::optional<Measure> found;
    if (known != plain.end())
      found = *known;
    else if (of_runs)
      found = bound(name, scenario);
    else if (!(found = form_measure(name, list)))
      found = probability(name, scenario);
    if (!found) {
      std::vector<std::string> words;
      for (const MeasureKind& kind : measure_kinds(of_runs)) words.push_back(kind.name);
      const std::string close = nearest(name, words);
      throw InputError(fmt::format(
          "--measure {}: {} of {}; {}", name, "there is no such measure",
          of_runs ? "runs" : "impacts",
          close.empty() ? "known are " + join(words) : "did you mean '" + close + "'?"));
    }
    if (name == "outcomes") found->about = counted(plan.batch.law);
    list.measures.push_back(std::move(*found));
  }
  if (list.measures.empty()) throw InputError("--measure: name at least one");
  return list;
}

}  // namespace routh::io
