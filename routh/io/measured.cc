#include "routh/io/measured.h"

#include <fmt/format.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "routh/io/columns.h"
#include "routh/io/document.h"
#include "routh/linear/decompose.h"
#ifdef ROUTH_HAS_MUJOCO
#include "routh/mujoco/measured.h"
#endif

namespace routh::io {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using Eigen::VectorXd;

constexpr double kRounding = 1e-13;  // of a speed, in what a law makes of it
constexpr double kGrows = 1e-9;      // of the energy: what rounding in a table may add
constexpr double kFlat = 1e-9;       // of heights that say nothing of a shape, relative

std::vector<std::string> with(std::vector<std::string> names, const std::string& ending) {
  for (std::string& name : names) name += ending;
  return names;
}

/// Standard deviations of a row; throws InputError where one is negative.
VectorXd sigmas(const Columns& columns, std::size_t row, const std::vector<std::string>& which) {
  const VectorXd x = columns.at(row, which);
  for (std::size_t i = 0; i < which.size(); ++i) {
    if (x[i] < 0)
      throw InputError(fmt::format("{}: line {}: {}: {} must not be negative", columns.file,
                                   columns.line(row), which[i], x[i]));
  }
  return x;
}
/// Either all of these columns are there or none; throws InputError where some are missing.
void all_or_none(const Columns& columns, const std::vector<std::string>& which) {
  if (std::any_of(which.begin(), which.end(), [&](const auto& n) { return columns.has(n); }))
    columns.require(which);
}

/// Does the row say of itself that it is not to be used?
bool flagged(const Columns& columns, std::size_t row) {
  if (columns.has("clean") && columns.at(row, "clean") == 0) return true;
  return std::any_of(columns.names.begin(), columns.names.end(), [&](const std::string& name) {
    return name.rfind("flag_", 0) == 0 && columns.at(row, name) != 0;
  });
}

int group_of(const Columns& columns, std::size_t row) {
  for (const char* name : {"group", "toss"}) {
    if (!columns.has(name)) continue;
    const double group = columns.at(row, name);
    if (group != std::round(group) || std::abs(group) > 1e9)
      throw InputError(fmt::format("{}: line {}: {}: {} is no whole number up to 1e9", columns.file,
                                   columns.line(row), name, group));
    return static_cast<int>(group);
  }
  return static_cast<int>(row);
}

// contact rows in the plane

const std::vector<std::string> kPlane{"vx", "vy", "w"},
    kPlaneSigma{"sigma_vx", "sigma_vy", "sigma_w"};

/// A body whose contact is a point: the plane stands on the floor along t. None where normal and
/// tangent are no axes of a frame.
std::optional<MeasuredPose> planar_pose(const Eigen::MatrixXd& J, double gyration) {
  const Eigen::Vector2d n = J.row(0).head(2), t = J.row(1).head(2);
  if (std::abs(n.norm() - 1) + std::abs(t.norm() - 1) + std::abs(n.dot(t)) > 1e-6) return {};
  MeasuredPose pose{.orientation = Eigen::Quaterniond::Identity(),
                    .gyration = Vector3d::Constant(gyration),
                    .corners = {},
                    .radius = 0.1 * std::sqrt(gyration),
                    .from_space = Eigen::MatrixXd::Zero(3, 6)};
  // contact velocities t·v + jt_w w and n·v + jn_w w are those of w about y
  pose.corners = {Vector3d(-J(0, 2), 0, J(1, 2) + pose.radius)};
  for (const int k : {0, 1}) pose.from_space(k, 0) = t[k], pose.from_space(k, 2) = n[k];
  pose.from_space(2, 4) = 1;
  return pose;
}

MeasuredImpact planar_impact(const Columns& columns, std::size_t row, double gyration) {
  MeasuredImpact m{.name = columns.line(row), .group = group_of(columns, row)};
  m.M = Vector3d(1, 1, gyration).asDiagonal();
  m.J.resize(2, 3);
  m.J.row(0) = columns.at(row, {"jn_x", "jn_y", "jn_w"}).transpose();
  m.J.row(1) = columns.at(row, {"jt_x", "jt_y", "jt_w"}).transpose();
  m.v_minus = columns.at(row, with(kPlane, "_minus"));
  m.v_plus = columns.at(row, with(kPlane, "_plus"));
  if (columns.has(kPlaneSigma[0])) m.sigma = sigmas(columns, row, kPlaneSigma);
  m.pose = planar_pose(m.J, gyration);
  return m;
}

/// The impulses that make Δvx and Δvy turn the body by |Δw - turn m/I| too little [rad/s].
struct PlanarBalance {
  double change, turn;
};
PlanarBalance planar_balance(const MeasuredImpact& m) {
  const VectorXd change = m.v_plus - m.v_minus;
  const Eigen::Vector2d impulse =
      linear::basic_solution(m.J.leftCols(2).transpose(), change.head(2));
  return {change[2], m.J.col(2).dot(impulse)};
}

/// I/m that explains the spins of the training half best.
MeasuredBody fit_plane(const Columns& columns, const std::vector<std::size_t>& rows) {
  std::vector<PlanarBalance> balances;
  std::vector<double> arms;
  for (const std::size_t row : rows) {
    const MeasuredImpact m = planar_impact(columns, row, 1);
    arms.push_back(m.J.col(2).norm());
    if (trains(m)) balances.push_back(planar_balance(m));
  }
  const double arm = median(arms), unit = arm > 0 ? arm * arm : 1;
  VectorXd x = VectorXd::Zero(1);
  MeasuredBody body;
  body.balance = descend(
      [&](const VectorXd& at) {
        double sum = 0;
        for (const PlanarBalance& b : balances)
          sum += std::abs(b.change - b.turn / (unit * std::exp(at[0])));
        return balances.empty() ? 0 : sum / static_cast<double>(balances.size());
      },
      x, VectorXd::Constant(1, 0.5));
  body.gyration = VectorXd::Constant(1, unit * std::exp(x[0]));
  return body;
}

// a box on a floor at z = 0

const std::vector<std::string> kSpace{"vx", "vy", "vz", "wx", "wy", "wz"},
    kSpaceSigma{"sigma_vxy_minus", "sigma_vxy_plus", "sigma_vz_minus",
                "sigma_vz_plus",   "sigma_w_minus",  "sigma_w_plus"};

struct Corner {
  double height;
  Vector3d arm;  // from the centre of mass to the contact
};

Vector3d signs(int bits) { return {bits & 4 ? 1. : -1., bits & 2 ? 1. : -1., bits & 1 ? 1. : -1.}; }

std::vector<Corner> corners_of(const Matrix3d& R, const MeasuredBody& body) {
  std::vector<Corner> corners;
  for (int bits = 0; bits < 8; ++bits) {
    const Vector3d arm = R * (body.half * signs(bits) - body.centre) - Vector3d(0, 0, body.radius);
    corners.push_back({arm.z(), arm});
  }
  std::sort(corners.begin(), corners.end(),
            [](const Corner& a, const Corner& b) { return a.height < b.height; });
  return corners;
}

Matrix3d rotation(const Columns& columns, std::size_t row) {
  const VectorXd q = columns.at(row, {"qw", "qx", "qy", "qz"});
  if (!(q.norm() > 0.5 && q.norm() < 2))
    throw InputError(fmt::format("{}: line {}: qw, qx, qy, qz are no rotation", columns.file,
                                 columns.line(row)));
  return Eigen::Quaterniond(q[0], q[1], q[2], q[3]).normalized().toRotationMatrix();
}

MeasuredImpact box_impact(const Columns& columns, std::size_t row, const MeasuredBody& body,
                          const MeasuredOptions& options) {
  MeasuredImpact m{.name = columns.line(row), .group = group_of(columns, row), .tangents = 2};
  const Matrix3d R = rotation(columns, row);
  m.M = Eigen::MatrixXd::Identity(6, 6);
  m.M.diagonal().tail(3) = body.gyration;
  const std::vector<Corner> corners = corners_of(R, body);
  m.contacts = 1;
  while (m.contacts < 4 && corners[m.contacts].height <= corners[0].height + options.touching)
    ++m.contacts;
  m.J.resize(3 * m.contacts, 6);
  for (int i = 0; i < m.contacts; ++i) {
    const Vector3d& r = corners[i].arm;
    Matrix3d cross;
    cross << 0, -r.z(), r.y(), r.z(), 0, -r.x(), -r.y(), r.x(), 0;
    Eigen::Matrix<double, 3, 6> point;
    point << Matrix3d::Identity(), -cross * R;  // angular velocity in the body's frame
    m.J.row(i) = point.row(2);
    m.J.middleRows(m.contacts + 2 * i, 2) = point.topRows(2);
  }
  m.pose = MeasuredPose{.orientation = Eigen::Quaterniond(R),
                        .gyration = body.gyration,
                        .corners = {},
                        .radius = body.radius,
                        .from_space = Eigen::MatrixXd::Identity(6, 6)};
  for (int bits = 0; bits < 8; ++bits)
    m.pose->corners.push_back(body.half * signs(bits) - body.centre);
  // velocities of the centre of mass as it is now
  const Vector3d moved = body.centre - options.centre;
  const auto velocity = [&](const std::string& when) {
    VectorXd v = columns.at(row, with(kSpace, when));
    v.head<3>() += R * Vector3d(v.tail<3>()).cross(moved);
    return v;
  };
  m.v_minus = velocity("_minus"), m.v_plus = velocity("_plus");
  if (columns.has(kSpaceSigma[0])) {
    const VectorXd s = sigmas(columns, row, kSpaceSigma);
    const double xy = std::hypot(s[0], s[1]), z = std::hypot(s[2], s[3]),
                 w = std::hypot(s[4], s[5]);
    m.sigma = (VectorXd(6) << xy, xy, z, w, w, w).finished();
  }
  return m;
}

/// What is left of Δw once the impulse that makes Δv has turned the body [rad/s].
double box_balance(const MeasuredImpact& m) {
  const VectorXd change = m.v_plus - m.v_minus;
  const Vector3d impulse(change[0], change[1], change[2]);
  Eigen::MatrixXd turn(3, 3);  // of the lowest contact: tangents, then the normal
  turn << m.J.row(m.contacts).tail(3), m.J.row(m.contacts + 1).tail(3), m.J.row(0).tail(3);
  const VectorXd spin = (turn.transpose() * impulse).cwiseQuotient(m.M.diagonal().tail(3));
  return (change.tail(3) - spin).norm() / std::sqrt(3.0);
}

/// Shape by the heights of lowest corners, centre and inertia by the balance of momentum.
MeasuredBody fit_box(const Columns& columns, const std::vector<std::size_t>& rows,
                     const MeasuredOptions& options) {
  MeasuredBody body{.gyration = Vector3d::Constant(2.5e-3), .half = 0.05, .centre = options.centre};
  // the size of the box sets the scale of everything
  double highest = 0;
  for (const std::size_t row : rows) highest = std::max(highest, columns.at(row, "z"));
  if (!(highest > 0))
    throw InputError(
        fmt::format("{}: z is nowhere above zero; it must be the height of the centre of mass over "
                    "the floor",
                    columns.file));
  body.half = highest / 2;
  body.gyration.setConstant(body.half * body.half);
  const auto shape = [&](const MeasuredBody& at) {
    // z + (R (half s - centre))_z - radius = 0 at the lowest corner
    Eigen::Matrix2d A = Eigen::Matrix2d::Zero();
    Eigen::Vector2d b = Eigen::Vector2d::Zero();
    for (const std::size_t row : rows) {
      const Matrix3d R = rotation(columns, row);
      const Vector3d moved = R * (at.centre - options.centre);
      const Eigen::Vector2d line(-R.row(2).cwiseAbs().sum(), -1);
      const double right = -(columns.at(row, "z") + moved.z()) + R.row(2).dot(at.centre);
      A += line * line.transpose(), b += right * line;
    }
    // poses that are all alike, or corners so sharp that noise makes the sphere a hole
    const Eigen::Vector2d both = A.ldlt().solve(b);
    if (A.determinant() > kFlat * A.squaredNorm() && both[1] >= 0) return both;
    return Eigen::Vector2d(b[0] / A(0, 0), 0);
  };
  const auto with_values = [&](const VectorXd& x) {
    MeasuredBody at = body;
    at.centre = options.centre + x.head<3>();
    at.gyration = x.tail<3>();
    const Eigen::Vector2d fitted = shape(at);
    at.half = fitted[0], at.radius = fitted[1];
    return at;
  };
  const auto balance = [&](const VectorXd& x) {
    if (x.tail<3>().minCoeff() <= 0) return HUGE_VAL;
    const MeasuredBody at = with_values(x);
    double sum = 0;
    for (const std::size_t row : rows) sum += box_balance(box_impact(columns, row, at, options));
    return sum / static_cast<double>(rows.size());
  };
  VectorXd x(6), step(6);
  x << Vector3d::Zero(), body.gyration;
  step << Vector3d::Constant(0.02 * body.half), 0.2 * body.gyration;
  const double left = descend(balance, x, step);
  body = with_values(x);
  body.balance = left;
  return body;
}

// a mechanism or a model

std::vector<std::string> sigma_names(const Scenario& s) {
  std::vector<std::string> names = s.velocities;
  for (std::string& name : names) name = "sigma_" + name;
  return names;
}

MeasuredImpact scenario_impact(const Columns& columns, std::size_t row,
                               const MeasuredOptions& options) {
  const Scenario& s = *options.scenario;
  MeasuredImpact m{.name = columns.line(row), .group = group_of(columns, row)};
  const VectorXd q = m.q = columns.at(row, s.coordinates);
  m.v_minus = columns.at(row, with(s.velocities, "_minus"));
  m.v_plus = columns.at(row, with(s.velocities, "_plus"));
  if (const std::vector<std::string> names = sigma_names(s); columns.has(names[0]))
    m.sigma = sigmas(columns, row, names);
  const Terms terms = s.moving()->terms(q, m.v_minus);
  if (terms.A.rows() > 0)
    throw InputError(
        fmt::format("{}: has joints that close loops; measured impacts need a "
                    "mechanism without",
                    s.name));
  m.M = terms.M;
  std::vector<std::pair<double, int>> order;
  for (std::size_t i = 0; i < terms.contacts.size(); ++i)
    order.emplace_back(terms.contacts[i].phi, static_cast<int>(i));
  std::sort(order.begin(), order.end());
  std::erase_if(order,
                [&](const auto& at) { return at.first > order.front().first + options.touching; });
  if (order.empty())
    throw InputError(
        fmt::format("{}: line {}: no contact is near", columns.file, columns.line(row)));
  m.contacts = static_cast<int>(order.size());
  m.tangents = static_cast<int>(terms.contacts[order[0].second].Jt.rows());
  m.J.resize((1 + m.tangents) * m.contacts, s.v.size());
  for (int i = 0; i < m.contacts; ++i) {
    const Contact& contact = terms.contacts[order[i].second];
    m.J.row(i) = contact.Jn;
    m.J.middleRows(m.contacts + m.tangents * i, m.tangents) = contact.Jt;
  }
  return m;
}

}  // namespace

