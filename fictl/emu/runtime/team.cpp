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

// The cluster that the schedule begins as its `turn`-th.
uint64_t scheduled(uint64_t turn, uint64_t clusters) {
  if (config.order == FICTL_EMU_FORWARD) return turn;
  if (config.order == FICTL_EMU_REVERSE) return clusters - 1 - turn;
  // Steps of a length that has no common divisor with `clusters` reach each once.
  uint64_t step = config.seed % clusters | 1;
  while (std::gcd(step, clusters) != 1) step += 2;
  return (turn * step + config.seed) % clusters;
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
        thread.cluster_arrivals = thread.cluster_waits = 0;
        thread.copies_issued = 0;
        thread.bulk_group = 0;
        thread.uncommitted_store = nullptr;
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
void enlist(Team& team, const Cluster& cluster) {
  std::vector<Thread*> order;
  for (Block* block : cluster.blocks) {
    for (Thread& thread : block->threads) order.push_back(&thread);
  }
  if (config.order == FICTL_EMU_REVERSE) {
    std::vector<Thread*>(order.rbegin(), order.rend()).swap(order);
  } else if (config.order == FICTL_EMU_RANDOM) {
    for (size_t i = order.size(); i-- > 1;)
      std::swap(order[i], order[random_number(team) % (i + 1)]);
  }
  for (Thread* thread : order) team.fresh.push(thread);
}

uint3 unravel(uint64_t linear, const dim3& shape) {
  return {static_cast<uint32_t>(linear % shape.x),
          static_cast<uint32_t>(linear / shape.x % shape.y),
          static_cast<uint32_t>(linear / shape.x / shape.y)};
}

FictlEmuCluster place_of(const FictlEmuLaunch& asked, uint64_t number, uint32_t rank) {
  FictlEmuCluster place{};
  place.is_explicit = asked.cluster.x != 0;
  place.shape = cluster_shape(asked);
  place.count = dim3(asked.grid.x / place.shape.x, asked.grid.y / place.shape.y,
                     asked.grid.z / place.shape.z);
  place.index = unravel(number, place.count);
  place.block = unravel(rank, place.shape);
  place.rank = rank;
  place.blocks = place.shape.x * place.shape.y * place.shape.z;
  return place;
}

void begin_block(Team& team, Block& block, Grid& grid, Cluster& cluster,
                 const FictlEmuCluster& place) {
  const FictlEmuLaunch& asked = grid.asked;
  block.team = &team;
  block.grid = &grid;
  block.cluster = &cluster;
  block.place = place;
  block.slot = static_cast<uint32_t>(team.blocks.size());
  block.index = {place.index.x * place.shape.x + place.block.x,
                 place.index.y * place.shape.y + place.block.y,
                 place.index.z * place.shape.z + place.block.z};
  block.linear =
      (uint64_t{block.index.z} * asked.grid.y + block.index.y) * asked.grid.x + block.index.x;
  begin_threads(block, asked.block);
  begin_warps(block);
  begin_warpgroups(block);
  begin_barriers(block);
  begin_shared(block.shared, asked.dynamic_shared);
  team.blocks.push_back(&block);
  team.alive += block.alive;
  cluster.blocks.push_back(&block);
  cluster.alive += block.alive;
  cluster.pending = cluster.alive;
  check::block_begins(block);
}

// The grid of which a cluster begins next: ranks take turns; null if all have begun that may.
Grid* next_grid(Team& team) {
  std::deque<Grid>& grids = team.launch->grids;
  if (grids.size() == 1) return &grids.front();
  std::vector<Grid*> able;
  for (Grid& grid : grids) {
    const bool waits = grid.before != nullptr && grid.before->blocks_left != 0;
    if (!waits && grid.next_cluster < grid.clusters) able.push_back(&grid);
  }
  if (able.empty()) return nullptr;
  if (config.order == FICTL_EMU_RANDOM) return able[random_number(team) % able.size()];
  if (config.order == FICTL_EMU_REVERSE) std::reverse(able.begin(), able.end());
  return *std::min_element(able.begin(), able.end(), [](const Grid* a, const Grid* b) {
    return a->next_cluster < b->next_cluster;
  });
}

// The clusters that begin before any thread runs.
uint64_t begun_together(const Launch& launch) {
  const Grid& first = launch.grids.front();
  return first.asked.cooperative ? launch.blocks : launch.ranks;
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
  team_.clusters.clear();
  team_.shown = nullptr;
  team_.shown_grid = nullptr;
  team_.fresh.clear();
  team_.ready.clear();
  team_.yielded.clear();
  team_.asking.clear();
  for (Grid& grid : launch.grids) grid.at_sync.clear();
  engine_.clear();
  team_.alive = 0;
  team_.fruitless = 0;
}

Block& Worker::spare_block() {
  if (team_.blocks.size() == all_.size()) all_.push_back(new Block);
  return *all_[team_.blocks.size()];
}

dim3 cluster_shape(const FictlEmuLaunch& asked) {
  return asked.cluster.x == 0 ? dim3(1, 1, 1) : asked.cluster;
}

bool add_cluster(Team& team) {
  Grid* grid = next_grid(team);
  if (grid == nullptr) return false;
  const dim3 shape = cluster_shape(grid->asked);
  const uint32_t blocks = shape.x * shape.y * shape.z;
  if (team.blocks.size() + blocks > std::max<size_t>(kMostTogether, blocks)) return false;
  const uint64_t turn = grid->next_cluster.fetch_add(1);
  if (turn >= grid->clusters) return false;
  ++team.launch->begun;
  const uint64_t number = scheduled(turn, grid->clusters);
  Cluster& cluster = team.clusters.emplace_back();
  for (uint32_t rank = 0; rank < blocks; ++rank) {
    begin_block(team, worker().spare_block(), *grid, cluster, place_of(grid->asked, number, rank));
  }
  enlist(team, cluster);
  return true;
}

void Worker::work(Launch& launch) {
  const SignalScope signals(team_, signal_stack_, launch);
  stacks = &stacks_;
  team_.random = (config.seed + 1) * 0x9E3779B97F4A7C15ull;
  const uint64_t together = begun_together(launch);
  while (!launch.stopped) {
    begin_team(launch);
    while (team_.clusters.size() < together && add_cluster(team_)) continue;
    if (team_.blocks.empty()) break;
    stacks_.give_back_all();
    run(team_);
  }
}

}  // namespace fictl_emu
