#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "routh/impact/problem.h"
#include "routh/model/system.h"

/// Measured impacts held against the laws. Velocities are compared in the norm of the kinetic
/// energy,
///
///   |Δv| = sqrt(Δvᵀ M Δv / m)      [m/s], m the mass of the body: M(0, 0),
///
/// so that translation and rotation count as they carry energy.
namespace routh {

/// One impact as it was measured.
struct MeasuredImpact {
  std::string name;  ///< of its row
  int group = 0;     ///< impacts of one toss stay on one side of the split
  Eigen::MatrixXd M;
  Eigen::MatrixXd J;  ///< contact rows, all normals first, then the tangents contact by contact
  int contacts = 1, tangents = 1;
  Eigen::VectorXd v_minus, v_plus;
  Eigen::VectorXd sigma = {};  ///< of the errors of v_plus - v_minus; empty: not known
};

double kinetic_distance(const MeasuredImpact& impact, const Eigen::VectorXd& v,
                        const Eigen::VectorXd& other);
/// What errors of size sigma make of a distance; zero where they are not known.
double noise_of(const MeasuredImpact& impact);
/// How far the change of velocity is from any that impulses at the contacts can make: what neither
/// law nor set can explain, noise and errors of shape and inertia.
double unexplained(const MeasuredImpact& impact);
/// Kinetic energy after the impact as a part of that before.
double energy_kept(const MeasuredImpact& impact);

struct ContactParameters {
  double mu = 0.2, e = 0.3;
  Restitution restitution = Restitution::kByLaw;
};
ImpactProblem problem_of(const MeasuredImpact& impact, const ContactParameters& parameters);

/// A velocity after the impact, and the contact that was hit first where that is known.
struct PredictedOutcome {
  Eigen::VectorXd v;
  int begins = -1;
};
/// What a law makes of an impact: one or several velocities.
struct MeasuredLaw {
  std::string name;
  std::function<std::vector<PredictedOutcome>(const MeasuredImpact&, const ContactParameters&)>
      predict;
};
/// simultaneous (Poisson), sequential in every order (Stronge), `samples` of the set (Stronge),
/// binary (Newton), and lzb with contacts of equal stiffness after Hertz (Stronge).
std::vector<MeasuredLaw> measured_laws(std::uint64_t samples, std::uint64_t seed);

/// Friction and restitution that a law explains impacts best with: least mean distance to its
/// nearest outcome, by a search over mu in [0, 2] and e in [0, 1] that is repeated on finer grids.
struct [[nodiscard]] ContactFit {
  ContactParameters parameters;
  double distance = 0;  ///< mean over the impacts it was fitted to [m/s]
};
ContactFit fit_contact(const std::vector<MeasuredImpact>& impacts, const MeasuredLaw& law,
                       Restitution restitution = Restitution::kByLaw, int refinements = 4);

/// A law beside one measurement.
struct MeasuredDistance {
  double first = 0;    ///< to its first outcome
  double nearest = 0;  ///< to its nearest: chosen after the fact
  /// The control of that choice: to the outcome nearest to a measurement as far from the first, in
  /// a random direction that impulses at the contacts can make. The median of kControls of them: an
  /// odd number, so that where errors have no preferred direction one is as often above as below.
  double control = 0;
  int outcomes = 0;
  int begins = -1;  ///< of the nearest
};
inline constexpr int kControls = 19;
MeasuredDistance measure(const MeasuredImpact& impact,
                         const std::vector<PredictedOutcome>& outcomes, std::uint64_t seed);

struct StudyOptions {
  std::uint64_t samples = 300;  ///< of the set
  std::uint64_t seed = 1;
  std::size_t most = 100;    ///< impacts of each number of contacts that are held against the laws
  std::size_t fitted = 400;  ///< impacts with one contact that friction is fitted to
  /// Asked now and then with the part that is done; false ends the study with what it has.
  std::function<bool(double done)> progress = {};
};

/// Impacts of even groups are fitted to, those of odd groups reported.
inline bool trains(const MeasuredImpact& impact) { return impact.group % 2 == 0; }

struct StudyRow {
  std::size_t impact = 0;
  double noise = 0, unexplained = 0;
  std::vector<MeasuredDistance> laws;  ///< in the order of MeasuredStudy::laws
};
struct StudyFit {
  ContactFit fit;
  double held_out = 0;  ///< median distance of impacts with one contact that were not fitted to
};
struct [[nodiscard]] MeasuredStudy {
  std::vector<std::string> laws;
  double error = 0;                      ///< of one direction of v_plus - v_minus, estimated [m/s]
  std::vector<StudyFit> fits;            ///< with Stronge's meaning of e, Poisson's and Newton's
  std::size_t fitted = 0, held_out = 0;  ///< impacts with one contact
  std::vector<StudyRow> rows;            ///< held out, at most `most` of each number of contacts
  bool complete = true;
};
/// Friction and restitution from impacts with one contact of the training half; then every law,
/// with Stronge's values, beside the impacts of the other half.
MeasuredStudy study(const std::vector<MeasuredImpact>& impacts, const StudyOptions& options = {});

/// What is said of many impacts.
double median(std::vector<double> values);
/// Chance of at least this many heads among `of` throws of a coin: the sign test.
double sign_test(int heads, int of);

}  // namespace routh
