#define ROUTH_WALK_NAME walk_baseline
#include "routh/impact/walk_kernel.inc"
