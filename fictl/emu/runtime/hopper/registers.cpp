// setmaxnreg: registers move between the warpgroups of a block, by way of a pool.
#include <fictl_emu/ptx/wgmma.h>

#include <algorithm>

#include "report.h"
#include "scheduler.h"
#include "warpgroup.h"

namespace fictl_emu {

namespace {

constexpr int kOfSm = 65536, kLeast = 24, kMost = 256, kUnit = 8, kWarp = 32;

struct Request {
  bool raises;
  int registers;
};

const char* name_of(const Request& request) {
  return request.raises ? "setmaxnreg.inc" : "setmaxnreg.dec";
}

// Registers are for whole warps.
int threads_of(const Warpgroup& group) {
  return static_cast<int>(group.threads + kWarp - 1) / kWarp * kWarp;
}

[[noreturn]] void stop(const Site& site, const std::string& what, const std::string& cause) {
  Report report("register-pool", current());
  report.site(site);
  report.text("what", what).text("cause", cause);
  report.file();
  stop_kernel();
}

void require_number(const Warpgroup& group, const Request& request) {
  const int count = request.registers;
  const std::string what = std::string(name_of(request)) + " " + std::to_string(count);
  if (count < kLeast || count > kMost || count % kUnit != 0) {
    stop(group.site, what, "the number is a multiple of 8 from 24 to 256");
  }
  if (request.raises ? count >= group.registers : count <= group.registers) return;
  stop(
      group.site,
      what + " in a warpgroup whose threads have " + std::to_string(group.registers) + " registers",
      request.raises ? ".inc does not lower the number: .dec does"
                     : ".dec does not raise the number: .inc does");
}

std::string holders(const Block& block) {
  std::string text;
  for (const Warpgroup& group : block.warpgroups) {
    text += (text.empty() ? "" : ", ") + std::to_string(group.registers);
  }
  return "the warpgroups have " + text + " registers a thread";
}

bool take(Block& block, Warpgroup& group, int count) {
  const int more = (count - group.registers) * threads_of(group);
  if (more > block.free_registers) return false;
  block.free_registers -= more;
  group.registers = count;
  return true;
}

void serve(Block& block) {
  for (Warpgroup& group : block.warpgroups) {
    if (group.wanted == 0 || !take(block, group, group.wanted)) continue;
    group.wanted = 0;
    go_on(block, group, nullptr);
  }
}

void require_one_number(const Warpgroup& group) {
  const auto request_of = [&](uint32_t i) {
    return *static_cast<const Request*>(group.arguments[i]);
  };
  for (uint32_t i = 1; i < group.threads; ++i) {
    if (request_of(i).registers == request_of(0).registers) continue;
    stop_divergent(*current(), group.site,
                   std::string("the warps of one warpgroup come to ") + name_of(request_of(0)) +
                       " with " + std::to_string(request_of(0).registers) + " and " +
                       std::to_string(request_of(i).registers) + " registers",
                   "all warps of a warpgroup name the same number");
  }
}

bool set(Block& block, Warpgroup& group) {
  const Request request = *static_cast<const Request*>(group.arguments[0]);
  require_one_number(group);
  require_number(group, request);
  if (request.raises) {
    if (take(block, group, request.registers)) return true;
    group.wanted = request.registers;
    return false;
  }
  take(block, group, request.registers);
  serve(block);
  return true;
}

}  // namespace

void begin_registers(Block& block) {
  int threads = 0;
  for (const Warpgroup& group : block.warpgroups) threads += threads_of(group);
  const int each = std::min(kMost, kOfSm / block.blocks_an_sm / threads / kUnit * kUnit);
  for (Warpgroup& group : block.warpgroups) {
    group.registers = each;
    group.wanted = 0;
  }
  block.free_registers = 0;
}

std::string register_wait(const Thread& thread) {
  const Block& block = *thread.block;
  const Warpgroup& group = block.warpgroups[thread.warp / Warpgroup::kWarps];
  if (group.wanted == 0) return "";
  return "wait at setmaxnreg.inc for " + std::to_string(group.wanted) +
         " registers a thread: " + holders(block) + ", and " +
         std::to_string(block.free_registers) + " in all are free";
}

}  // namespace fictl_emu

extern "C" void fictl_emu_share_sm(int blocks) {
  using namespace fictl_emu;
  Block& block = *current()->block;
  // Every thread says it; others may have moved registers already.
  if (block.blocks_an_sm == blocks) return;
  block.blocks_an_sm = blocks;
  begin_registers(block);
}

extern "C" void fictl_emu_setmaxnreg(int raises, int registers, const char* file, int line) {
  using namespace fictl_emu;
  const Request request{raises != 0, registers};
  meet(name_of(request), &request, {file, line}, set);
}
