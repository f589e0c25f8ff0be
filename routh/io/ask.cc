#include "routh/io/ask.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "routh/impact/cone.h"
#include "routh/io/document.h"
#include "routh/io/figures.h"
#include "routh/simulate/laws.h"

namespace routh::io {
namespace {

constexpr double kMostNumbers = 2e7;     // of outcomes that are kept
constexpr double kMostSamples = 0x1p40;  // of a set
constexpr double kStepsOfASample = 1e6;  // of a sample
constexpr std::uint64_t kFigureOutcomes = 20'000, kFigurePaths = 5'000;
constexpr std::size_t kHastyOutcomes = 2000;  // that are written within the time Ctrl-C leaves

constexpr std::int64_t kCornerPrograms = 200'000;  // in search of paths to corners

bool stopped(const Asked& asked) { return asked.stop && asked.stop(); }

std::function<bool(std::uint64_t)> progress_of(const Asked& asked, std::uint64_t total) {
  if (!asked.progress) return {};
  return [tell = asked.progress, total](std::uint64_t done) { return tell(done, total); };
}

/// By other means the samples that are to be shown or compared are made here, on top: they are few.
SetResult sampled(const ImpactCase& impact, const SetOptions& options, const Asked& asked) {
  if (!asked.sampler) return set_valued(impact.problem(), options);
  SetOptions shared = options;
  shared.keep = std::min(asked.keep, options.samples);
  SetResult set = asked.sampler(impact.problem(), shared);
  if (set.stopped || (options.keep == shared.keep && options.paths == 0)) return set;
  SetOptions again = options;
  again.samples = std::min(options.samples, std::max(options.keep, options.paths));
  SetResult few = set_valued(impact.problem(), again);
  set.kept = std::move(few.kept);
  set.paths = std::move(few.paths);
  return set;
}

/// What Theorem 9 promises of the samples that are asked for.
SamplerCertificate certified_samples(const ImpactCase& impact, const Asked& asked, double step) {
  if (!pointed(impact.problem()))
    throw InputError(
        "--epsilon: the friction cone is not pointed, the impact need not end and nothing can be "
        "promised of its samples; leave it out");
  SamplerCertificate result = certificate(
      impact.problem(), {asked.epsilon, asked.delta > 0 ? asked.delta : CertificateOptions{}.delta,
                         step, asked.stop});
  if (!(result.steps <= kStepsOfASample))
    throw InputError(fmt::format(
        "--epsilon: at --step {:g} a sample may need {:.3g} steps and at most {:.0f} are possible; "
        "take a larger step",
        step, result.steps, kStepsOfASample));
  return result;
}

/// The set law; held against the exact set where that was asked for.
ImpactReport ask_set(const ImpactCase& impact, const Asked& asked) {
  SetOptions options = set_options(impact, asked);
  if (options.draws == Draws::kExtremes && !pointed(impact.problem()))
    throw InputError(
        "--draws extremes: the friction cone is not pointed, the impact need not end and has no "
        "extremes; take corners");
  std::optional<SamplerCertificate> certified;
  if (asked.epsilon > 0) {
    certified = certified_samples(impact, asked, options.step);
    options.limit = static_cast<int>(certified->steps);
    options.final_step = certified->final_step;
  }
  const std::uint64_t keep = options.keep;
  ExactResult exact;
  if (asked.coverage && !asked.sampler) exact = exact_set(impact, asked);
  if (asked.coverage) options.keep = std::max(options.keep, kComparedOutcomes);
  options.keep = std::min(options.samples, std::max(options.keep, asked.least_kept));
  if (asked.figure) {
    options.keep = std::max(options.keep, std::min(options.samples, kFigureOutcomes));
    options.paths = kFigurePaths;
  }
  options.pack = asked.packed;
  options.progress = progress_of(asked, options.samples);
  SetResult set = sampled(impact, options, asked);
  // processes that help with samples have left by now
  if (asked.coverage && asked.sampler && !set.stopped) exact = exact_set(impact, asked);
  if (stopped(asked) && set.kept.size() > kHastyOutcomes) set.kept.resize(kHastyOutcomes);
  ImpactReport report = report_set(impact, std::move(set), options, keep);
  report.covers = asked.coverage;
  report.certificate = std::move(certified);
  // against a set that only contains the truth samples would seem worse than they are
  const bool exactly = exact.status == ExactStatus::kExact && !exact.pieces.empty();
  if (asked.coverage && report.set()->terminated > 0 && exactly && !stopped(asked)) {
    std::vector<Eigen::VectorXd> samples;
    for (const SetSample& s : report.set()->kept) {
      if (s.terminated) samples.push_back(s.outcome.c_plus);
    }
    const Coverage covered = coverage(exact.pieces, samples, asked.stop);
    if (!covered.stopped) report.coverage = covered;
    report.covered = std::move(exact.pieces);
  } else if (asked.coverage) {
    report.complete = false;
  }
  return report;
}

AmbiguityOptions all_options(const ImpactCase& impact, const Asked& asked) {
  AmbiguityOptions options{.seed = asked.seed,
                           .threads = asked.threads,
                           .sequential = sequential_options(impact, asked)};
  if (asked.samples) {
    options.samples = *asked.samples;
    options.progress = progress_of(asked, options.samples);
  }
  if (asked.draws == "uniform") options.draws = Draws::kUniform;
  options.device = asked.device.walks;
  if (impact.problem().tangents == 2 && !impact.problem().circular())
    options.edges = impact.problem().edges;
  options.stop = asked.stop;
  return options;
}

ImpactReport ask_all(const ImpactCase& impact, const Asked& asked) {
  return report_all(impact, all_options(impact, asked));
}

/// The search for the extremes that are asked for.
WitnessResult search(const ImpactCase& impact, const Questions& questions, const Asked& asked,
                     double max_seconds) {
  WitnessOptions options{
      .seed = asked.seed, .threads = asked.threads, .max_seconds = max_seconds, .stop = asked.stop};
  if (asked.tell)
    options.progress = [&](const std::vector<double>& best) {
      asked.tell(search_text(impact, questions, best));
    };
  return witnesses(impact.problem(), witness_targets(questions), options);
}

/// Exact ranges of the impulses that are asked for, in the time that the set has left.
std::vector<std::optional<ImpulseRange>> impulse_ranges(const ImpactCase& impact,
                                                        const Questions& questions,
                                                        const Asked& asked, double spent) {
  std::vector<std::optional<ImpulseRange>> ranges;
  for (const std::vector<Objective>* list : {&questions.maximize, &questions.minimize}) {
    for (const Objective& o : *list) {
      ranges.emplace_back();
      ExactOptions options = asked.exact;
      options.max_seconds = (asked.exact.max_seconds - spent) / 4;
      options.stop = asked.stop;
      if (o.load.size() > 0 && options.max_seconds > 0 && !stopped(asked))
        ranges.back() = impulse_range(impact.problem(), o.load, options);
    }
  }
  return ranges;
}

/// The exact set, and witnesses of what is asked about it: half of the time is theirs.
ImpactReport ask_exact(const ImpactCase& impact, const Asked& asked) {
  const Questions& questions = asked.questions;
  if (questions.maximize.empty() && questions.minimize.empty())
    return report_exact(impact, exact_set(impact, asked), questions);
  WitnessResult found = search(impact, questions, asked, asked.exact.max_seconds / 2);
  Asked rest = asked;
  rest.exact.max_seconds = std::max(0.01, asked.exact.max_seconds - found.seconds);
  ExactResult set{.status = ExactStatus::kIncomplete};
  const ImpactProblem& p = impact.problem();
  const bool possible = p.tangents == 1 || p.contacts() <= policy::kExactInSpace;
  if (possible && !stopped(asked)) set = exact_set(impact, rest);
  return report_exact(impact, std::move(set), questions, std::move(found),
                      impulse_ranges(impact, questions, rest, set.seconds));
}

/// Every contact velocity both ways, and energy.
ImpactReport ask_witnesses(const ImpactCase& impact, const Asked& asked) {
  const std::vector<Objective> all = every_objective(impact);
  const Questions questions{.maximize = all, .minimize = all};
  return report_witnesses(impact, questions,
                          search(impact, questions, asked, asked.exact.max_seconds));
}

ImpactReport ask_single(const ImpactCase& impact, const Asked& asked) {
  std::optional<int> contact;
  if (!asked.contact.empty()) contact = contact_index(impact, "--contact", asked.contact);
  return report_single(impact, contact);
}

ImpactReport ask_simultaneous(const ImpactCase& impact, const Asked& asked) {
  return report_simultaneous(impact, {.stop = asked.stop});
}

ImpactReport ask_sequential(const ImpactCase& impact, const Asked& asked) {
  return report_sequential(impact, sequential_options(impact, asked));
}

ImpactReport ask_lzb(const ImpactCase& impact, const Asked& asked) {
  LzbOptions options = lzb_options(impact, asked);
  options.stop = asked.stop;
  return report_lzb(impact, options);
}

/// Laws that have options, or results beyond their outcomes.
const std::map<std::string, ImpactReport (*)(const ImpactCase&, const Asked&)> kAsk{
    {"all", ask_all},
    {"simultaneous", ask_simultaneous},
    {"sequential", ask_sequential},
    {"set", ask_set},
    {"exact", ask_exact},
    {"witnesses", ask_witnesses},
    {"lzb", ask_lzb},
    {"single", ask_single}};

}  // namespace

int contact_index(const ImpactCase& impact, const std::string& option, const std::string& name) {
  const auto found = std::find(impact.names.begin(), impact.names.end(), name);
  if (found == impact.names.end())
    throw InputError(fmt::format("{} {}: there is no touching contact of that name; known are {}",
                                 option, name, join(impact.names)));
  return static_cast<int>(found - impact.names.begin());
}

void prepare_cone(Scenario& scenario, const std::string& law) {
  if (!law_named(law).polygon) return;
  if (scenario.run.edges == 0)
    throw InputError(fmt::format(
        "--cone circular: the law {} needs a polygon; --edges says of how many edges", law));
  if (!scenario.run.edges) scenario.run.edges = kEdges;
}

SequentialOptions sequential_options(const ImpactCase& impact, const Asked& asked) {
  SequentialOptions options;
  for (const std::string& name : asked.order)
    options.order.push_back(contact_index(impact, "--order", name));
  options.stop = asked.stop;
  options.single = asked.single == "routh" ? SingleLaw::kRouth : SingleLaw::kAlgebraic;
  return options;
}

LzbOptions lzb_options(const ImpactCase& impact, const Asked& asked) {
  const std::size_t contacts = impact.names.size(), given = asked.stiffness.size();
  if (given > 1 && given != contacts)
    throw InputError(fmt::format("--stiffness: {} numbers; one for each of the contacts {}, please",
                                 given, join(impact.names)));
  for (const double k : asked.stiffness) {
    if (!(k > 0) || !std::isfinite(k))
      throw InputError(fmt::format("--stiffness {}: must be positive and finite", k));
  }
  if (!(asked.exponent >= 1 && asked.exponent <= 10))
    throw InputError(fmt::format("--exponent {}: must be between 1 and 10", asked.exponent));
  LzbOptions options{.exponent = asked.exponent};
  if (given > 1)
    options.stiffness =
        Eigen::Map<const Eigen::VectorXd>(asked.stiffness.data(), static_cast<Eigen::Index>(given));
  return options;
}

namespace {
/// Of one outcome.
double numbers_kept(const ImpactCase& impact) {
  return static_cast<double>(2 * impact.problem().c.size() + impact.scenario.v.size());
}
}  // namespace

bool memory_holds(const ImpactCase& impact, const SetOptions& options) {
  return static_cast<double>(std::min(options.keep, options.samples)) * numbers_kept(impact) <=
         kMostNumbers;
}

SetOptions set_options(const ImpactCase& impact, const Asked& asked) {
  const ImpactDefaults& defaults = impact.scenario.run.impact;
  SetOptions options;
  options.samples = asked.samples.value_or(defaults.samples);
  if (options.samples == 0) throw InputError("--samples 0: there must be at least one");
  if (static_cast<double>(options.samples) > kMostSamples)
    throw InputError(
        fmt::format("--samples {}: at most {:g} are possible", options.samples, kMostSamples));
  options.step = asked.step != 0 ? asked.step : defaults.step;
  options.limit = asked.limit != 0 ? asked.limit : defaults.limit;
  options.final_step = asked.final_step;
  options.draws = asked.draws == "corners"    ? Draws::kCorners
                  : asked.draws == "extremes" ? Draws::kExtremes
                                              : Draws::kUniform;
  if (options.draws == Draws::kExtremes) {
    if (asked.law != "set") throw InputError("--draws extremes belongs to --law set; leave it out");
    const std::pair<const char*, bool> steps[] = {{"--step", asked.step != 0},
                                                  {"--limit", asked.limit != 0},
                                                  {"--final-step", asked.final_step != 0}};
    for (const auto& [option, given] : steps) {
      if (given)
        throw InputError(fmt::format(
            "{} does not go with --draws extremes, which have no steps; leave it out", option));
    }
    if (impact.problem().bounces())
      throw InputError(
          "--draws extremes: of an impact with restitution there are none; take corners");
  }
  options.seed = asked.seed;
  options.threads = asked.threads;
  options.device = asked.device.walks;
  options.keep = asked.keep;
  if (!asked.streamed && !memory_holds(impact, options))
    throw InputError(fmt::format(
        "--keep {}: memory holds at most {:.0f} outcomes of this impact; more go into --csv or "
        "--hdf5 alone, without --json, --plot and comparisons",
        asked.keep, std::floor(kMostNumbers / numbers_kept(impact))));
  return options;
}

Restitution restitution_named(const std::string& name) {
  for (const Restitution known :
       {Restitution::kNewton, Restitution::kPoisson, Restitution::kStronge}) {
    if (name == to_string(known)) return known;
  }
  if (name.empty()) return Restitution::kByLaw;
  throw InputError(fmt::format("--restitution {}: must be newton, poisson or stronge", name));
}

void check_restitution(Restitution means, const std::string& law) {
  if (means == Restitution::kByLaw) return;
  const std::vector<Restitution>& possible = law_named(law).restitution;
  if (std::find(possible.begin(), possible.end(), means) != possible.end()) return;
  std::vector<std::string> names;
  for (const Restitution one : possible) names.emplace_back(to_string(one));
  throw InputError(
      fmt::format("--restitution {}: the law {} knows {}; docs/restitution.md says why",
                  to_string(means), law, join(names)));
}

void check_restitution(const Scenario& scenario, const std::string& law) {
  const Restitution means = scenario.run.restitution;
  if (means == Restitution::kByLaw) return;
  const std::vector<Contact>& contacts = scenario.terms.contacts;
  if (std::none_of(contacts.begin(), contacts.end(), [](const Contact& c) { return c.e > 0; }) &&
      !(scenario.moving() && scenario.moving()->bounces()))
    throw InputError(fmt::format(
        "--restitution {}: no contact of {} bounces; give contacts a coefficient above zero",
        to_string(means), scenario.name));
  check_restitution(means, law);
}

namespace {
/// Theorem 9 says which steps, draws and last step there are.
void check_certificate(const ImpactCase& impact, const Asked& asked) {
  if (asked.delta > 0 && asked.epsilon == 0)
    throw InputError("--delta belongs to --epsilon; give both");
  if (asked.epsilon == 0) return;
  if (!(asked.epsilon > 0) || !std::isfinite(asked.epsilon))
    throw InputError(fmt::format("--epsilon {}: must be a positive velocity", asked.epsilon));
  if (!(asked.delta >= 0 && asked.delta < 1))
    throw InputError(fmt::format("--delta {}: must be between 0 and 1", asked.delta));
  const std::pair<const char*, bool> given[] = {{"--limit", asked.limit != 0},
                                                {"--final-step", asked.final_step != 0}};
  for (const auto& [option, there] : given) {
    if (there)
      throw InputError(fmt::format("{} is what --epsilon computes; leave one of them out", option));
  }
  if (!asked.draws.empty() && asked.draws != "uniform")
    throw InputError(fmt::format(
        "--draws {}: what --epsilon promises is of uniform draws; leave one of them out",
        asked.draws));
  if (impact.problem().bounces())
    throw InputError("--epsilon: of impacts without restitution; --set restitution=0");
}
}  // namespace

void check(const ImpactCase& impact, const Asked& asked) {
  check_restitution(impact.scenario, asked.law);
  if (asked.coverage && impact.problem().bounces())
    throw InputError("--coverage: there is no exact set of an impact with restitution");
  check_certificate(impact, asked);
  if (asked.derivative && impact.problem().bounces())
    throw InputError("--derivative: of impacts without restitution; --set restitution=0");
  if (asked.single == "algebraic" && impact.scenario.run.restitution == Restitution::kStronge)
    throw InputError(
        "--restitution stronge: --single algebraic has no path to do work along; take poisson or "
        "newton");
  (void)sequential_options(impact, asked);
  if (asked.law == "set" && asked.device.name != "cpu") {
    const std::string what = on_device(impact.problem(), set_options(impact, asked));
    if (!what.empty())
      throw InputError(fmt::format("--device {}: {} are sampled by the CPU alone; leave it out",
                                   asked.device.name, what));
  }
  (void)set_options(impact, asked);
  (void)lzb_options(impact, asked);
  if (!asked.contact.empty()) (void)contact_index(impact, "--contact", asked.contact);
  if ((asked.law == "exact" || asked.law == "witnesses") && impact.problem().bounces())
    throw InputError(fmt::format(
        "--law {}: the set of an impact with restitution is not computed; --law set samples it",
        asked.law));
}

ExactResult exact_set(const ImpactCase& impact, const Asked& asked) {
  ExactOptions options = asked.exact;
  options.stop = asked.stop;
  return exact(impact.problem(), options);
}

ImpactReport ask(const ImpactCase& impact, const Asked& asked) {
  const auto own = kAsk.find(asked.law);
  ImpactReport report = own != kAsk.end() ? own->second(impact, asked)
                                          : report_law(impact, law_named(asked.law), asked.stop);
  report.pointed = friction_cone(impact.reduced.J, impact.reduced.W, impact.problem()).pointed;
  if (asked.derivative) add_derivatives(impact, report);
  if (asked.sensitivity && !stopped(asked))
    add_sensitivities(impact, report,
                      {.max_programs = kCornerPrograms,
                       .seed = asked.seed,
                       .threads = asked.threads,
                       .max_seconds = asked.exact.max_seconds,
                       .stop = asked.stop});
  report.incomplete = report.incomplete || stopped(asked);
  if (std::optional<SetResult>& set = report.known.set; set && set->device_trouble.empty())
    set->device_trouble = asked.device.trouble;
  return report;
}

Json options_json(const ImpactCase& impact, const ImpactReport& report, const Asked& asked) {
  const ImpactProblem& p = impact.problem();
  const std::string& law = asked.law;
  const std::vector<std::string>& taken = law_named(law).options;
  const bool takes_order = std::find(taken.begin(), taken.end(), "order") != taken.end();
  Json json{{"law", law}, {"touching", impact.scenario.run.touching}};
  if (p.tangents == 2) json["cone"] = p.circular() ? "circular" : "polygon";
  if (p.tangents == 2 && !p.circular()) json["edges"] = p.edges;
  if (law == "all" || law == "simultaneous") json["tolerance"] = SimultaneousOptions{}.tolerance;
  if (takes_order) {
    json["order"] = asked.order.empty() ? Json("every") : Json(asked.order);
    json["single"] = asked.single;
  }
  if (law == "lzb") {
    const LzbOptions o = lzb_options(impact, asked);
    json["stiffness"] = o.stiffness.size() ? list(o.stiffness) : Json("equal");
    json["exponent"] = o.exponent;
  }
  if (law == "set") {
    const SetOptions o = set_options(impact, asked);
    const std::optional<SamplerCertificate>& certified = report.certificate;
    json.update({{"samples", o.samples},
                 {"seed", o.seed},
                 {"draws", asked.draws.empty() ? "uniform" : asked.draws},
                 {"keep", o.keep}});
    if (o.draws != Draws::kExtremes)
      json.update({{"step", o.step},
                   {"limit", certified ? static_cast<int>(certified->steps) : o.limit},
                   {"final_step", certified ? certified->final_step : o.final_step}});
    if (certified) json.update({{"epsilon", certified->epsilon}, {"delta", certified->delta}});
  }
  if (law == "all") {
    json.update({{"samples", report.set()->samples},
                 {"seed", asked.seed},
                 {"step", report.known.step},
                 {"draws", asked.draws.empty() ? "corners" : asked.draws}});
  }
  if ((law == "set" || law == "all") && asked.device.name != "cpu")
    json["device"] = asked.device.name;
  if (law == "witnesses" || report.found) json["seed"] = asked.seed;
  if (law == "exact" || law == "witnesses" || asked.coverage) {
    json.update({{"max_polyhedra", asked.exact.max_polyhedra},
                 {"max_seconds", asked.exact.max_seconds},
                 {"precision", asked.exact.precision}});
  }
  return json;
}

std::vector<std::string> draw(const ImpactCase& impact, const ImpactReport& report,
                              const Asked& asked, const std::string& name,
                              const std::string& folder) {
  ImpactFigure figure{.name = name,
                      .title = impact.scenario.title,
                      .laws = report.paths,
                      .set = report.set(),
                      .exact = report.covered};
  if (law_named(report.law).polygon) figure.laws = law_paths(impact);
  std::optional<SetResult> samples;
  if (report.law == "witnesses")
    figure.laws.insert(figure.laws.end(), report.outcomes.begin(), report.outcomes.end());
  if (report.law == "exact" || report.law == "witnesses") {
    if (const std::optional<ExactResult>& set = report.known.exact) {
      figure.exact = set->pieces;
      figure.bracket = set->status == ExactStatus::kBracket;
    }
    SetOptions options = set_options(impact, asked);
    options.samples = options.keep = kFigureOutcomes;
    options.paths = kFigurePaths;
    options.progress = progress_of(asked, options.samples);
    samples = set_valued(impact.problem(), options);
    figure.set = &*samples;
  }
  if (report.comparison) {
    figure.other = report.comparison->soft.own.contact;
    figure.other_name = "MuJoCo";
  }
  return draw(impact, figure, folder);
}

AmbiguityOptions check_options(const ImpactCase& impact) {
  AmbiguityOptions options;
  if (impact.scenario.run.edges.value_or(0) > 0) options.edges = *impact.scenario.run.edges;
  return options;
}

Json options_json(const ImpactCase& impact, const AmbiguityOptions& options,
                  const Ambiguity& known) {
  Json json{{"step", known.step},
            {"samples", known.set->samples},
            {"seed", options.seed},
            {"touching", impact.scenario.run.touching}};
  if (impact.problem().tangents == 2) {
    json["cone"] = impact.problem().circular() ? "circular" : "polygon";
    json["edges"] = options.edges;
  }
  return json;
}

}  // namespace routh::io
