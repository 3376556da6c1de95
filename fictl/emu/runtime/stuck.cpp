#include "stuck.h"

#include <map>

#include "checker.h"
#include "hopper/mbarrier.h"
#include "hopper/warpgroup.h"
#include "masks.h"
#include "report.h"
#include "wait.h"

namespace fictl_emu {

namespace {

std::string at(const Site& site) {
  return std::string(site.file) + ":" + std::to_string(site.line);
}

// Those that a signal interrupted have no line.
std::string at_line(const Site& site) { return site.line == 0 ? "" : ", " + at(site); }

std::string missing_lanes(const Thread& thread) {
  const Warp& warp = thread.block->warps[thread.warp];
  for (const Collective& collective : warp.collectives) {
    if (collective.mask == thread.mask && (collective.arrived >> thread.lane & 1)) {
      return mask_in_words(collective.mask & warp.alive & ~collective.arrived);
    }
  }
  return mask_in_words(0);
}

std::string barrier_name(const Thread& thread) {
  if (thread.barrier == 0) return "__syncthreads()";
  const Barrier& barrier = thread.block->barriers[thread.barrier];
  return "named barrier " + std::to_string(thread.barrier) + " (" +
         std::to_string(barrier.arrived) + " of " + std::to_string(barrier.expected) +
         " threads have come)";
}

std::string in_warpgroup(const Thread& thread) {
  const std::string registers = register_wait(thread);
  if (!registers.empty()) return registers + ", " + at(thread.site);
  const Warpgroup& group = thread.block->warpgroups[thread.warp / Warpgroup::kWarps];
  return std::string("wait at ") + thread.operation + ", " + at(thread.site) + ", for " +
         those_that_came(group, false) + " of their warpgroup";
}

std::string doing(const Thread& thread) {
  switch (thread.state) {
    case State::kDone:
      return "have returned from the kernel";
    case State::kBarrier:
      return "wait at " + barrier_name(thread) + ", " + at(thread.site);
    case State::kMbarrier:
      return "wait at mbarrier " + name_of(*thread.mbarrier) + ", " + state_of(*thread.mbarrier);
    case State::kWarp:
      return std::string("wait at ") + thread.operation + " with mask " +
             mask_in_words(thread.mask) + ", " + at(thread.site) + ", for lanes " +
             missing_lanes(thread);
    case State::kWarpgroup:
      return in_warpgroup(thread);
    case State::kGrid:
      return "wait at grid.sync(), " + at(thread.site);
    case State::kCluster:
      return "wait at barrier.cluster.wait, " + at(thread.site);
    case State::kYielded:
      return std::string("are in ") + thread.operation + at_line(thread.site);
    case State::kActiveMask:
      return "are in __activemask(), " + at(thread.site);
    case State::kNew:
      return "have not started";
    case State::kReady:
    case State::kRunning:
      return "could go on";
  }
  return "";
}

// Where a thread waits whose state has no line, as the address of the code; else null.
const void* code_of(const Thread& thread) {
  return thread.state == State::kMbarrier ? thread.pc : nullptr;
}

// The threads of the blocks of a cluster by what they do, and where.
std::string groups_json(const Cluster& cluster) {
  std::string json;
  for (const Block* block : cluster.blocks) {
    std::map<std::pair<std::string, const void*>, std::vector<uint32_t>> groups;
    for (const Thread& thread : block->threads) {
      groups[{doing(thread), code_of(thread)}].push_back(thread.linear);
    }
    const std::string of =
        cluster.blocks.size() == 1
            ? ""
            : " of block " + std::to_string(block->place.rank) + " of the cluster";
    for (const auto& [group, threads] : groups) {
      const auto& [what, pc] = group;
      json += json.empty() ? "" : ", ";
      json += "{\"threads\": " + quoted(ranges(threads) + of) + ", \"what\": " + quoted(what);
      json += (pc == nullptr ? "" : ", \"place\": " + place_json(pc)) + "}";
    }
  }
  return "[" + json + "]";
}

// Threads wait at an mbarrier that has all arrivals and will never have its bytes.
bool report_bytes(const Team& team) {
  for (const Block* block : team.blocks) {
    const Mbarrier* barrier = mbarrier_without_bytes(*block);
    if (barrier == nullptr) continue;
    const Thread* thread = barrier->waiting.front();
    Report report("tx-mismatch", thread);
    report.place(thread->pc);
    report.text("what", "mbarrier " + name_of(*barrier) +
                            " waits for bytes that no copy brings: " + state_of(*barrier));
    add_latest_copy(report, *barrier);
    check::describe_copy(report, *barrier);
    report.raw("groups", groups_json(*block->cluster));
    report.file();
    return true;
  }
  return false;
}

// Describes two operations at which lanes of one warp wait, with each other's lanes in their masks.
std::string two_masks(const Block& block) {
  for (const Warp& warp : block.warps) {
    for (const Collective& one : warp.collectives) {
      for (const Collective& other : warp.collectives) {
        const bool apart = one.mask != other.mask && (one.mask & other.arrived) != 0;
        if (apart && same_operation(one.name, other.name)) {
          return std::string("the lanes of one ") + one.name +
                 " pass different masks, and wait for one another: all must pass the same";
        }
      }
    }
  }
  return "";
}

bool comes_without_its_warp(const Thread& thread) {
  return thread.state == State::kWarp && (same_operation(thread.operation, kBarSync) ||
                                          same_operation(thread.operation, kBarArrive));
}

std::string cause_of_waiting(const Mbarrier& barrier) {
  return "mbarrier " + name_of(barrier) + " has " +
         std::to_string(barrier.expected - barrier.pending) + " of the " +
         std::to_string(barrier.expected) +
         " arrivals that end its phase: a thread does not come to its arrive, or its wait names "
         "the parity of the next phase";
}

// Empty where nothing is known beyond that threads wait.
std::string cause_of_deadlock(const Block& block) {
  const std::string masks = two_masks(block);
  if (!masks.empty()) return masks;
  for (const Thread& thread : block.threads) {
    if (thread.state == State::kWarp) {
      return std::string("lanes that the mask of ") + thread.operation +
             " names have gone another way: move it out of the branch, or name those alone that "
             "come";
    }
    if (thread.state == State::kGrid) {
      return "a block has ended, or gone another way, before grid.sync(): all blocks must come";
    }
    if (thread.state == State::kCluster) {
      return "a thread of the cluster goes another way, so that it does not come to "
             "barrier.cluster.arrive: all that have not returned must";
    }
    if (thread.state == State::kMbarrier) return cause_of_waiting(*thread.mbarrier);
    const Barrier& barrier = block.barriers[thread.barrier];
    if (thread.state == State::kBarrier && barrier.expected != 0) {
      return "fewer threads come to named barrier " + std::to_string(thread.barrier) +
             " than the " + std::to_string(barrier.expected) + " that it counts to";
    }
  }
  return "";
}

const Thread* one_that_waits(const Team& team) {
  for (const Block* block : team.blocks) {
    for (const Thread& thread : block->threads) {
      if (thread.state != State::kDone && thread.state != State::kNew) return &thread;
    }
  }
  return nullptr;
}

bool waits_for_its_warpgroup(const Thread& thread) {
  return thread.state == State::kWarpgroup && register_wait(thread).empty();
}

struct Stuck {
  const char* kind;
  const Thread* thread;
  std::string cause;
};

// The thread whose waiting says most, if there is one.
Stuck what_is_stuck(const Team& team) {
  const Thread* without_registers = nullptr;
  for (const Block* block : team.blocks) {
    for (const Thread& thread : block->threads) {
      if (comes_without_its_warp(thread)) {
        return {"barrier-mismatch", &thread,
                "some lanes alone of a warp come to a barrier that counts whole warps: move it out "
                "of the branch, and have one lane do only what one shall do"};
      }
      if (waits_for_its_warpgroup(thread)) {
        return {"deadlock", &thread,
                std::string("threads of a warpgroup have gone another way, or wait for something "
                            "else, while the others wait for them at ") +
                    thread.operation};
      }
      if (!register_wait(thread).empty()) without_registers = &thread;
    }
  }
  if (without_registers != nullptr) {
    return {"register-pool", without_registers,
            "the registers that setmaxnreg.inc waits for are not given back: have the other "
            "warpgroups come to setmaxnreg.dec first, and to numbers whose sum fits"};
  }
  const Thread* thread = one_that_waits(team);
  return {"deadlock", thread, thread == nullptr ? "" : cause_of_deadlock(*thread->block)};
}

// Adds where the threads of the block of `thread` are.
void file_stuck(Report& report, const Thread* thread) {
  if (thread != nullptr) report.raw("groups", groups_json(*thread->block->cluster));
  report.file();
}

std::string size_of_grid(const Grid& grid) {
  return "rank " + std::to_string(grid.rank) + " has launched " + std::to_string(grid.blocks()) +
         " blocks";
}

// Ranks wait for one another block by block; empty where their grids are alike.
std::string uneven_ranks(const Launch& launch) {
  if (launch.ranks == 1) return "";
  const Grid& first = launch.grids.front();
  for (const Grid& grid : launch.grids) {
    if (grid.blocks() == first.blocks()) continue;
    return size_of_grid(first) + ", " + size_of_grid(grid) +
           ": blocks of one wait for blocks that the other does not have. Take the grid from sizes "
           "that all ranks share";
  }
  return "a rank waits for what another does not do: each must launch, and both sides must count "
         "alike";
}

}  // namespace

void report_deadlock(const Team& team) {
  if (report_bytes(team)) return;
  const Stuck stuck = what_is_stuck(team);
  const Thread* thread = stuck.thread;
  Report report(stuck.kind, thread);
  if (thread != nullptr) {
    if (const void* pc = code_of(*thread)) report.place(pc);
    report.site(thread->site);
    report.text("what", "no thread of the block can go on");
    report.text("cause", stuck.cause);
  }
  file_stuck(report, thread);
}

void report_hang(const Team& team, const void* pc) {
  const Thread* thread = pc != nullptr ? team.current : one_that_waits(team);
  Report report("hang", thread);
  if (thread != nullptr) report.text("cause", uneven_ranks(*team.launch));
  if (pc != nullptr) {
    report.place(static_cast<const char*>(pc) + 1);
  } else if (thread != nullptr && thread->site.line != 0) {
    report.site(thread->site);
  } else if (thread != nullptr && thread->pc != nullptr) {
    report.place(thread->pc);
  }
  file_stuck(report, thread);
}

}  // namespace fictl_emu
