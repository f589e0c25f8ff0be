// Models of MuJoCo through our checks. MuJoCo's own reader is not the matter: its input is well
// formed, with any bodies, joints, shapes, equalities and numbers.

#include <fmt/format.h>

#include "laws.h"

namespace routh::fuzz {
namespace {

std::string numbers(FuzzedDataProvider& data, int count, double low, double high) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    const double x = data.ConsumeBool() ? data.ConsumeFloatingPointInRange(low, high)
                                        : data.ConsumeIntegralInRange(-2, 2) * 0.5;
    text += fmt::format("{} ", std::clamp(x, low, high));
  }
  return text;
}

std::string body(FuzzedDataProvider& data, int depth, int& names) {
  const int self = names++;
  std::string text =
      fmt::format("<body name=\"b{}\" pos=\"{}\">", self, numbers(data, 3, -0.5, 1.5));
  const int joint = data.ConsumeIntegralInRange(0, 4);
  if (joint == 0 && depth == 0) text += "<freejoint/>";
  if (joint > 0 && joint < 4) {
    const char* kinds[] = {"", "hinge", "slide", "ball"};
    text += fmt::format("<joint name=\"j{}\" type=\"{}\" {} damping=\"{}\"/>", self, kinds[joint],
                        data.ConsumeBool() && joint < 3 ? "limited=\"true\" range=\"-30 30\"" : "",
                        data.ConsumeIntegralInRange(0, 2));
  }
  const char* shapes[] = {"sphere", "box", "capsule", "cylinder", "ellipsoid"};
  for (int i = data.ConsumeIntegralInRange(1, 2); i > 0; --i) {
    text += fmt::format(
        "<geom type=\"{}\" size=\"{}\" pos=\"{}\" mass=\"{}\" friction=\"{}\" condim=\"{}\" "
        "priority=\"{}\"/>",
        data.PickValueInArray(shapes), numbers(data, 3, 0.01, 0.5), numbers(data, 3, -0.3, 0.3),
        data.PickValueInArray({1.0, 1e-3, 1e3}), numbers(data, 3, 0, 2),
        data.PickValueInArray({1, 3, 4, 6}), data.ConsumeIntegralInRange(0, 1));
  }
  if (depth < 2 && data.ConsumeBool()) text += body(data, depth + 1, names);
  return text + "</body>";
}

std::string model(FuzzedDataProvider& data) {
  int names = 0;
  std::string text = "<mujoco><worldbody><geom type=\"plane\" size=\"5 5 1\"/>";
  for (int i = data.ConsumeIntegralInRange(1, 3); i > 0; --i) text += body(data, 0, names);
  text += "</worldbody>";
  if (data.ConsumeBool() && names > 1) {
    const char* kinds[] = {"weld", "connect"};
    const bool connect = data.ConsumeBool();
    text += fmt::format("<equality><{} body1=\"b0\" body2=\"b{}\" {}/></equality>",
                        kinds[connect ? 1 : 0], names - 1, connect ? "anchor=\"0 0 0.1\"" : "");
  }
  return text + "</mujoco>";
}

}  // namespace
}  // namespace routh::fuzz

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  routh::fuzz::enter_own_folder();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace routh;
  FuzzedDataProvider data(bytes, size);
  io::ModelStart start;
  if (data.ConsumeBool()) start.drop = data.ConsumeFloatingPointInRange(0.0, 1.0);
  const int edges = data.ConsumeIntegralInRange(3, 8);
  fuzz::write("fuzz.xml", fuzz::model(data));
  fuzz::answered([&] {
    io::Scenario scenario = io::load_scenario("fuzz.xml", {}, start);
    scenario.run.edges = edges;
    fuzz::apply_laws(io::impact_case(std::move(scenario)));
  });
  return 0;
}
