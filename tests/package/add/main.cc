#include "routh/version.h"

int main() { return ROUTH_VERSION_MAJOR == 0 && ROUTH_VERSION_MINOR == 2 ? 0 : 1; }
