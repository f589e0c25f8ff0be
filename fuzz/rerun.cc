// A result to run again: any bytes. Whatever its command says, no file is written.

#include "application.h"

extern "C" int LLVMFuzzerInitialize(int*, char***) { return routh::fuzz::prepare(); }

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace routh;
  const std::string text(reinterpret_cast<const char*>(data), size);
  fuzz::write("in.json", text);
  fuzz::run({"routh", "rerun", "in.json"});
  int files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(".")) ++files;
  if (files != 1 || std::filesystem::file_size("in.json") != size) std::abort();
  return 0;
}
