#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>

#include "routh/simulate/measured.h"

namespace routh {

using Eigen::VectorXd;

namespace {
constexpr int kGrids = 3;        // of friction and restitution, each three times finer
constexpr int kFitRounds = 16;   // of the search from there
constexpr int kPeerRounds = 30;  // of the search for parameters of another simulator
}  // namespace

ContactFit fit_contact(const std::vector<MeasuredImpact>& impacts, const MeasuredLaw& law,
                       Restitution restitution) {
  const auto mean_distance = [&](double mu, double e) {
    double sum = 0;
    for (const MeasuredImpact& impact : impacts) {
      double nearest = kinetic_distance(impact, impact.v_minus, impact.v_plus);
      for (const PredictedOutcome& o : law.predict(impact, {mu, e, restitution}))
        nearest = std::min(nearest, kinetic_distance(impact, o.v, impact.v_plus));
      sum += nearest;
    }
    return sum / std::max<double>(1, static_cast<double>(impacts.size()));
  };
  ContactFit best{.parameters = {0.5, 0.5, restitution}, .distance = HUGE_VAL};
  double step_mu = 0.25, step_e = 0.125;
  double low_mu = 0, high_mu = 2, low_e = 0, high_e = 1;
  for (int round = 0; round < kGrids; ++round) {
    for (double mu = low_mu; mu <= high_mu + 1e-12; mu += step_mu) {
      for (double e = low_e; e <= high_e + 1e-12; e += step_e) {
        const double distance = mean_distance(mu, e);
        if (distance < best.distance) best = {{mu, e, restitution}, distance};
      }
    }
    const ContactParameters at = best.parameters;
    low_mu = std::max(0.0, at.mu - step_mu), high_mu = at.mu + step_mu;
    low_e = std::max(0.0, at.e - step_e), high_e = std::min(1.0, at.e + step_e);
    step_mu /= 3, step_e /= 3;
  }
  const auto inside = [](const VectorXd& x) {
    return Eigen::Vector2d(std::max(0.0, x[0]), std::clamp(x[1], 0.0, 1.0));
  };
  VectorXd x = Eigen::Vector2d(best.parameters.mu, best.parameters.e);
  best.distance =
      descend([&](const VectorXd& at) { return mean_distance(inside(at)[0], inside(at)[1]); }, x,
              Eigen::Vector2d(step_mu, step_e), kFitRounds);
  best.parameters.mu = inside(x)[0], best.parameters.e = inside(x)[1];
  return best;
}

double descend(const std::function<double(const VectorXd&)>& f, VectorXd& x, VectorXd step,
               int rounds) {
  double best = f(x);
  for (int round = 0; round < rounds && step.cwiseAbs().maxCoeff() > 0; ++round) {
    bool better = false;
    for (Eigen::Index i = 0; i < x.size(); ++i) {
      for (const double sign : {1.0, -1.0}) {
        VectorXd trial = x;
        trial[i] += sign * step[i];
        const double value = f(trial);
        if (value < best) best = value, x = trial, better = true;
      }
    }
    if (!better) step /= 2;
  }
  return best;
}

PeerFit fit_peer(const std::vector<MeasuredImpact>& impacts, const MeasuredPeer& peer,
                 const std::function<bool()>& go_on) {
  const auto count = static_cast<Eigen::Index>(peer.parameters.size());
  const auto values = [&](const VectorXd& logs) {
    VectorXd v(count);
    for (Eigen::Index i = 0; i < count; ++i)
      v[i] = std::clamp(std::exp(logs[i]), peer.parameters[i].least, peer.parameters[i].most);
    return v;
  };
  bool stopped = false;
  const auto mean_distance = [&](const VectorXd& logs) {
    double sum = 0;
    const VectorXd v = values(logs);
    for (const MeasuredImpact& impact : impacts) {
      stopped = stopped || (go_on && !go_on());
      if (stopped) return HUGE_VAL;
      const VectorXd after = peer.predict(impact, v);
      sum += kinetic_distance(impact, after.size() ? after : impact.v_minus, impact.v_plus);
    }
    return sum / std::max<double>(1, static_cast<double>(impacts.size()));
  };
  // all combinations of starts, like the digits of a number
  VectorXd best(count);
  double least = HUGE_VAL;
  std::vector<std::size_t> digits(peer.parameters.size(), 0);
  for (bool more = true; more;) {
    VectorXd x(count);
    for (Eigen::Index i = 0; i < count; ++i) x[i] = std::log(peer.parameters[i].starts[digits[i]]);
    const double distance = mean_distance(x);
    if (distance < least || least == HUGE_VAL) least = distance, best = x;
    more = false;
    for (std::size_t i = 0; i < digits.size() && !more; ++i) {
      more = ++digits[i] < peer.parameters[i].starts.size();
      if (!more) digits[i] = 0;
    }
  }
  least = descend(mean_distance, best, VectorXd::Constant(count, 0.4), kPeerRounds);
  return {values(best), least};
}

namespace {

/// Of the sum of so many squares of unit normal numbers (Wilson, Hilferty).
double chi_square_median(double count) { return count * std::pow(1 - 2 / (9 * count), 3); }

}  // namespace

MeasuredStudy study(const std::vector<MeasuredImpact>& impacts, const StudyOptions& options) {
  MeasuredStudy s;
  const std::vector<MeasuredLaw> laws = measured_laws(options.samples, options.seed);
  for (const MeasuredLaw& law : laws) s.laws.push_back(law.name);
  const auto stopped = [&](double done) {
    if (options.progress && !options.progress(done)) s.complete = false;
    return !s.complete;
  };

  // one contact: every law but that of all at once is the same path; several: the nearest order
  const MeasuredLaw& path = laws[1];
  std::vector<MeasuredImpact> training, others;
  int fewest = std::numeric_limits<int>::max();
  bool held_out = false;
  for (const MeasuredImpact& impact : impacts) {
    if (trains(impact)) fewest = std::min(fewest, impact.contacts);
    held_out = held_out || !trains(impact);
  }
  if (fewest == std::numeric_limits<int>::max() || !held_out)
    throw std::invalid_argument(fewest == std::numeric_limits<int>::max()
                                    ? "measured: no impact is of an even group (of an even row, "
                                      "where rows have none), so that there is none to fit to"
                                    : "measured: no impact is of an odd group (of an odd row, "
                                      "where rows have none), so that none is held out");
  s.fitted_contacts = fewest;
  for (const MeasuredImpact& impact : impacts) {
    if (impact.contacts != fewest) continue;
    std::vector<MeasuredImpact>& side = trains(impact) ? training : others;
    if (side.size() < options.fitted) side.push_back(impact);
  }
  s.fitted = training.size(), s.held_out = others.size();
  for (const Restitution meaning :
       {Restitution::kStronge, Restitution::kPoisson, Restitution::kNewton}) {
    if (stopped(0.1 * static_cast<double>(s.fits.size()))) return s;
    StudyFit fit{.fit = fit_contact(training, path, meaning)};
    std::vector<double> distances;
    for (const MeasuredImpact& impact : others)
      distances.push_back(
          measure(impact, path.predict(impact, fit.fit.parameters), options.seed).nearest);
    fit.held_out = median(distances);
    s.fits.push_back(fit);
  }
  std::vector<std::function<std::vector<PredictedOutcome>(const MeasuredImpact&)>> peers;
  for (const MeasuredPeer& peer : options.peers) {
    StudyPeer own{.name = peer.name, .parameters = {}, .fit = {}};
    for (const MeasuredPeer::Parameter& parameter : peer.parameters)
      own.parameters.push_back(parameter.name);
    own.fit = fit_peer(training, peer, [&] { return !stopped(0.3); });
    peers.push_back([&peer, x = own.fit.parameters](const MeasuredImpact& impact) {
      const VectorXd v = peer.predict(impact, x);
      return v.size() ? std::vector<PredictedOutcome>{{v}} : std::vector<PredictedOutcome>{};
    });
    std::vector<double> distances;
    for (const MeasuredImpact& impact : others)
      distances.push_back(measure(impact, peers.back()(impact), options.seed).nearest);
    own.held_out = median(distances);
    s.peers.push_back(own);
    if (!s.complete) return s;
  }

  // errors that are not known are as large, in each direction, as what no impulses can make
  std::vector<double> squares;
  for (const MeasuredImpact& impact : training) {
    const double free = static_cast<double>(impact.v_plus.size() - impact.J.rows());
    if (free > 0) squares.push_back(std::pow(unexplained(impact), 2) / chi_square_median(free));
  }
  s.error = squares.empty() ? 0 : std::sqrt(median(squares));

  // every law beside what was held out
  ContactParameters parameters = s.fits.front().fit.parameters;
  parameters.restitution = Restitution::kByLaw;
  std::map<int, std::size_t> taken;
  for (std::size_t k = 0; k < impacts.size(); ++k) {
    const MeasuredImpact& impact = impacts[k];
    if (trains(impact) || taken[impact.contacts] >= options.most) continue;
    ++taken[impact.contacts];
    if (stopped(0.3 + 0.7 * static_cast<double>(k) / static_cast<double>(impacts.size()))) break;
    StudyRow row{.impact = k, .noise = noise_of(impact), .unexplained = unexplained(impact)};
    if (impact.sigma.size() == 0)
      row.noise = s.error * std::sqrt(static_cast<double>(impact.v_plus.size()));
    for (const MeasuredLaw& law : laws)
      row.laws.push_back(measure(impact, law.predict(impact, parameters), options.seed + k));
    for (const auto& peer : peers)
      row.laws.push_back(measure(impact, peer(impact), options.seed + k));
    s.rows.push_back(std::move(row));
  }
  return s;
}

}  // namespace routh
