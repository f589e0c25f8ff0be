// Tables of measured impacts as users give them.

#include "routh/io/measured.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <cmath>
#include <filesystem>
#include <random>

#include "apps/program.h"
#include "routh/io/files.h"

namespace {

using namespace routh::test;
using Measured = Program;

constexpr const char* kHead =
    "vx_minus,vy_minus,w_minus,vx_plus,vy_plus,w_plus,jn_x,jn_y,jn_w,jt_x,jt_y,jt_w";

/// A disc of unit mass that falls without spin and bounces with e = 1/2: 2/5 of its slip is gone.
std::string row(int k) {
  const double slip = 0.01 * (k % 7), fall = 1 + 0.1 * (k % 5);
  return fmt::format("{},{},0,{},{},0,0,1,0,1,0,1", slip, -fall, slip, 0.5 * fall);
}
std::string table(const std::string& ending = "\n") {
  std::string text = kHead + ending;
  for (int k = 0; k < 24; ++k) text += row(k) + ending;
  return text;
}

TEST_F(Measured, ALawWithOneOutcomeIsAsFarFromItsControlsAndSaysNothing) {
  const std::string file = folder_ + "/m.csv";
  routh::io::write_file(file, table());
  const nlohmann::json j = json_of("measured " + file + " --samples 20");
  ASSERT_EQ(j["laws"].size(), 5u);
  for (const nlohmann::json& law : j["laws"]) {
    EXPECT_EQ(law["impacts"], 12) << law;
    EXPECT_EQ(law["contacts"], 1) << law;
    if (law["law"] == "set") continue;  // samples of one outcome differ by rounding
    EXPECT_EQ(law["ties"], 12) << law;
    EXPECT_EQ(law["farther_controls"], 0.5) << law;
    EXPECT_EQ(law["chance"], 1) << law;
  }
  EXPECT_NEAR(j["fits"][0]["e"].get<double>(), 0.5, 0.02);
  // every law's prediction of every impact
  ASSERT_EQ(j["impacts_held_out"].size(), 12u);
  for (const nlohmann::json& impact : j["impacts_held_out"]) {
    for (const char* law : {"simultaneous", "sequential", "set", "binary", "lzb"}) {
      const nlohmann::json& of = impact["laws"][law];
      double square = 0;
      for (int i = 0; i < 3; ++i)
        square += (i < 2 ? 1 : j["body"]["gyration"][0].get<double>()) *
                  std::pow(of["v_plus"][i].get<double>() - impact["v_plus"][i].get<double>(), 2);
      EXPECT_NEAR(std::sqrt(square), of["nearest"].get<double>(), 1e-9) << impact;
    }
  }
}

/// Tosses of a box on one corner as a table has them: velocities of a point that is not the centre
/// of mass but was taken for it.
std::string tosses(const routh::io::MeasuredBody& body, const routh::ContactParameters& truth,
                   const Eigen::Vector3d& taken, double noise) {
  using Eigen::Vector3d;
  std::mt19937 random(11);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::normal_distribution<double> normal;
  const routh::MeasuredLaw path = routh::measured_laws(1, 1)[1];
  std::string text =
      "x,y,z,qw,qx,qy,qz,vx_minus,vy_minus,vz_minus,wx_minus,wy_minus,wz_minus,vx_plus,vy_plus,"
      "vz_plus,wx_plus,wy_plus,wz_plus,toss\n";
  for (int toss = 0; toss < 160;) {
    const Eigen::Quaterniond q =
        Eigen::Quaterniond(normal(random), normal(random), normal(random), normal(random))
            .normalized();
    const Eigen::Matrix3d R = q.toRotationMatrix();
    std::vector<Vector3d> arms;
    for (int k = 0; k < 8; ++k) {
      const Vector3d corner(k & 1 ? 1 : -1, k & 2 ? 1 : -1, k & 4 ? 1 : -1);
      arms.push_back(R * (body.half * corner - body.centre) - Vector3d(0, 0, body.radius));
    }
    std::sort(arms.begin(), arms.end(),
              [](const Vector3d& x, const Vector3d& y) { return x.z() < y.z(); });
    if (arms[1].z() < arms[0].z() + 0.01) continue;
    routh::MeasuredImpact m{.name = "toss", .tangents = 2};
    m.M = Eigen::MatrixXd::Identity(6, 6);
    m.M.diagonal().tail(3) = body.gyration;
    m.J.resize(3, 6);
    for (int row = 0; row < 3; ++row) {
      const Vector3d along = Vector3d::Unit((row + 2) % 3);  // z, x, y
      m.J.row(row).head(3) = along.transpose();
      for (int axis = 0; axis < 3; ++axis)
        m.J(row, 3 + axis) = along.dot(Vector3d(R.col(axis)).cross(arms[0]));
    }
    m.v_minus.resize(6);
    m.v_minus << uniform(random), uniform(random), -1 + 0.5 * uniform(random), 8 * uniform(random),
        8 * uniform(random), 8 * uniform(random);
    if ((m.J.row(0) * m.v_minus).value() > -0.2) continue;
    Eigen::VectorXd after = path.predict(m, truth)[0].v;
    for (int k = 0; k < 6; ++k) after[k] += noise * (k < 3 ? 1 : 20) * normal(random);
    const Vector3d away = taken - body.centre;
    text += fmt::format("0,0,{:.12g},{:.12g},{:.12g},{:.12g},{:.12g}",
                        -arms[0].z() + (R * away).z(), q.w(), q.x(), q.y(), q.z());
    for (const Eigen::VectorXd& v : {m.v_minus, after}) {
      const Vector3d w = v.tail(3), moves = v.head(3) + R * w.cross(away);
      text += fmt::format(",{:.12g},{:.12g},{:.12g},{:.12g},{:.12g},{:.12g}", moves.x(), moves.y(),
                          moves.z(), w.x(), w.y(), w.z());
    }
    text += fmt::format(",{}\n", toss++);
  }
  return text;
}

TEST_F(Measured, ABoxsShapeCentreInertiaFrictionAndRestitutionAreFoundAgain) {
  const std::string file = folder_ + "/tosses.csv";
  routh::io::MeasuredBody body;
  body.gyration = Eigen::Vector3d(0.0026, 0.0025, 0.0023);
  body.half = 0.05, body.radius = 0.004;
  body.centre = Eigen::Vector3d(0.001, -0.002, 0.006);
  routh::io::write_file(file, tosses(body, {0.2, 0.35}, {0, 0, 0.004}, 2e-3));
  const nlohmann::json j = json_of("measured " + file + " --centre 0,0,0.004 --samples 2 --most 5");
  EXPECT_EQ(j["kind"], "box");
  EXPECT_NEAR(j["body"]["half"].get<double>(), body.half, 1e-3);
  EXPECT_NEAR(j["body"]["half"].get<double>() * std::sqrt(3.0) + j["body"]["radius"].get<double>(),
              body.half * std::sqrt(3.0) + body.radius, 1e-3);
  for (int k = 0; k < 3; ++k) {
    EXPECT_NEAR(j["body"]["centre"][k].get<double>(), body.centre[k], 4e-4) << k;
    EXPECT_NEAR(j["body"]["gyration"][k].get<double>(), body.gyration[k], 1e-4) << k;
  }
  EXPECT_NEAR(j["fits"][0]["mu"].get<double>(), 0.2, 0.01);
  EXPECT_NEAR(j["fits"][0]["e"].get<double>(), 0.35, 0.01);
  // what is held out is as far as the noise makes it
  const double noise = 2e-3 * std::sqrt(3 + 400 * body.gyration.sum());
  EXPECT_NEAR(j["fits"][0]["held_out"].get<double>(), noise, 0.4 * noise);
}

#ifdef ROUTH_HAS_MUJOCO
TEST_F(Measured, MujocoStandsBesideTheLawsWithParametersOfItsOwn) {
  const std::string file = folder_ + "/m.csv", ball = folder_ + "/ball.xml";
  routh::io::write_file(file, table());
  const nlohmann::json j = json_of("measured " + file + " --samples 2 --compare mujoco");
  ASSERT_EQ(j["peers"].size(), 1u);
  EXPECT_EQ(j["peers"][0]["name"], "mujoco");
  EXPECT_GT(j["peers"][0]["parameters"]["friction"].get<double>(), 0);
  // a ball bounces as it is told to, nearly: MuJoCo lets slip a little
  EXPECT_LT(j["peers"][0]["held_out"].get<double>(), 0.05);
  EXPECT_EQ(j["laws"].back()["law"], "mujoco");
  // rows that are no axes of a frame leave no body to move
  std::string skew = table();
  for (std::size_t at = 0; (at = skew.find(",0,1,0,1,0,1", at)) != std::string::npos; ++at)
    skew.replace(at, 12, ",1,1,0,1,0,1");
  routh::io::write_file(file, skew);
  const Result r = run("measured " + file + " --samples 2 --compare mujoco");
  EXPECT_EQ(r.code, 2);
  EXPECT_TRUE(says(r, "right angles")) << r.out;
}
#endif

TEST_F(Measured, ModelsAndMechanismsOfTheUsersOwnAreMeasured) {
  // a point of 2 kg: mechanism and coordinates by name, rows of sigma
  const std::string file = folder_ + "/m.csv", point = folder_ + "/point.yaml";
  routh::io::write_file(point, R"(
mechanism:
  bodies: [{name: p, mass: 2, inertia: 1, shapes: {c: {point: [0, 0]}}}]
  planes: {floor: {point: [0, 0], normal: [0, 1]}}
  contacts: [{name: A, between: [p.c, floor], friction: 0.9}]
)");
  std::string text =
      "p.x,p.y,p.angle,p.x_minus,p.y_minus,p.angle_minus,p.x_plus,p.y_plus,p.angle_plus,"
      "sigma_p.x,sigma_p.y,sigma_p.angle\n";
  for (int k = 0; k < 24; ++k) {
    const double fall = 1 + 0.1 * (k % 5), slip = 1 + 0.1 * (k % 3);
    // mu 0.2, e 0.5: friction takes 0.2 * 1.5 of the fall
    text += fmt::format("{},0,0,{},{},0,{},{},0,0.01,0.01,0.01\n", k, slip, -fall,
                        slip - 0.3 * fall, 0.5 * fall);
  }
  routh::io::write_file(file, text);
  const nlohmann::json j = json_of("measured " + file + " --scenario " + point + " --samples 2");
  EXPECT_EQ(j["kind"], "scenario");
  EXPECT_NEAR(j["fits"][0]["mu"].get<double>(), 0.2, 0.02);
  EXPECT_NEAR(j["fits"][0]["e"].get<double>(), 0.5, 0.02);
  EXPECT_EQ(run("measured " + file + " --scenario " + point + " --compare mujoco").code, 2);
  const Result missing = run("measured " + file + " --scenario rocking-block");
  EXPECT_EQ(missing.code, 2);
  EXPECT_TRUE(says(missing, "block.x")) << missing.out;
}

TEST_F(Measured, TablesOfOtherProgramsAreRead) {
  const std::string file = folder_ + "/m.csv", same = folder_ + "/n.csv";
  routh::io::write_file(file, table());
  const nlohmann::json expected = json_of("measured " + file + " --samples 2")["laws"];
  std::string words = std::string(kHead) + ",\"by, whom\"\n";
  for (int k = 0; k < 24; ++k) words += row(k) + ",\"Smith, \"\"J.\"\"\"\n";
  std::string spaced = table();
  for (std::size_t at = 0; (at = spaced.find(',', at)) != std::string::npos; at += 2)
    spaced.replace(at, 1, ", ");
  for (const std::string& text :
       {table("\r\n"), "\xEF\xBB\xBF" + table(), words, spaced, table() + "\n\n"}) {
    routh::io::write_file(same, text);
    EXPECT_EQ(json_of("measured " + same + " --samples 2")["laws"], expected)
        << text.substr(0, 200);
  }
}

TEST_F(Measured, TablesThatCannotBeAreRefusedByTheirPlace) {
  const std::string file = folder_ + "/m.csv", head = std::string(kHead) + "\n";
  const std::string good = row(1) + "\n", box = "x,y,z,qw,qx,qy,qz";
  std::string boxes =
      box +
      ",vx_minus,vy_minus,vz_minus,wx_minus,wy_minus,wz_minus,vx_plus,vy_plus,vz_plus,"
      "wx_plus,wy_plus,wz_plus\n";
  boxes += "0,0,1,0,0,0,0,0,0,-1,0,0,0,0,0,0.5,0,0,0\n";
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", "no rows"},
      {head, "no rows"},
      {"jn_x\n1\n", "are missing"},
      {"a,b\n1,2\n", "are missing"},
      {head + good + "1,2\n", "line 3 has 2 cells"},
      {head + good + "\n" + "nan" + row(1).substr(row(1).find(',')) + "\n", "line 4: vx_minus"},
      {head + "inf" + row(1).substr(row(1).find(',')) + "\n", "line 2: vx_minus"},
      {head + "1e200" + row(1).substr(row(1).find(',')) + "\n", "line 2: vx_minus"},
      {head + "one" + row(1).substr(row(1).find(',')) + "\n", "'one'"},
      {head + row(1).substr(row(1).find(',')) + "\n", "vx_minus"},
      {std::string(kHead) + ",group\n" + row(1) + ",1.5\n", "group"},
      {std::string(kHead) + ",group\n" + row(1) + ",1e12\n", "group"},
      {std::string(kHead) + ",jt_w\n" + row(1) + ",1\n", "same name"},
      {head + "0,-1,0,0,2,0,0,1,0,1,0,1\n", "no impact is left"},
      {head + "0,1,0,0,1,0,0,1,0,1,0,1\n", "nothing approaches"},
      {head + "0,0,0,0,0,0,0,1,0,1,0,1\n", "nothing approaches"},
      {head + "0,-1,0,0,1,0,0,0,0,0,0,0\n", "nothing approaches"},
      {head + good, "odd"},
      {std::string(kHead) + ",group\n" + row(1) + ",2\n" + row(2) + ",4\n", "odd"},
      {std::string(kHead) + ",group\n" + row(1) + ",1\n" + row(2) + ",3\n", "even"},
      {std::string(kHead) + ",sigma_vx\n" + row(1) + ",1\n", "sigma_vy, sigma_w"},
      {std::string(kHead) + ",sigma_vx,sigma_vy,sigma_w\n" + row(1) + ",1,-1,1\n",
       "line 2: sigma_vy"},
      {boxes, "no rotation"},
  };
  for (const auto& [text, hint] : cases) {
    routh::io::write_file(file, text);
    const Result r = run("measured " + file);
    EXPECT_EQ(r.code, 2) << text << r.out;
    EXPECT_TRUE(says(r, hint)) << text << r.out;
  }
  EXPECT_EQ(run("measured " + folder_ + "/none.csv").code, 2);
  EXPECT_EQ(run("measured " + folder_).code, 2);
}

