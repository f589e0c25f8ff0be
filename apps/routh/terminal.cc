#include "terminal.h"

#include <fmt/format.h>
#include <sys/time.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <string_view>

#include "numbers.h"

namespace routh::app {
namespace {

volatile std::sig_atomic_t interrupts = 0;
volatile long first_interrupt = 0;       // when [ms]
volatile std::sig_atomic_t writing = 0;  // results, which are not given up

/// Counts down to on_alarm(); 0 stops counting.
void count_down(int milliseconds) {
  itimerval timer{};
  timer.it_value.tv_usec = 1000 * milliseconds;
  ::setitimer(ITIMER_REAL, &timer, nullptr);
}

/// Milliseconds on a clock that a signal may read.
long now() {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000L + t.tv_nsec / 1'000'000;
}

void on_interrupt(int) {
  // one sent to the process and to its group, as timeout(1) does, is one
  constexpr long kAtOnce = 100;
  if (interrupts > 0 && now() - first_interrupt < kAtOnce) return;
  interrupts = interrupts + 1;
  if (interrupts > 1) ::_exit(130);
  first_interrupt = now();
  if (!writing) count_down(400);
}

void on_alarm(int) {
  constexpr std::string_view text =
      "\nrouth: stopped; nothing of what was being computed is kept\n";
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
  ::_exit(3);
}

}  // namespace

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

std::function<bool(std::uint64_t)> progress(std::uint64_t total, const std::string& what,
                                            bool lines) {
  const bool terminal = isatty(STDERR_FILENO);
  if (!terminal && !lines) return [](std::uint64_t) { return !interrupted(); };
  const auto between = terminal ? std::chrono::milliseconds(200) : std::chrono::seconds(30);
  const auto began = std::chrono::steady_clock::now();
  auto shown = began;
  return [=](std::uint64_t done) mutable {
    const auto now = std::chrono::steady_clock::now();
    if (now - shown > between) {
      shown = now;
      const double seconds = std::chrono::duration<double>(now - began).count();
      const double rate = static_cast<double>(done) / seconds;
      fmt::print(stderr, "{}{}: {:.0f} %, {} a second, {} left {}", terminal ? "\r" : "", what,
                 100.0 * static_cast<double>(done) / static_cast<double>(total), amount(rate),
                 rate > 0 ? duration(static_cast<double>(total - done) / rate) : "?",
                 terminal ? "\033[K" : "\n");
      std::fflush(stderr);
    }
    return !interrupted();
  };
}

void show_progress(const std::string& text) {
  if (!isatty(STDERR_FILENO)) return;
  fmt::print(stderr, "\r{}\033[K", text);
  std::fflush(stderr);
}

void clear_progress() {
  if (isatty(STDERR_FILENO)) fmt::print(stderr, "\r\033[K");
}

}  // namespace routh::app
