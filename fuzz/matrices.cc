// Plain matrices M, Jn, Jt, mu, v of any kind: singular, huge, tiny, not finite.

#include <Eigen/Dense>

#include "laws.h"

namespace routh::fuzz {
namespace {

double number(FuzzedDataProvider& data) {
  switch (data.ConsumeIntegralInRange(0, 9)) {
    case 0:
      return 0;
    case 1:
      return data.PickValueInArray<double>(
          {1e-300, 1e300, -1e300, 1e-9, 1e9, HUGE_VAL, std::nan(""), -0.0});
    case 2:
      return data.ConsumeFloatingPoint<double>();
    case 3:
      return data.ConsumeFloatingPointInRange(-1.0, 1.0);
    default:
      return data.ConsumeIntegralInRange(-4, 4);
  }
}
Eigen::MatrixXd matrix(FuzzedDataProvider& data, int rows, int columns) {
  return Eigen::MatrixXd::NullaryExpr(rows, columns, [&] { return number(data); });
}

}  // namespace
}  // namespace routh::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace routh;
  FuzzedDataProvider data(bytes, size);
  const int n = data.ConsumeIntegralInRange(1, 6), m = data.ConsumeIntegralInRange(1, 3);
  const int tangents = data.ConsumeIntegralInRange(1, 2);
  io::Scenario scenario{.name = "fuzz", .title = "fuzz"};
  const Eigen::MatrixXd root = fuzz::matrix(data, n, n);
  scenario.terms.M = data.ConsumeBool() ? Eigen::MatrixXd::Identity(n, n)
                                        : Eigen::MatrixXd(root * root.transpose());
  scenario.terms.A = fuzz::matrix(data, data.ConsumeIntegralInRange(0, 2), n);
  scenario.v = fuzz::matrix(data, n, 1);
  scenario.run.edges = data.ConsumeIntegralInRange(3, 9);
  for (int i = 0; i < m; ++i) {
    scenario.terms.contacts.push_back({.name = std::to_string(i),
                                       .Jn = fuzz::matrix(data, 1, n),
                                       .Jt = fuzz::matrix(data, tangents, n),
                                       .mu = std::abs(fuzz::number(data))});
  }
  for (int i = 0; i < n; ++i) scenario.velocities.push_back(std::to_string(i));
  fuzz::answered([&] { fuzz::apply_laws(io::impact_case(scenario)); });
  return 0;
}