TEST_F(Measured, RowsThatAreNoImpactsAreNamedByTheirLinesAndCounted) {
  const std::string file = folder_ + "/m.csv";
  routh::io::write_file(file, table() + "\n0,-1,0,0,2,0,0,1,0,1,0,1\n0,1,0,0,1,0,0,1,0,1,0,1\n");
  const nlohmann::json j = json_of("measured " + file + " --samples 2");
  EXPECT_EQ(j["energy_grows"], (std::vector<std::string>{"27"}));
  EXPECT_EQ(j["nothing_approaches"], (std::vector<std::string>{"28"}));
  EXPECT_EQ(j["impacts"], 24);
  EXPECT_TRUE(says(run("measured " + file + " --samples 2"),
                   "1 left out because energy grows (line 27), 1 left out because nothing "
                   "approaches (line 28)"));
}

TEST_F(Measured, PublicDataThatAreNotAllThereLeaveNothingBehind) {
  const std::string out = folder_ + "/results";
  routh::io::write_file(folder_ + "/ellipse-impacts.csv", table());
  const Result r = run("reproduce measured --data " + folder_ + " --out " + out);
  EXPECT_EQ(r.code, 2);
  EXPECT_TRUE(says(r, "cube-impacts.csv")) << r.out;
  EXPECT_FALSE(std::filesystem::exists(out));
  EXPECT_EQ(run("reproduce measured --out " + out).code, 2);
}