MeasuredTable read_measured(const std::string& file, const MeasuredOptions& options) {
  const Columns columns = read_columns(file);
  MeasuredTable table{.file = file, .rows = columns.rows.size()};
  std::vector<std::size_t> rows;
  for (std::size_t row = 0; row < columns.rows.size(); ++row) {
    if (flagged(columns, row))
      ++table.flagged;
    else
      rows.push_back(row);
  }
  std::function<MeasuredImpact(std::size_t)> impact_of;
  if (options.scenario) {
    table.kind = "scenario";
    columns.require(options.scenario->coordinates);
    columns.require(with(options.scenario->velocities, "_minus"));
    columns.require(with(options.scenario->velocities, "_plus"));
    all_or_none(columns, sigma_names(*options.scenario));
    impact_of = [&](std::size_t row) { return scenario_impact(columns, row, options); };
  } else if (columns.has("jn_x")) {
    table.kind = "rows";
    columns.require({"jn_x", "jn_y", "jn_w", "jt_x", "jt_y", "jt_w"});
    columns.require(with(kPlane, "_minus"));
    columns.require(with(kPlane, "_plus"));
    all_or_none(columns, kPlaneSigma);
    table.body = fit_plane(columns, rows);
    impact_of = [&](std::size_t row) {
      return planar_impact(columns, row, table.body->gyration[0]);
    };
  } else {
    table.kind = "box";
    columns.require({"x", "y", "z", "qw", "qx", "qy", "qz"});
    columns.require(with(kSpace, "_minus"));
    columns.require(with(kSpace, "_plus"));
    all_or_none(columns, kSpaceSigma);
    // the training half, where one corner is clearly the lowest
    std::vector<std::size_t> training;
    for (const std::size_t row : rows) {
      MeasuredBody any{.half = 1};
      const std::vector<Corner> corners = corners_of(rotation(columns, row), any);
      if (group_of(columns, row) % 2 == 0 && corners[1].height > corners[0].height + 0.1)
        training.push_back(row);
    }
    if (training.size() < 10)
      throw InputError(fmt::format(
          "{}: only {} impacts of even groups on a single corner; shape and inertia need 10", file,
          training.size()));
    if (training.size() > 400) training.resize(400);
    table.body = fit_box(columns, training, options);
    impact_of = [&](std::size_t row) { return box_impact(columns, row, *table.body, options); };
  }
  for (const std::size_t row : rows) {
    MeasuredImpact m = impact_of(row);
    if (!approaches(m))
      table.apart.push_back(m.name);
    else if (energy_kept(m) > 1 + kGrows)
      table.grows.push_back(m.name);
    else
      table.impacts.push_back(std::move(m));
  }
  if (table.impacts.empty())
    throw InputError(
        fmt::format("{}: no impact is left: {} of {} rows are flagged, in {} energy "
                    "grows, in {} nothing approaches",
                    file, table.flagged, table.rows, table.grows.size(), table.apart.size()));
  return table;
}

