// One translation unit of the runtime: threads, blocks and clusters.

#include "barrier.cpp"
#include "cluster.cpp"
#include "fiber.cpp"
#include "scheduler.cpp"
#include "signals.cpp"
#include "team.cpp"
#include "warp.cpp"
#include "watchdog.cpp"
