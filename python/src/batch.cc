#include <atomic>
#include <mutex>
#include <thread>

#include "module.h"
#include "routh/impact/ambiguity.h"
#include "routh/impact/sequential.h"
#include "routh/io/ask.h"
#include "routh/io/document.h"
#include "routh/simulate/laws.h"
#include "ticker.h"

namespace routh::python {
namespace {

using Eigen::VectorXd;

/// Laws that list their outcomes.
std::vector<std::string> batch_laws() {
  std::vector<std::string> names;
  for (const Law& law : laws()) {
    if (law.outcomes || law.name == "sequential" || law.name == "all") names.push_back(law.name);
  }
  return names;
}

/// Many problems of one size on all cores: offsets of each problem's outcomes, and all outcomes.
py::tuple batch(const py::array_t<double>& G, const py::array_t<double>& c,
                const py::array_t<double>& mu, const py::array_t<double>& e,
                const std::string& restitution, int tangents, int edges, const std::string& law,
                int threads, py::object show) {
  const Restitution means = io::restitution_named(restitution);
  io::check_restitution(means, law);
  const auto n = static_cast<std::size_t>(c.shape(0));
  const Eigen::Index size = c.shape(1), m = mu.shape(1);
  struct Answer {
    std::vector<Outcome> outcomes;
    int unique = -1;  // not known
  };
  std::vector<Answer> answers(n);
  using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  // what is given once holds for all
  const auto of = [](const py::array_t<double>& all, std::size_t k) {
    return all.data() + (all.shape(0) == 1 ? 0
                                           : k * static_cast<std::size_t>(all.size()) /
                                                 static_cast<std::size_t>(all.shape(0)));
  };
  Ticker ticker(std::move(show));
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> stop = false;
  const auto stopped = [&] {
    const double part = static_cast<double>(std::min(next.load(), n)) / static_cast<double>(n);
    return stop || !ticker.goes_on(part);
  };
  const auto solve = [&](std::size_t k) {
    const ImpactProblem p{.G = Eigen::Map<const Rows>(of(G, k), size, size),
                          .c = Eigen::Map<const VectorXd>(of(c, k), size),
                          .mu = Eigen::Map<const VectorXd>(of(mu, k), m),
                          .tangents = tangents,
                          .edges = edges,
                          .e = Eigen::Map<const VectorXd>(of(e, k), m),
                          .restitution = means};
    Answer& a = answers[k];
    Ambiguity known;
    if (law == "all") {
      known = ambiguity(p, {.threads = 1, .exact = false, .stop = stopped});
      if (known.stopped) return;  // it was not done
      for (const FoundOutcome& o : known.outcomes) a.outcomes.push_back(o);
    } else if (law == "sequential") {
      known.sequential = sequential(p);
      for (const SequentialOutcome& s : known.sequential->outcomes) a.outcomes.push_back(s.outcome);
      known = judged(p, std::move(known));
    } else if (law == "simultaneous") {
      known.simultaneous = simultaneous(p);
      a.outcomes = known.simultaneous->outcomes;
      known = judged(p, std::move(known));
    } else {
      Listed listed = law_named(law).outcomes(p, {});
      known.listed = a.outcomes = std::move(listed.outcomes);
      known.all_listed = listed.all;
      known = judged(p, std::move(known));
    }
    if (const std::optional<bool> is = known.unique()) a.unique = *is;
  };
  std::size_t failed = n;
  std::string why;
  {
    py::gil_scoped_release without;
    std::mutex trouble;
    const auto work = [&] {
      for (std::size_t k = next++; k < n && !stop; k = next++) {
        try {
          solve(k);
        } catch (const std::exception& error) {
          const std::lock_guard lock(trouble);
          if (k < failed) failed = k, why = error.what();
          stop = true;
        }
        if (stopped()) stop = true;
      }
    };
    const unsigned cores = threads > 0 ? static_cast<unsigned>(threads)
                                       : std::max(1u, std::thread::hardware_concurrency());
    std::vector<std::thread> pool;
    for (unsigned i = 1; i < std::min<std::size_t>(cores, n); ++i) pool.emplace_back(work);
    work();
    for (std::thread& t : pool) t.join();
  }
  if (failed < n) throw io::InputError("problem " + std::to_string(failed) + ": " + why);
  const bool interrupted = ticker.finish();

  std::size_t total = 0;
  for (const Answer& a : answers) total += a.outcomes.size();
  py::array_t<std::int64_t> offsets(static_cast<py::ssize_t>(n + 1));
  py::array_t<std::int8_t> is_unique(static_cast<py::ssize_t>(n));
  const auto count = static_cast<py::ssize_t>(total);
  py::array_t<double> c_plus({count, size}), impulse({count, size}), residual(count);
  std::int64_t at = 0;
  for (std::size_t k = 0; k < n; ++k) {
    offsets.mutable_at(k) = at;
    is_unique.mutable_at(k) = static_cast<std::int8_t>(answers[k].unique);
    for (const Outcome& o : answers[k].outcomes) {
      std::copy(o.c_plus.begin(), o.c_plus.end(), c_plus.mutable_data(at, 0));
      std::copy(o.impulse.begin(), o.impulse.end(), impulse.mutable_data(at, 0));
      residual.mutable_at(at++) = o.residual;
    }
  }
  offsets.mutable_at(n) = at;
  return py::make_tuple(offsets, c_plus, impulse, residual, is_unique, interrupted);
}

}  // namespace

void define_batch(py::module_& m) {
  m.def("batch", batch);
  m.def("batch_laws", batch_laws);
}

}  // namespace routh::python