MeasuredPeer measured_peer(const std::string& simulator, const MeasuredTable& table,
                           const MeasuredOptions& options) {
  if (simulator != "mujoco")
    throw InputError(fmt::format("--compare {}: must be mujoco", simulator));
#ifdef ROUTH_HAS_MUJOCO
  if (const Scenario* const s = options.scenario) {
    const auto* const model = std::get_if<Model>(&s->what);
    if (!model)
      throw InputError(
          fmt::format("--compare mujoco: {} is not a model of MuJoCo (.xml, .urdf)", s->name));
    return mujoco::measured_peer(model->system);
  }
  for (const MeasuredImpact& impact : table.impacts) {
    if (!impact.pose)
      throw InputError(
          fmt::format("--compare mujoco: {}: line {}: (jn_x, jn_y) and (jt_x, jt_y) must be unit "
                      "vectors at right angles, so that a body can be placed",
                      table.file, impact.name));
  }
  return mujoco::measured_peer();
#else
  (void)table, (void)options;
  throw InputError("--compare mujoco: this build has no models of MuJoCo");
#endif
}

namespace {

int fastest_contact(const MeasuredImpact& impact) {
  Eigen::Index fastest = 0;
  (impact.J.topRows(impact.contacts) * impact.v_minus).minCoeff(&fastest);
  return static_cast<int>(fastest);
}

}  // namespace

