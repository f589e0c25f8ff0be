#include "commands.h"
#include "output.h"

int main(int argc, char** argv) {
  using namespace routh::app;
  prepare_standard_files();
  const int code = run(argc, argv);
  return all_shown() || code != kDone ? code : kUnfinished;
}
