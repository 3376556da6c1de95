// One translation unit of the runtime: the CUDA API.

#include "api.cpp"
#include "api_copies.cpp"
#include "api_missing.cpp"
#include "api_peers.cpp"
#include "control.cpp"
#include "launch.cpp"
#include "matrix.cpp"
#include "memory.cpp"
#include "ranks.cpp"
