#include "team.h"

#include <algorithm>
#include <memory>
#include <numeric>

#include "checker.h"
#include "config.h"
#include "fiber.h"
#include "hopper/warpgroup.h"
#include "scheduler.h"
#include "signals.h"

namespace fictl_emu {

namespace {

constexpr size_t kStackBytes = 64 << 10;
constexpr size_t kMostTogether = 256;  // blocks that a team takes in when they wait for others

// The block that the schedule begins as its `turn`-th.
uint64_t scheduled(uint64_t turn, uint64_t blocks) {
  if (config.order == FICTL_EMU_FORWARD) return turn;
  if (config.order == FICTL_EMU_REVERSE) return blocks - 1 - turn;
  // Steps of a length that has no common divisor with `blocks` reach each once.
  uint64_t step = config.seed % blocks | 1;
  while (std::gcd(step, blocks) != 1) step += 2;
  return (turn * step + config.seed) % blocks;
}

void begin_threads(Block& block, const dim3& shape) {
  const uint32_t count = shape.x * shape.y * shape.z;
  block.alive = count;
  block.threads.resize(count);
  uint32_t i = 0;
  for (uint32_t z = 0; z < shape.z; ++z) {
    for (uint32_t y = 0; y < shape.y; ++y) {
      for (uint32_t x = 0; x < shape.x; ++x, ++i) {
        Thread& thread = block.threads[i];
        thread.block = &block;
        thread.index = {x, y, z};
        thread.linear = i;
        thread.lane = static_cast<uint8_t>(i % 32);
        thread.warp = static_cast<uint16_t>(i / 32);
        thread.state = State::kNew;
        thread.operation = nullptr;
        thread.copies.clear();
        thread.copy_group = 0;
        thread.copies_issued = 0;
        thread.bulk_group = 0;
        thread.mbarrier = nullptr;
        thread.given_up.clear();
      }
    }
  }
}

void begin_warps(Block& block) {
  const uint32_t threads = static_cast<uint32_t>(block.threads.size());
  block.warps.resize((threads + 31) / 32);
  for (uint32_t i = 0; i < block.warps.size(); ++i) {
    const uint32_t lanes = threads - i * 32;
    block.warps[i].lanes = lanes >= 32 ? ~uint32_t{0} : (uint32_t{1} << lanes) - 1;
    block.warps[i].alive = block.warps[i].lanes;
    block.warps[i].collectives.clear();
  }
}

void begin_barriers(Block& block) {
  for (Barrier& barrier : block.barriers) {
    barrier.expected = barrier.arrived = barrier.votes = 0;
    barrier.waiting.clear();
    std::fill(std::begin(barrier.came), std::end(barrier.came), 0u);
  }
  block.mbarriers.clear();
}

// In the schedule's order, behind those that wait for their start already.
void enlist(Team& team, Block& block) {
  std::vector<Thread*> order;
  for (Thread& thread : block.threads) order.push_back(&thread);
  if (config.order == FICTL_EMU_REVERSE) {
    std::vector<Thread*>(order.rbegin(), order.rend()).swap(order);
  } else if (config.order == FICTL_EMU_RANDOM) {
    for (size_t i = order.size(); i-- > 1;)
      std::swap(order[i], order[random_number(team) % (i + 1)]);
  }
  for (Thread* thread : order) team.fresh.push(thread);
}

void begin_block(Team& team, Block& block, uint64_t linear) {
  const FictlEmuLaunch& asked = *team.launch->asked;
  block.team = &team;
  block.linear = linear;
  block.slot = static_cast<uint32_t>(team.blocks.size());
  block.index.x = static_cast<uint32_t>(linear % asked.grid.x);
  block.index.y = static_cast<uint32_t>(linear / asked.grid.x % asked.grid.y);
  block.index.z = static_cast<uint32_t>(linear / asked.grid.x / asked.grid.y);
  begin_threads(block, asked.block);
  begin_warps(block);
  begin_warpgroups(block);
  begin_barriers(block);
  begin_shared(block.shared, asked.dynamic_shared);
  team.blocks.push_back(&block);
  team.alive += block.alive;
  enlist(team, block);
  check::block_begins(block);
}

}  // namespace

Worker::Worker() : engine_(team_), stacks_(kStackBytes) { team_.engine = &engine_; }

Worker::~Worker() {
  for (Block* block : all_) delete block;
}

Worker& worker() {
  static thread_local std::unique_ptr<Worker> here;
  if (here == nullptr) here.reset(new Worker);
  return *here;
}

void Worker::begin_team(Launch& launch) {
  team_.launch = &launch;
  team_.blocks.clear();
  team_.shown = nullptr;
  team_.fresh.clear();
  team_.ready.clear();
  team_.yielded.clear();
  team_.asking.clear();
  team_.at_grid_sync.clear();
  engine_.clear();
  team_.alive = 0;
  team_.fruitless = 0;
}

Block& Worker::spare_block() {
  if (team_.blocks.size() == all_.size()) all_.push_back(new Block);
  return *all_[team_.blocks.size()];
}

bool add_block(Team& team) {
  if (team.blocks.size() >= kMostTogether) return false;
  Launch& launch = *team.launch;
  const uint64_t turn = launch.next_block.fetch_add(1);
  if (turn >= launch.blocks) return false;
  begin_block(team, worker().spare_block(), scheduled(turn, launch.blocks));
  return true;
}

void Worker::work(Launch& launch) {
  const FictlEmuLaunch& asked = *launch.asked;
  const SignalScope signals(team_, signal_stack_, launch);
  stacks = &stacks_;
  blockDim = asked.block;
  gridDim = asked.grid;
  team_.random = (config.seed + 1) * 0x9E3779B97F4A7C15ull;
  const uint64_t together = asked.cooperative ? launch.blocks : 1;
  while (!launch.stopped) {
    begin_team(launch);
    while (team_.blocks.size() < together && add_block(team_)) continue;
    if (team_.blocks.empty()) break;
    stacks_.give_back_all();
    run(team_);
  }
}

}  // namespace fictl_emu
