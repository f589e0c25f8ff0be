#define ROUTH_WALK_NAME walk_avx2
#include "routh/impact/walk_kernel.inc"
