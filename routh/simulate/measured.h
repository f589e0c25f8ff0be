#pragma once

#include <Eigen/Geometry>
#include <cstdint>
#include <functional>
#include <optional>
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

/// The body of an impact in space over the floor z = 0, for simulators that move bodies.
struct MeasuredPose {
  Eigen::Quaterniond orientation;  ///< from the body's to the floor's frame
  Eigen::Vector3d gyration;        ///< I/m about the body's axes [m²]
  /// Centres of the spheres that may touch the floor, from that of mass, in the body's frame [m].
  std::vector<Eigen::Vector3d> corners;
  double radius = 0;  ///< of these [m]
  /// Velocities of the impact from those in space, (v in the floor's frame, w in the body's); its
  /// transpose leads back.
  Eigen::MatrixXd from_space;
};

/// One impact as it was measured.
struct MeasuredImpact {
  std::string name;  ///< of its row
  int group = 0;     ///< impacts of one toss stay on one side of the split
  Eigen::MatrixXd M;
  Eigen::MatrixXd J;  ///< contact rows, all normals first, then the tangents contact by contact
  int contacts = 1, tangents = 1;
  Eigen::VectorXd v_minus, v_plus;
  Eigen::VectorXd sigma = {};  ///< of the errors of v_plus - v_minus; empty: not known
  Eigen::VectorXd q = {};      ///< configuration, where a mechanism or model has been measured
  std::optional<MeasuredPose> pose = {};  ///< where one body has
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

/// Does any contact approach? If not there is no impact to explain.
bool approaches(const MeasuredImpact& impact);

/// Friction and restitution that a law explains impacts best with: least mean distance to its
/// nearest outcome, by a search over mu in [0, 2] and e in [0, 1], on finer grids and then by
/// descend() to 1e-4.
struct [[nodiscard]] ContactFit {
  ContactParameters parameters;
  double distance = 0;  ///< mean over the impacts it was fitted to [m/s]
};
ContactFit fit_contact(const std::vector<MeasuredImpact>& impacts, const MeasuredLaw& law,
                       Restitution restitution = Restitution::kByLaw);

/// Another simulator beside the laws: it has one outcome and parameters of its own, all positive.
struct MeasuredPeer {
  struct Parameter {
    std::string name;
    std::vector<double> starts;  ///< from which the search begins, in all combinations
    double least = 0, most = 0;
  };
  std::string name;
  std::vector<Parameter> parameters;
  /// Empty where its simulation breaks down.
  std::function<Eigen::VectorXd(const MeasuredImpact&, const Eigen::VectorXd& parameters)> predict;
};
/// Its parameters that explain impacts best, by the same measure as friction and restitution.
struct [[nodiscard]] PeerFit {
  Eigen::VectorXd parameters;
  double distance = 0;  ///< mean over the impacts it was fitted to [m/s]
};
/// The best start, then steps in the logarithm of one parameter after the other. Ended early, it
/// has what it reached.
PeerFit fit_peer(const std::vector<MeasuredImpact>& impacts, const MeasuredPeer& peer,
                 const std::function<bool()>& go_on = {});

/// A law beside one measurement.
struct MeasuredDistance {
  double first = 0;    ///< to its first outcome
  double nearest = 0;  ///< to its nearest: chosen after the fact
  /// The control of that choice: to the outcome nearest to other measurements, as far from the
  /// first outcome in random directions that impulses at the contacts can make, that approach no
  /// more than the measured one does and gain no energy. At most kControls of them.
  std::vector<double> controls = {};
  int outcomes = 0;
  PredictedOutcome prediction = {};  ///< the nearest
  int begins = -1;                   ///< of the nearest, where others begin with another contact
  /// With what those nearest to the controls begin: errors around the first outcome.
  std::vector<int> control_begins = {};
};
inline constexpr int kControls = 19;
MeasuredDistance measure(const MeasuredImpact& impact,
                         const std::vector<PredictedOutcome>& outcomes, std::uint64_t seed);

/// Are measurements nearer than their controls? If errors had no preferred direction a measurement
/// would take any place among its controls with the same chance.
struct [[nodiscard]] RankTest {
  double farther = 0.5;  ///< mean part of the controls that are farther; ties are halves
  double chance = 1;     ///< of at least this by chance: exact, given the ties
  int ties = 0;  ///< measurements as near as all of their controls, or without: they say nothing
};
/// `tie` says whether two distances of the same measurement are one.
RankTest rank_test(const std::vector<const MeasuredDistance*>& measured,
                   const std::function<bool(double, double)>& tie);

struct StudyOptions {
  std::uint64_t samples = 300;  ///< of the set
  std::uint64_t seed = 1;
  std::size_t most = 100;    ///< impacts of each number of contacts that are held against the laws
  std::size_t fitted = 400;  ///< impacts that friction is fitted to, and as many held out
  std::vector<MeasuredPeer> peers = {};  ///< held against the same impacts
  /// Asked now and then with the part that is done; false ends the study with what it has.
  std::function<bool(double done)> progress = {};
};

/// Impacts of even groups are fitted to, those of odd groups reported.
inline bool trains(const MeasuredImpact& impact) { return impact.group % 2 == 0; }

struct StudyRow {
  std::size_t impact = 0;
  double noise = 0, unexplained = 0;
  std::vector<MeasuredDistance> laws;  ///< in the order of MeasuredStudy::laws, then its peers
};
struct StudyFit {
  ContactFit fit;
  double held_out = 0;  ///< median distance of impacts that were not fitted to
};
struct StudyPeer {
  std::string name;
  std::vector<std::string> parameters;
  PeerFit fit;
  double held_out = 0;  ///< as StudyFit's
};
struct [[nodiscard]] MeasuredStudy {
  std::vector<std::string> laws;
  std::vector<StudyPeer> peers;
  double error = 0;            ///< of one direction of v_plus - v_minus, estimated [m/s]
  std::vector<StudyFit> fits;  ///< with Stronge's meaning of e, Poisson's and Newton's
  int fitted_contacts = 1;     ///< that the impacts had which were fitted to: the fewest there are
  std::size_t fitted = 0, held_out = 0;  ///< impacts with so many contacts
  std::vector<StudyRow> rows;            ///< held out, at most `most` of each number of contacts
  bool complete = true;
};
/// Friction and restitution from impacts of the training half with the fewest contacts, one where
/// there are such; then every law, with Stronge's values, beside the impacts of the other half.
/// Throws std::invalid_argument where one of the halves is empty.
MeasuredStudy study(const std::vector<MeasuredImpact>& impacts, const StudyOptions& options = {});

/// What is said of many impacts.
double median(std::vector<double> values);

/// The smallest value of f by steps in one coordinate after the other that shrink; x is moved
/// there.
double descend(const std::function<double(const Eigen::VectorXd&)>& f, Eigen::VectorXd& x,
               Eigen::VectorXd step, int rounds = 60);

}  // namespace routh
