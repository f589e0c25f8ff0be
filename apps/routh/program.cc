#include "commands.h"

int main(int argc, char** argv) { return routh::app::run(argc, argv); }
