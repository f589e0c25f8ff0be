// The command line: one argument a line.

#include "application.h"

extern "C" int LLVMFuzzerInitialize(int*, char***) { return routh::fuzz::prepare(); }

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::string> arguments{"routh"};
  std::string word;
  for (std::size_t i = 0; i <= size; ++i) {
    if (i < size && data[i] != '\n') {
      word += data[i] == '/' ? '_' : static_cast<char>(data[i]);  // stays in the folder
    } else {
      if (!word.empty()) arguments.push_back(word);
      word.clear();
    }
  }
  if (arguments.size() <= 24) routh::fuzz::run(arguments);
  return 0;
}
