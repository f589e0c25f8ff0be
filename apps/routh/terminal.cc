#include "terminal.h"

#include <fmt/format.h>
#include <sys/time.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <string_view>

#include "output.h"

namespace routh::app {
namespace {

volatile std::sig_atomic_t interrupts = 0;
volatile std::sig_atomic_t writing = 0;  // results, which are not given up

/// Counts down to on_alarm(); 0 stops counting.
void count_down(int milliseconds) {
  itimerval timer{};
  timer.it_value.tv_usec = 1000 * milliseconds;
  ::setitimer(ITIMER_REAL, &timer, nullptr);
}

void on_interrupt(int) {
  interrupts = interrupts + 1;
  if (interrupts > 1) ::_exit(130);
  if (!writing) count_down(400);
}

void on_alarm(int) {
  constexpr std::string_view text =
      "\nrouth: stopped; nothing of what was being computed is kept\n";
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
  ::_exit(3);
}

/// Four decimals, without a negative zero.
std::string number(double x) { return fmt::format("{:10.4f}", std::abs(x) < 5e-5 ? 0.0 : x); }

std::string duration(double seconds) {
  if (seconds < 90) return fmt::format("{:.0f} s", seconds);
  if (seconds < 5400) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

/// 12345678 -> "12.3 million"
std::string amount(double x) {
  if (x >= 1e6) return fmt::format("{:.3g} million", x / 1e6);
  if (x >= 1e4) return fmt::format("{:.3g} thousand", x / 1e3);
  return fmt::format("{:.0f}", x);
}

/// Width of the longest name of a contact.
std::size_t name_width(const io::ImpactCase& impact) {
  std::size_t width = 4;
  for (const std::string& name : impact.names) width = std::max(width, name.size());
  return width;
}

/// The tangential part of a contact, one number in the plane, two in space.
std::string tangential(const ImpactProblem& p, const Eigen::VectorXd& c, int contact) {
  const int t = p.tangent(contact);
  return p.tangents == 1 ? number(c[t]) : fmt::format("{},{}", number(c[t]), number(c[t + 1]));
}

std::string contact_lines(const io::ImpactCase& impact, const Eigen::VectorXd& c,
                          const std::vector<ContactState>& states, const Eigen::VectorXd* impulse) {
  const ImpactProblem& p = impact.problem();
  std::string text;
  for (int i = 0; i < p.contacts(); ++i) {
    text +=
        fmt::format("    {:<{}} normal {}  tangential {}  {:<10}", impact.names[i],
                    name_width(impact), number(c[i]), tangential(p, c, i), to_string(states[i]));
    if (impulse)
      text += fmt::format("  impulse {},{}", number((*impulse)[i]), tangential(p, *impulse, i));
    text += '\n';
  }
  return text;
}

}  // namespace

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
  if (const auto* model = std::get_if<io::Model>(&s.what)) {
    for (const std::string& note : model->notes) text += fmt::format("    note: {}\n", note);
  }
  return text;
}

std::string describe_contacts(const io::ImpactCase& impact, const Eigen::VectorXd& c,
                              const std::vector<ContactState>& states) {
  return contact_lines(impact, c, states, nullptr);
}

std::string describe_outcomes(const io::ImpactCase& impact, const io::ImpactReport& report) {
  const double before = kinetic_energy(impact.scenario.terms, impact.scenario.v);
  const auto entry = [&](const io::OutcomeRow& row, const std::string& title) {
    std::string law = row.law;
    if (row.order) {
      std::string order = io::order_text(impact, *row.order);
      if (row.order->size() > 12)
        order = fmt::format("{} .. ({} impacts)", order.substr(0, 19), row.order->size());
      law += (row.law == "single" ? " at " : " ") + order;
    }
    std::string text = fmt::format("\n{}: {}\n", toned(Tone::kTitle, title), law);
    const double kept = before > 0 ? row.energy / before : 0;  // below 1e-15 it is rounding
    text += fmt::format(
        "         energy {:.6g} J, {:.3g} % of before; residual {:.1e}; impulses in N s\n",
        kept > 1e-15 ? row.energy : 0, kept > 1e-15 ? 100 * kept : 0, row.outcome.residual);
    text += contact_lines(impact, row.outcome.c_plus, row.modes, &row.outcome.impulse);
    if (!row.segments.empty()) {
      text += "    path:";
      for (const auto& [state, s] : row.segments)
        text += fmt::format(" {} for {:.6g} N s;", to_string(state), s);
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
  const auto says = [&](const char* law, const char* key, bool value) {
    const io::Json& of = report.summary.contains(law) ? report.summary[law] : report.summary;
    return of.contains(key) && of[key] == value;
  };
  if (says("simultaneous", "enumerated", false))
    text +=
        impact.problem().circular()
            ? "\nsimultaneous: found from polygons, with circular friction cones; that there are "
              "no others is not proven\n"
            : "\nsimultaneous: too many contact modes to enumerate; found from many starts, "
              "others may exist\n";
  if (says("sequential", "orders_left", true))
    text += "\nsequential: too many orders to follow all; others may exist\n";
  return text;
}

std::string describe_set(const io::ImpactCase& impact, const SetResult& r) {
  const ImpactProblem& p = impact.problem();
  const double samples = static_cast<double>(std::max<std::uint64_t>(1, r.samples));
  std::string text = fmt::format(
      "\nset of outcomes from {} samples{}\n"
      "    {} ended with no approaching contact; {:.2f} LCPs a sample, at most {}\n",
      amount(samples), r.stopped ? " (stopped early: incomplete)" : "",
      amount(static_cast<double>(r.terminated)), static_cast<double>(r.steps) / samples,
      r.most_steps);
  text += r.enumerated
              ? fmt::format(
                    "    {:.1f} % of the samples met a step with several solutions ({} of {} "
                    "steps); all were found and one was drawn\n",
                    100 * static_cast<double>(r.ambiguous_samples) / samples,
                    amount(static_cast<double>(r.ambiguous_steps)),
                    amount(static_cast<double>(r.steps)))
              : "    too many contacts to enumerate the solutions of a step: each took one, from a "
                "random start\n";
  text += fmt::format("    largest residual {:.1e}; {:.3g} s, {} samples a second\n",
                      r.max_residual, r.seconds, amount(samples / std::max(1e-9, r.seconds)));
  if (r.unsolved > 0)
    text += fmt::format("    {} samples stopped at a step without a solution\n", r.unsolved);
  if (r.terminated == 0) return text + "    no sample ended: raise --limit or --step\n";
  text += "\n    range of the outcomes [m/s]\n";
  for (int i = 0; i < p.contacts(); ++i) {
    text += fmt::format("    {:<{}} normal {} to {}   tangential", impact.names[i],
                        name_width(impact), number(r.c_min[i]), number(r.c_max[i]));
    for (int k = 0; k < p.tangents; ++k) {
      const int t = p.tangent(i) + k;
      text += fmt::format("{} {} to {}", k ? "," : "", number(r.c_min[t]), number(r.c_max[t]));
    }
    text += '\n';
  }
  return text;
}

void catch_interrupt() {
  struct sigaction action {};
  action.sa_flags = SA_RESTART;
  action.sa_handler = on_interrupt;
  ::sigaction(SIGINT, &action, nullptr);
  action.sa_handler = on_alarm;
  ::sigaction(SIGALRM, &action, nullptr);
}
bool interrupted() { return interrupts > 0; }
void set_interrupted(bool value) { interrupts = value; }
void finishing() {
  writing = 1;
  count_down(0);
}
void drawing() {
  if (!interrupted()) writing = 0;
}

std::function<bool()> after(double seconds) {
  const auto began = std::chrono::steady_clock::now();
  return [=] {
    return interrupted() ||
           std::chrono::steady_clock::now() - began >= std::chrono::duration<double>(seconds);
  };
}

std::function<bool(std::uint64_t)> progress(std::uint64_t total, const std::string& what) {
  if (!isatty(STDERR_FILENO)) return [](std::uint64_t) { return !interrupted(); };
  const auto began = std::chrono::steady_clock::now();
  auto shown = began;
  return [=](std::uint64_t done) mutable {
    const auto now = std::chrono::steady_clock::now();
    if (now - shown > std::chrono::milliseconds(200)) {
      shown = now;
      const double seconds = std::chrono::duration<double>(now - began).count();
      const double rate = static_cast<double>(done) / seconds;
      fmt::print(stderr, "\r{}: {:.0f} %, {} a second, {} left \033[K", what,
                 100.0 * static_cast<double>(done) / static_cast<double>(total), amount(rate),
                 rate > 0 ? duration(static_cast<double>(total - done) / rate) : "?");
      std::fflush(stderr);
    }
    return !interrupted();
  };
}

void clear_progress() {
  if (isatty(STDERR_FILENO)) fmt::print(stderr, "\r\033[K");
}

}  // namespace routh::app
