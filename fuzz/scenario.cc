// Scenario files: read, and resolved by every law where they are an impact.

#include "laws.h"

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  routh::fuzz::enter_own_folder();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace routh;
  fuzz::write("fuzz.yaml", std::string(reinterpret_cast<const char*>(data), size));
  fuzz::answered([&] { fuzz::apply_laws(io::impact_case(io::load_scenario("fuzz.yaml"))); });
  return 0;
}