std::vector<MeasuredSummary> summaries(const MeasuredTable& table, const MeasuredStudy& study) {
  std::vector<MeasuredSummary> all;
  const std::vector<std::string> names = law_names(study);
  std::set<int> counts;
  for (const StudyRow& row : study.rows) counts.insert(table.impacts[row.impact].contacts);
  for (const int contacts : counts) {
    std::vector<const StudyRow*> rows;
    double fastest = 0;
    for (const StudyRow& row : study.rows) {
      const MeasuredImpact& impact = table.impacts[row.impact];
      if (impact.contacts != contacts) continue;
      rows.push_back(&row);
      fastest = std::max(
          fastest, kinetic_distance(impact, impact.v_minus, VectorXd::Zero(impact.v_minus.size())));
    }
    for (std::size_t k = 0; k < names.size(); ++k) {
      MeasuredSummary s{
          .contacts = contacts,
          .impacts = static_cast<int>(rows.size()),
          .law = k < study.laws.size() ? study.laws[k] : study.peers[k - study.laws.size()].name};
      std::vector<double> noise, unexplained, first, nearest, control;
      std::vector<const MeasuredDistance*> distances;
      for (const StudyRow* row : rows) {
        const MeasuredDistance& d = row->laws[k];
        noise.push_back(row->noise), unexplained.push_back(row->unexplained);
        first.push_back(d.first), nearest.push_back(d.nearest);
        if (!d.controls.empty()) control.push_back(median(d.controls));
        distances.push_back(&d);
        s.says += d.begins >= 0;
        s.begins += d.begins == 0;
        const int fastest_one = fastest_contact(table.impacts[row->impact]);
        s.fastest += d.begins == fastest_one;
        const auto part = [&](int contact) {
          const auto& begins = d.control_begins;
          const auto count = std::count(begins.begin(), begins.end(), contact);
          return begins.empty() ? 0.0
                                : static_cast<double>(count) / static_cast<double>(begins.size());
        };
        s.begins_by_chance += part(0), s.fastest_by_chance += part(fastest_one);
      }
      s.noise = median(noise), s.unexplained = median(unexplained);
      s.first = median(first), s.nearest = median(nearest), s.control = median(control);
      s.ranks = rank_test(distances, [&](double a, double b) {
        return std::abs(a - b) <= 1e-9 * std::max(a, b) + kRounding * fastest;
      });
      all.push_back(std::move(s));
    }
  }
  return all;
}

}  // namespace routh::io
