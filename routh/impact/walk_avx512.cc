#define ROUTH_WALK_NAME walk_avx512
#include "routh/impact/walk_kernel.inc"
