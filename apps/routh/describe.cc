#include "describe.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "numbers.h"
#include "output.h"
#include "routh/io/document.h"

namespace routh::app {
namespace {

/// Width of the longest name of a contact.
std::size_t name_width(const io::ImpactCase& impact) {
  std::size_t width = 4;
  for (const std::string& name : impact.names) width = std::max(width, name.size());
  return width;
}

/// The tangential part of a contact, one number in the plane, two in space.
std::string tangential(const ImpactProblem& p, const Eigen::VectorXd& c, int contact,
                       const Column& number) {
  const int t = p.tangent(contact);
  return p.tangents == 1 ? number(c[t]) : fmt::format("{},{}", number(c[t]), number(c[t + 1]));
}

/// One line a contact: velocities, state, impulses.
std::string contact_lines(const io::ImpactCase& impact, const Eigen::VectorXd& c,
                          const std::vector<ContactState>& states,
                          const Eigen::VectorXd* impulse = nullptr) {
  const ImpactProblem& p = impact.problem();
  const Column speed(largest_of(p.c)), push(impulse ? largest_of(*impulse) : 0);
  std::string text;
  for (int i = 0; i < p.contacts(); ++i) {
    text += fmt::format("    {:<{}} normal {}  tangential {}  {:<10}", impact.names[i],
                        name_width(impact), speed(c[i]), tangential(p, c, i, speed),
                        to_string(states[i]));
    if (impulse)
      text += fmt::format("  impulse {},{}", push((*impulse)[i]), tangential(p, *impulse, i, push));
    text += '\n';
  }
  return text;
}

/// From where to where velocities after the impact go.
std::string describe_ranges(const io::ImpactCase& impact, const std::string& of,
                            const Eigen::VectorXd& low, const Eigen::VectorXd& high) {
  const ImpactProblem& p = impact.problem();
  const Column number(largest_of(p.c));
  std::string text = fmt::format("\n    range of {} [m/s]\n", of);
  for (int i = 0; i < p.contacts(); ++i) {
    text += fmt::format("    {:<{}} normal {} to {}   tangential", impact.names[i],
                        name_width(impact), number(low[i]), number(high[i]));
    for (int k = 0; k < p.tangents; ++k) {
      const int t = p.tangent(i) + k;
      text += fmt::format("{} {} to {}", k ? "," : "", number(low[t]), number(high[t]));
    }
    text += '\n';
  }
  return text;
}

/// Of the exact set, where it is known, or of samples.
std::string describe_ranges(const io::ImpactCase& impact, const Ambiguity& known) {
  if (known.whole) {
    Eigen::VectorXd low = known.whole->pieces[0].corners[0], high = low;
    for (const Polytope& piece : known.whole->pieces) {
      for (const Eigen::VectorXd& c : piece.corners) low = low.cwiseMin(c), high = high.cwiseMax(c);
    }
    return describe_ranges(impact, "the exact set", low, high);
  }
  return describe_ranges(impact, fmt::format("{} samples", known.set->terminated), known.set->c_min,
                         known.set->c_max);
}

/// Which law a residual is measured by: in space there are two.
static std::string of_cone(const ImpactProblem& p) {
  if (p.tangents == 1) return {};
  return p.circular() ? " of circular cones" : fmt::format(" of cones with {} edges", p.edges);
}

/// What the velocity after depends on most.
static std::string derivative_lines(const io::ImpactCase& impact, const ImpactDerivative& d) {
  std::vector<std::string> at;
  for (const int i : d.corners) at.push_back(impact.names[i]);
  std::string text =
      d.smooth() ? "    smooth; the velocity after depends most on\n"
      : at.empty()
          ? "    not determined by its contact modes\n"
          : fmt::format("    not smooth: {} at the border of two modes; on one side of it\n",
                        io::join(at));
  const std::vector<std::string>& names = impact.scenario.velocities;
  const auto named = [](const std::vector<std::string>& all, Eigen::Index k) {
    const auto place = static_cast<std::size_t>(k);
    return place < all.size() ? all[place] : fmt::format("v[{}]", k);
  };
  const auto line = [&](const char* kind, const Eigen::MatrixXd& m,
                        const std::vector<std::string>& of) {
    if (m.size() == 0 || !m.allFinite()) return;
    Eigen::Index i = 0, j = 0;
    m.cwiseAbs().maxCoeff(&i, &j);
    text += fmt::format("      {:<14} d {} / d {} = {:.4g}\n", kind, named(names, i), named(of, j),
                        m(i, j));
  };
  line("velocity", d.v, names);
  if (d.q) line("configuration", *d.q, names);
  line("friction", d.friction, impact.names);
  line("mass", d.mass, d.bodies);
  return text;
}

std::string describe_outcomes(const io::ImpactCase& impact, const io::ImpactReport& report) {
  const double before = kinetic_energy(impact.scenario.terms, impact.scenario.v);
  const auto entry = [&](const io::OutcomeRow& row, const std::string& title) {
    std::string law = row.law();
    if (row.order) {
      std::string order = io::order_text(impact, *row.order);
      if (row.order->size() > 12)
        order = fmt::format("{} .. ({} impacts)", order.substr(0, 19), row.order->size());
      law += (report.law == "single" ? " at " : " ") + order;
    }
    std::string text = fmt::format("\n{}: {}\n", toned(Tone::kTitle, title), law);
    const double kept = before > 0 ? row.energy / before : 0;  // below 1e-15 it is rounding
    text += fmt::format(
        "         energy {:.6g} J, {:.3g} % of before; residual {:.1e}{}; impulses in N s\n",
        kept > 1e-15 ? row.energy : 0, kept > 1e-15 ? 100 * kept : 0, row.outcome.residual,
        of_cone(impact.problem()));
    if (row.gained > 0) text += fmt::format("         adds {:.3g} J of energy\n", row.gained);
    if (row.zeno > 0)
      text += fmt::format(
          "         goes on for ever, each round {:.3g} of the one before: its limit\n", row.zeno);
    text += contact_lines(impact, row.outcome.c_plus, row.modes, &row.outcome.impulse);
    if (row.derivative) text += derivative_lines(impact, *row.derivative);
    if (!row.segments.empty()) {
      text += "    path:";
      for (const SingleSegment& s : row.segments)
        text += fmt::format(" {} for {:.6g} N s{};", to_string(s.state), s.normal_impulse,
                            s.restitution ? " of restitution" : "");
      text.back() = '\n';
    }
    return text;
  };
  const std::size_t shown = std::max<std::size_t>(3, 80 / impact.names.size());
  std::string text;
  for (std::size_t k = 0; k < report.outcomes.size() && k < shown; ++k)
    text += entry(report.outcomes[k], fmt::format("outcome {}", k + 1));
  if (report.outcomes.size() > shown) {
    text += fmt::format("\n.. {} more outcomes; --json and --csv have them all\n",
                        report.outcomes.size() - shown);
  }
  for (const io::OutcomeRow& row : report.unfinished) text += entry(row, "did not end");
  for (const io::OutcomeRow& row : report.borderline)
    text += entry(row, "borderline: rounding can neither confirm nor refute it");

  // what was searched instead of enumerated
  if (report.known.simultaneous && !report.known.all_modes())
    text +=
        impact.problem().circular()
            ? "\nsimultaneous: found from polygons, with circular friction cones; that there are "
              "no others is not proven\n"
            : "\nsimultaneous: too many contact modes to enumerate; found from many starts, "
              "others may exist\n";
  if (report.known.sequential && !report.known.sequential->complete)
    text += "\nsequential: too many orders to follow all; others may exist\n";
  if (report.law == "all" && report.known.mixtures) text += describe_ranges(impact, report.known);
  return text;
}

/// What Theorem 9 says of the samples.
std::string describe_certificate(const SamplerCertificate& c, const SetResult& r) {
  std::string text = fmt::format(
      "\n    certificate, P1 Theorem 9, for {:g} m/s and probability {:g}\n"
      "    up to {:.0f} steps a sample, last step {:.3g} N s; normal impulses sum to {:.4g} N s at "
      "the most\n",
      c.epsilon, 1 - c.delta, c.steps, c.final_step, c.most_impulse);
  if (c.uniqueness.status == StepUniqueness::kAmbiguous)
    return text + "    refused: a step has two solutions, against Assumption 6; --json has one\n";
  if (c.uniqueness.status == StepUniqueness::kUnknown)
    return text + fmt::format(
                      "    refused: that steps have one solution, Assumption 6, is not "
                      "certified: {}\n",
                      c.uniqueness.why);
  text += fmt::format(
      "    steps have one solution (Assumption 6, proven); each stretches "
      "differences {:.4g} times at the most\n",
      c.lipschitz);
  const bool holds = c.holds(static_cast<double>(r.samples));
  return text +
         (holds
              ? fmt::format("    holds: {:.4g} samples are enough\n", std::pow(10, c.log10_samples))
              : fmt::format("    does not hold: it takes 10^{:.4g} samples\n", c.log10_samples));
}

std::string describe_set(const io::ImpactCase& impact, const SetResult& r) {
  const double samples = static_cast<double>(std::max<std::uint64_t>(1, r.samples));
  std::string text = fmt::format(
      "\nset of outcomes from {} samples{}\n"
      "    {} ended with no approaching contact; {:.2f} {} a sample, at most {}\n",
      amount(samples), r.stopped ? " (stopped early: incomplete)" : "",
      amount(static_cast<double>(r.terminated)), static_cast<double>(r.steps) / samples,
      impact.problem().bounces() ? "steps" : "LCPs", r.most_steps);
  text += impact.problem().bounces()
              ? "    compression and restitution interleave; where contacts at rest "
                "have several answers, one is drawn\n"
          : r.enumerated
              ? fmt::format(
                    "    {:.1f} % of the samples met a step with several solutions ({} of {} "
                    "steps); all were found and one was drawn\n",
                    100 * static_cast<double>(r.ambiguous_samples) / samples,
                    amount(static_cast<double>(r.ambiguous_steps)),
                    amount(static_cast<double>(r.steps)))
              : "    too many contacts to enumerate the solutions of a step: each took one, from a "
                "random start\n";
  text += fmt::format("    largest residual {:.1e}{}; {}, {} samples a second\n", r.max_residual,
                      impact.problem().bounces() ? "" : of_cone(impact.problem()),
                      duration(r.seconds), amount(samples / std::max(1e-9, r.seconds)));
  if (!r.device.empty()) text += fmt::format("    sampled by {}\n", r.device);
  if (r.unsolved > 0)
    text += fmt::format("    {} samples stopped at a step without a solution\n", r.unsolved);
  if (r.terminated == 0) return text + "    no sample ended: raise --limit or --step\n";
  return text + describe_ranges(impact, fmt::format("{} samples", r.terminated), r.c_min, r.c_max);
}

/// What an extreme moves with most, and along what it has a kink.
std::string sensitivity_lines(const io::ImpactCase& impact, const io::Sensitivity& s, double size) {
  const double noise = 1e-14 * size;
  std::vector<std::string> moves, kinks;
  const auto of = [&](const char* kind, const Eigen::VectorXd& slopes,
                      const std::vector<std::string>& names) {
    Eigen::Index most = -1;
    for (Eigen::Index k = 0; k < slopes.size(); ++k) {
      const std::string& name = names[static_cast<std::size_t>(k)];
      if (!std::isfinite(slopes[k])) {
        kinks.push_back(fmt::format("{} {}", kind, name));
      } else if (std::abs(slopes[k]) > noise &&
                 (most < 0 || std::abs(slopes[k]) > std::abs(slopes[most]))) {
        most = k;
      }
    }
    if (most >= 0)
      moves.push_back(
          fmt::format("{} {} {:+.4g}", kind, names[static_cast<std::size_t>(most)], slopes[most]));
  };
  of("velocity", s.velocity, impact.scenario.velocities);
  of("friction of", s.friction, impact.names);
  of("mass of", s.mass, s.path.bodies);
  std::string text;
  if (!moves.empty()) text += fmt::format("    moves most by {}\n", fmt::join(moves, ", "));
  if (!kinks.empty()) text += fmt::format("    not smooth in {}\n", fmt::join(kinks, ", "));
  return text;
}

/// Extremes, how far they can be at the most, and the order that reaches them.
std::string describe_extremes(const io::ImpactCase& impact, const io::ImpactReport& report) {
  std::string text;
  const double before = kinetic_energy(impact.scenario.terms, impact.scenario.v),
               speed = largest_of(impact.problem().c);
  const auto extremes = [&](const char* what, const char* bound,
                            const std::vector<io::Extreme>& list) {
    for (const io::Extreme& extreme : list) {
      if (extreme.c.size() == 0) {
        text += fmt::format("\n{} {}: nothing was found\n", what, extreme.name);
        continue;
      }
      const double size = extreme.unit == "J" ? before : extreme.unit == "N s" ? 0 : speed;
      text += fmt::format("\n{} {}: {:.6g} {}", what, extreme.name, rounded(extreme.value, size),
                          extreme.unit);
      if (extreme.bound) text += fmt::format(", {} {:.6g}", bound, rounded(*extreme.bound, size));
      text += '\n';
      for (std::size_t k = 0; extreme.witness && k < extreme.witness->phases.size(); ++k)
        text += fmt::format("    {}{}\n", k ? "then " : "",
                            io::phase_text(impact, extreme.witness->phases[k]));
      if (extreme.sensitivity) text += sensitivity_lines(impact, *extreme.sensitivity, size);
    }
  };
  extremes("maximize", "at most", report.answers.maximize);
  extremes("minimize", "at least", report.answers.minimize);
  return text;
}

std::string describe_exact(const io::ImpactCase& impact, const io::ImpactReport& report) {
  const ImpactProblem& p = impact.problem();
  const ExactResult& result = *report.known.exact;
  if (result.status == ExactStatus::kJammed) return "\nno set: the contacts can jam\n";
  if (result.pieces.empty() && report.complete) return describe_extremes(impact, report);
  if (result.status == ExactStatus::kIncomplete) {
    if (result.hidden) return "\nno set: bodies differ so much in mass that rounding hides it\n";
    return fmt::format(
        "\nno set: {} after {}, {} cells and {} polyhedra, before even a bracket was "
        "complete\n",
        result.stopped ? "stopped" : "the time was spent", duration(result.seconds), result.cells,
        result.polyhedra);
  }
  std::string text = fmt::format(
      "\n{} set of outcomes: {} piece{}, {} cells visited, {} polyhedra, {}\n",
      result.status == ExactStatus::kExact ? "exact" : "bracketed (budget spent: this contains it)",
      result.pieces.size(), result.pieces.size() == 1 ? "" : "s", result.cells, result.polyhedra,
      duration(result.seconds));
  const Column number(largest_of(p.c));
  const char* kinds[] = {"point", "segment", "polygon"};
  for (std::size_t k = 0; k < result.pieces.size() && k < 40; ++k) {
    const Polytope& piece = result.pieces[k];
    std::string modes;
    for (std::size_t i = 0; i < piece.modes.size(); ++i)
      modes += fmt::format("{}{} {}", i ? ", " : "", impact.names[i], to_string(piece.modes[i]));
    text +=
        fmt::format("\npiece {}: {}{}{}\n", k + 1,
                    piece.dimension <= 2 ? kinds[piece.dimension]
                                         : fmt::format("{}-dimensional polytope", piece.dimension),
                    modes.empty() ? "" : ", ", modes);
    text += "    corners, (normal, tangential) velocities in m/s\n";
    for (std::size_t c = 0; c < piece.corners.size() && c < 24; ++c) {
      std::string line = "   ";
      for (std::size_t i = 0; i < impact.names.size(); ++i) {
        line += fmt::format(" {} ({}", impact.names[i], number(piece.corners[c][i]));
        for (int t = 0; t < p.tangents; ++t)
          line += fmt::format(", {}", number(piece.corners[c][p.tangent(static_cast<int>(i)) + t]));
        line += ")";
      }
      text += line + "\n";
    }
    if (piece.corners.size() > 24)
      text += fmt::format("    .. and {} more\n", piece.corners.size() - 24);
  }
  if (result.pieces.size() > 40)
    text += fmt::format("\n.. and {} more pieces\n", result.pieces.size() - 40);

  if (!report.corners.empty()) {
    const auto found = std::count_if(report.corners.begin(), report.corners.end(),
                                     [](const io::MovingCorner& c) { return c.moves.has_value(); });
    text += fmt::format(
        "\nhow corners move: known of {} of {}, by the paths that end there; --json has it\n",
        found, report.corners.size());
  }
  text += describe_extremes(impact, report);
  const auto numbers = [](const Eigen::VectorXd& c) {
    return fmt::format("[{}]", fmt::join(c.begin(), c.end(), ","));
  };
  for (const io::Contained& answer : report.answers.contains)
    text += fmt::format("\n{}: {}\n", numbers(answer.c),
                        answer.reachable
                            ? std::string("reachable")
                            : fmt::format("not reachable, {:.3g} m/s from the set at {}",
                                          answer.nearest.distance, numbers(answer.nearest.point)));
  return text;
}

std::string describe_coverage(const io::ImpactReport& report) {
  if (!report.coverage)
    return "\n    not compared with the exact set: there is none to compare with\n";
  const Coverage& c = *report.coverage;
  return fmt::format(
      "\n    against the exact set: Hausdorff distance {:.4g} m/s\n"
      "    samples lie up to {:.3g} m/s outside of it; its farthest point is {:.3g} m/s from a "
      "sample\n",
      c.hausdorff(), c.outside, c.missed);
}

std::string describe_comparison(const io::ImpactCase& impact, const io::ImpactReport& report) {
  const auto one = [&](const std::string& title, const io::MujocoCompared& c) {
    std::string text = fmt::format(
        "\n{}\n         contacts stop approaching after {}, {:.2g} m deep{}; energy {:.6g} J\n",
        title, duration(c.own.stop_time), c.own.penetration,
        c.own.reached ? "" : " (some still do at the end)", c.own.energy);
    if (c.own.gained > 0)
      text += fmt::format("         its energy GROWS by {:.3g} J in the impact\n", c.own.gained);
    text += contact_lines(impact, c.own.contact, contact_states(impact.problem(), c.own.contact));
    if (std::isfinite(c.distance))
      text += fmt::format("         {:.3g} m/s from the nearest of our outcomes\n", c.distance);
    return text;
  };
  const io::Comparison& comparison = *report.comparison;
  return one("MuJoCo's one outcome, with the softness of the model", comparison.soft) +
         one(fmt::format("MuJoCo's with stiff contacts, time constant {}",
                         duration(comparison.time_constant)),
             comparison.stiff);
}

}  // namespace

std::string describe_verdict(const std::string& verdict, const Ambiguity& known) {
  const std::optional<bool> unique = known.unique();
  return toned(!unique ? Tone::kWarning : *unique ? Tone::kGood : Tone::kBad, verdict);
}

std::string describe_before(const io::ImpactCase& impact) {
  const io::Scenario& s = impact.scenario;
  const ImpactProblem& p = impact.problem();
  std::string text = fmt::format("{}: {}\n", s.name, s.title);
  if (!s.parameters.empty()) {
    std::string line = "  with";
    for (const io::Parameter& parameter : s.parameters)
      line += fmt::format(" {} {:.6g}{}", parameter.name, parameter.value,
                          &parameter == &s.parameters.back() ? "" : ",");
    text += line + '\n';
  }
  text += fmt::format("\nbefore                            energy {:.6g} J, velocities in m/s\n",
                      kinetic_energy(s.terms, s.v));
  text += contact_lines(impact, p.c, contact_states(p, p.c), nullptr);
  if (p.tangents == 1) {
    for (const std::string& name : impact.apart)
      text += fmt::format("    {:<4} does not touch\n", name);
  }
  return text + describe_notes(s);
}

std::string describe_notes(const io::Scenario& scenario) {
  std::string text;
  if (const auto* model = std::get_if<io::Model>(&scenario.what)) {
    for (const std::string& note : model->notes) text += fmt::format("    note: {}\n", note);
  }
  return text;
}

std::string describe_report(const io::ImpactCase& impact, const io::ImpactReport& report) {
  std::string text = report.law == "set"         ? describe_set(impact, *report.set())
                     : report.law == "exact"     ? describe_exact(impact, report)
                     : report.law == "witnesses" ? describe_extremes(impact, report)
                                                 : describe_outcomes(impact, report);
  if (report.certificate) text += describe_certificate(*report.certificate, *report.set());
  if (report.covers) text += describe_coverage(report);
  if (report.comparison) text += describe_comparison(impact, report);
  return text;
}

}  // namespace routh::app