// What a perfect bounce keeps, rounding may seem to make grow.
TEST_F(Measured, NothingIsLeftOutOfPerfectBounces) {
  const std::string file = folder_ + "/m.csv";
  std::string text = std::string(kHead) + "\n";
  for (int k = 0; k < 40; ++k) {
    const double fall = 0.1 * (k + 1), slip = 0.07 * k;
    text += fmt::format("{:.17g},{:.17g},0,{:.17g},{:.17g},0,0.6,0.8,0,0.8,-0.6,1\n", slip, -fall,
                        slip + 2 * 0.6 * (0.8 * fall - 0.6 * slip),
                        -fall + 2 * 0.8 * (0.8 * fall - 0.6 * slip));
  }
  routh::io::write_file(file, text);
  const nlohmann::json j = json_of("measured " + file + " --samples 2");
  EXPECT_TRUE(j["energy_grows"].empty()) << j["energy_grows"];
  EXPECT_NEAR(j["fits"][0]["e"].get<double>(), 1, 1e-3);
  EXPECT_NEAR(j["fits"][0]["mu"].get<double>(), 0, 1e-3);
}

// Nanometres or gigametres a second: the same fit, the same figure, numbers that can be read.
TEST_F(Measured, UnitsOfATableDoNotMatter) {
  const std::string file = folder_ + "/m.csv";
  std::vector<nlohmann::json> fits;
  for (const double unit : {1e-9, 1.0, 1e9}) {
    std::string text = std::string(kHead) + "\n";
    for (int k = 0; k < 24; ++k) {
      const double fall = 1 + 0.1 * (k % 5), slip = 0.01 * (k % 7), off = 0.02 * (k % 3);
      text += fmt::format("{:.17g},{:.17g},0,{:.17g},{:.17g},0,0,1,0,1,0,{:.17g}\n", slip * unit,
                          -fall * unit, slip * unit, (0.5 * fall + off) * unit, unit);
    }
    routh::io::write_file(file, text);
    const Result r = run("measured " + file + " --samples 2 --plot " + folder_ + "/figures");
    EXPECT_EQ(r.code, 0) << r.out;
    EXPECT_FALSE(says(r, "first  0.0000")) << r.out;
    fits.push_back(json_of("measured " + file + " --samples 2")["fits"]);
  }
  for (const nlohmann::json& f : fits) {
    for (int k = 0; k < 3; ++k) {
      EXPECT_NEAR(f[k]["e"].get<double>(), fits[1][k]["e"].get<double>(), 1e-3);
      EXPECT_NEAR(f[k]["mu"].get<double>(), fits[1][k]["mu"].get<double>(), 1e-3);
    }
  }
}

}  // namespace
