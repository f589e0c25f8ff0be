// Expressions of scenario files and of --set.

#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace routh;
  const std::string text(reinterpret_cast<const char*>(data), size);
  fuzz::answered([&] { (void)io::evaluate(text, {{"mass", 2.5}, {"width", 0}}); });
  fuzz::answered([&] { (void)io::Script(text, {{"mass", 2.5}})(0.1, 2, -3); });
  return 0;
}
