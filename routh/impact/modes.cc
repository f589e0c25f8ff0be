#include "routh/impact/modes.h"

namespace routh {
namespace {

using Eigen::MatrixXd;
using Eigen::RowVectorXd;
using Eigen::VectorXd;

std::vector<ContactMode> contact_modes(const ImpactProblem& problem, int contact, bool bounded) {
  const int edges = static_cast<int>(friction_edges(problem).cols());
  std::vector<ContactMode> modes{{Normal::kOpen, Tangent::kFree}};
  for (const Normal normal : {Normal::kClosed, Normal::kSaturated}) {
    if (normal == Normal::kSaturated && !bounded) continue;
    if (problem.mu[contact] == 0) {
      modes.push_back({normal, Tangent::kFree});
      continue;
    }
    modes.push_back({normal, Tangent::kStick});
    for (int e = edges - 1; e >= 0; --e) modes.push_back({normal, Tangent::kSlip, e});
    for (int e = 0; e < edges && problem.tangents > 1; ++e)
      modes.push_back({normal, Tangent::kTurn, e});
  }
  return modes;
}

using Tangential = Eigen::Matrix<double, 1, Eigen::Dynamic, Eigen::RowMajor, 1, 2>;

/// How much more the edge f brakes than e, per unit of their distance.
Tangential between(const MatrixXd& D, int e, int f) {
  return (D.col(f) - D.col(e)).normalized().transpose();
}

/// Rows of one contact, over its normal and its tangents.
class LocalRows {
 public:
  LocalRows(Eigen::Index tangents, Eigen::Index most) : rows_(most, 1 + tangents) {}
  void add(double normal, const Tangential& tangential) {
    rows_.row(count_++) << normal, tangential;
  }
  void add_normal(double normal) { rows_.row(count_).setZero(), rows_(count_++, 0) = normal; }
  void add_tangents() {
    for (Eigen::Index t = 1; t < rows_.cols(); ++t)
      rows_.row(count_).setZero(), rows_(count_++, t) = 1;
  }
  auto all() const { return rows_.topRows(count_); }

 private:
  MatrixXd rows_;
  Eigen::Index count_ = 0;
};

/// The impulse of one contact in a decided mode, normal and tangents: λ = open u + full λmax, where
/// rows over λ are not negative.
struct ImpulseRows {
  MatrixXd open;
  VectorXd full;
  MatrixXd positive;
};

ImpulseRows impulse_rows(const MatrixXd& D, double mu, const ContactMode& mode) {
  const Eigen::Index tangents = D.rows();
  const int edges = static_cast<int>(D.cols()), e = mode.edge, next = (e + 1) % edges;
  const bool slides = mode.tangent == Tangent::kSlip || mode.tangent == Tangent::kTurn;
  LocalRows open(tangents, 3), positive(tangents, 2 + edges);
  VectorXd push = VectorXd::Unit(1 + tangents, 0);  // impulse per unit of normal impulse
  if (slides) push.tail(tangents) = mu * D.col(e);
  if (mode.normal == Normal::kClosed) {
    open.add(1, push.tail(tangents).transpose());
    positive.add_normal(1);
  }
  if (mode.tangent == Tangent::kStick) {
    open.add_tangents();
    // inside of every side of the cone
    for (int f = 0; f < edges; ++f) {
      const int other = tangents == 1 ? f : (f + 1) % edges;
      const Tangential out = 0.5 * (D.col(f) + D.col(other)).transpose();
      positive.add(mu * out.squaredNorm(), -out);
    }
  }
  if (mode.tangent == Tangent::kTurn) {
    const Tangential along = between(D, e, next);
    open.add(0, along);
    positive.add(-mu * along.dot(D.col(e)), along);
    positive.add(mu * along.dot(D.col(next)), -along);
  }
  return {open.all().transpose(),
          mode.normal == Normal::kSaturated ? push : VectorXd::Zero(1 + tangents), positive.all()};
}

}  // namespace

VelocityRows velocity_rows(const MatrixXd& D, const ContactMode& mode) {
  const int k = static_cast<int>(D.cols()), e = mode.edge, next = (e + 1) % k;
  LocalRows zero(D.rows(), 3), positive(D.rows(), 3);
  if (mode.normal == Normal::kClosed)
    zero.add_normal(1);
  else
    positive.add_normal(mode.normal == Normal::kSaturated ? -1 : 1);
  if (mode.tangent == Tangent::kStick) zero.add_tangents();
  if (mode.tangent == Tangent::kSlip) {
    // no edge beyond brakes more; of half a turn both ends say the same
    const int last = (e + mode.edges - 1) % k;
    positive.add(0, between(D, last, (last + 1) % k));
    if (2 * mode.edges != k) positive.add(0, between(D, e, (e + k - 1) % k));
  }
  if (mode.tangent == Tangent::kTurn) {
    zero.add(0, between(D, e, next));
    positive.add(0, -(D.col(e) + D.col(next)).normalized().transpose());
  }
  return {zero.all(), positive.all()};
}

std::vector<ContactModes> all_modes(const ImpactProblem& problem, bool bounded) {
  std::vector<ContactModes> all{{}};
  for (int i = 0; i < problem.contacts(); ++i) {
    std::vector<ContactModes> longer;
    for (const ContactModes& modes : all) {
      for (const ContactMode& mode : contact_modes(problem, i, bounded)) {
        longer.push_back(modes);
        longer.back().push_back(mode);
      }
    }
    all = std::move(longer);
  }
  return all;
}

double count_modes(const ImpactProblem& problem, bool bounded) {
  double count = 1;
  for (int i = 0; i < problem.contacts(); ++i)
    count *= static_cast<double>(contact_modes(problem, i, bounded).size());
  return count;
}

ModeSystem mode_system(const ImpactProblem& problem, const ContactModes& modes, bool bounded) {
  const int m = problem.contacts(), tangents = problem.tangents;
  const int size = (1 + tangents) * m, data = size + m;  // of c and of x
  const MatrixXd D = friction_edges(problem);

  // which impulses are unknown (columns) and which velocities vanish (rows over c)
  std::vector<VelocityRows> velocity;
  std::vector<ImpulseRows> impulse;
  std::vector<std::vector<int>> rows;
  Eigen::Index unknowns = 0, inequalities = 0;
  for (int i = 0; i < m; ++i) {
    velocity.push_back(velocity_rows(D, modes[i]));
    impulse.push_back(impulse_rows(D, problem.mu[i], modes[i]));
    rows.push_back(problem.rows(i));
    unknowns += impulse[i].open.cols();
    inequalities += velocity[i].positive.rows() + impulse[i].positive.rows() +
                    (bounded && modes[i].normal == Normal::kClosed);
  }
  ModeSystem s;
  s.S = MatrixXd::Zero(size, unknowns);
  s.Z = MatrixXd::Zero(unknowns, size);
  s.P = MatrixXd::Zero(size, data);
  Eigen::Index first = 0;
  for (int i = 0; i < m; ++i) {
    const Eigen::Index count = impulse[i].open.cols();
    s.S(rows[i], Eigen::seqN(first, count)) = impulse[i].open;
    s.Z(Eigen::seqN(first, count), rows[i]) = velocity[i].zero;
    s.P(rows[i], size + i) = impulse[i].full;
    first += count;
    if (modes[i].normal == Normal::kClosed) s.zeros.push_back(i);
    if (modes[i].tangent == Tangent::kStick)
      s.zeros.insert(s.zeros.end(), rows[i].begin() + 1, rows[i].end());
  }

  // c' = Cu u + Cx x
  MatrixXd Cx = problem.G * s.P;
  Cx.leftCols(size) += MatrixXd::Identity(size, size);
  const MatrixXd Cu = problem.G * s.S;
  s.K = s.Z * Cu;
  s.R = s.Z * Cx;

  // inequalities; those that reject most come first
  s.Fu = MatrixXd::Zero(inequalities, unknowns);
  s.Fx = MatrixXd::Zero(inequalities, data);
  Eigen::Index row = 0;
  const auto require = [&](const MatrixXd& local, const MatrixXd& u, const MatrixXd& x, int i) {
    for (Eigen::Index r = 0; r < local.rows(); ++r, ++row) {
      for (Eigen::Index k = 0; k < local.cols(); ++k) {
        if (local(r, k) == 0) continue;
        s.Fu.row(row) += local(r, k) * u.row(rows[i][k]);
        s.Fx.row(row) += local(r, k) * x.row(rows[i][k]);
      }
    }
  };
  for (int i = 0; i < m; ++i) {
    require(velocity[i].positive, Cu, Cx, i);
    if (bounded && modes[i].normal == Normal::kClosed) {
      s.Fu.row(row) = -s.S.row(i);
      s.Fx.row(row) = -s.P.row(i);
      s.Fx(row++, size + i) += 1;
    }
    require(impulse[i].positive, s.S, s.P, i);
  }
  return s;
}

}  // namespace routh
