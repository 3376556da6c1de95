#include "wgmma.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>

#include "checker.h"
#include "descriptor.h"
#include "product.h"
#include "report.h"
#include "scheduler.h"

namespace fictl_emu {

using ptx::Accumulator;
using ptx::Wgmma;

namespace {

constexpr int kMostPending = 7;

[[noreturn]] void stop(const char* kind, const Site& site, const std::string& what,
                       const char* cause) {
  Report report(kind, current());
  report.site(site);
  report.text("what", what).text("cause", cause);
  report.file();
  stop_kernel();
}

// visit(address of 16 bytes, row, which of its two halves along k), or for a transposed operand
// visit(address, the first of eight rows, k).
template <class Visit>
void each_chunk(uint64_t code, bool transposed, int first_row, int rows, Visit visit) {
  const Descriptor descriptor = decode_descriptor(code);
  const int step = transposed ? 8 : 1, chunks = transposed ? 16 : 2;
  for (int row = first_row; row < first_row + rows; row += step) {
    for (int i = 0; i < chunks; ++i) {
      visit(transposed ? mn_major_address(descriptor, row, i)
                       : k_major_address(descriptor, row, 16 * i),
            row, i);
    }
  }
}

const char* in_shared(const Thread& thread, uint32_t address) {
  const uint32_t offset = address - SharedMemory::kWindow;
  if (offset <= SharedMemory::kCapacity - 16) return thread.block->shared.base + offset;
  stop("out-of-bounds", thread.block->warpgroups[thread.warp / Warpgroup::kWarps].last_product,
       "wgmma reads shared memory at the address " + hex(address) + ", where nothing is",
       "its descriptor has a wrong start, leading offset or stride offset");
}

void read_operand(const Thread& thread, uint64_t code, bool transposed, int rows,
                  uint8_t (*to)[Product::kBytes]) {
  each_chunk(code, transposed, 0, rows, [&](uint32_t address, int row, int i) {
    const char* from = in_shared(thread, address);
    if (!transposed) {
      memcpy(&to[row][16 * i], from, 16);
      return;
    }
    for (int r = 0; r < 8; ++r) memcpy(&to[row + r][2 * i], from + 2 * r, 2);
  });
}

// Register r of thread t has a word of row t / 32 * 16 + t % 32 / 4 + 8 (r % 2).
void read_registers(const Block& block, const Warpgroup& group,
                    const std::vector<std::array<ptx::Source, 4>>& from,
                    uint8_t (*to)[Product::kBytes]) {
  for (uint32_t t = 0; t < Warpgroup::kThreads; ++t) {
    for (uint32_t r = 0; r < 4; ++r) {
      const ptx::Source& source = from[t][r];
      const bool changed = source.address != nullptr && *source.address != source.value;
      if (changed) stop_changed(block.threads[group.first + t], group, "a register of A");
      uint8_t* word = &to[t / 32 * 16 + t % 32 / 4 + 8 * (r % 2)][4 * (t % 4 + 4 * (r / 2))];
      memcpy(word, &source.value, 4);
    }
  }
}

void require_descriptor(const Site& site, uint64_t code, const char* operand) {
  const DescriptorProblem problem = problem_of_descriptor(code);
  if (problem.what.empty()) return;
  stop("bad-descriptor", site, std::string("wgmma: ") + operand + "'s " + problem.what,
       problem.cause);
}

// The difference between the products of two threads; empty if there is none.
std::string difference(const Wgmma& a, const Wgmma& b) {
  const auto both = [](const char* name, uint64_t x, uint64_t y) {
    return std::string(name) + " " + hex(x) + " and " + hex(y);
  };
  if (!a.a_in_registers && a.a != b.a) return both("descriptors of A", a.a, b.a);
  if (a.b != b.b) return both("descriptors of B", a.b, b.b);
  if (a.columns != b.columns) return both("numbers of columns", a.columns, b.columns);
  if (a.adds != b.adds) return both("scale-d", a.adds, b.adds);
  const bool same = a.a_type == b.a_type && a.b_type == b.b_type && a.negates == b.negates &&
                    a.accumulator == b.accumulator && a.a_transposed == b.a_transposed &&
                    a.b_transposed == b.b_transposed && a.a_in_registers == b.a_in_registers;
  return same ? "" : "types, signs or transposes";
}

void require_agreement(const Warpgroup& group) {
  for (uint32_t i = 1; i < group.threads; ++i) {
    const std::string what = difference(wgmma_of(group, 0), wgmma_of(group, i));
    if (what.empty()) continue;
    stop_divergent(*current(), group.site,
                   "threads " + std::to_string(group.first) + " and " +
                       std::to_string(group.first + i) +
                       " of one warpgroup come to wgmma.mma_async with different " + what,
                   "all threads of a warpgroup pass the same descriptors and scale-d: derive them "
                   "from the number of the warpgroup, threadIdx.x / 128");
  }
}

// Gives the registers of products that have ended back to the threads, which are all here.
void write_back(Warpgroup& group) {
  auto& fragments = group.fragments;
  for (const auto& fragment : fragments) {
    if (fragment->pending == 0) fragment->write_back(group);
  }
  const auto has_ended = [](const auto& fragment) { return fragment->pending == 0; };
  fragments.erase(std::remove_if(fragments.begin(), fragments.end(), has_ended), fragments.end());
}

template <class Choice>
void finish(Warpgroup& group, Choice chosen) {
  team->engine->finish([&](const Operation& operation) {
    return operation.sequence == &group && chosen(operation);
  });
  write_back(group);
}

// The accumulators of this product, if others write to them already or not.
std::shared_ptr<Fragment> fragment_of(const Block& block, Warpgroup& group) {
  const Wgmma& first = wgmma_of(group, 0);
  for (const auto& fragment : group.fragments) {
    if (fragment->is_of(first)) return fragment;
  }
  const bool overlaps =
      std::any_of(group.fragments.begin(), group.fragments.end(),
                  [&](const auto& fragment) { return fragment->overlaps(first); });
  if (overlaps) finish(group, [](const Operation&) { return true; });
  group.fragments.push_back(std::make_shared<Fragment>(block, group));
  return group.fragments.back();
}

bool issue(Block& block, Warpgroup& group) {
  const Wgmma& first = wgmma_of(group, 0);
  if (group.threads < Warpgroup::kThreads) {
    stop_divergent(*current(), group.site,
                   "wgmma in a warpgroup of " + std::to_string(group.threads) + " threads",
                   "a warpgroup has 128: launch blocks of a multiple of 128 threads");
  }
  require_agreement(group);
  group.last_product = group.site;
  ++group.uncommitted;
  const auto into = fragment_of(block, group);
  team->engine->issue(
      std::make_unique<Multiplication>(block.threads[group.first], current()->pc, group, into));
  if (!into->is_poisoned) write_back(group);  // it has ended at once
  return true;
}

bool commit(Block& block, Warpgroup& group) {
  ++group.group;
  group.uncommitted = 0;
  check::products_committed(block, group);
  return true;
}

bool nothing(Block&, Warpgroup&) { return true; }

bool end_groups(Block& block, Warpgroup& group) {
  const auto pending_of = [&](uint32_t i) { return *static_cast<const int*>(group.arguments[i]); };
  const int pending = pending_of(0);
  for (uint32_t i = 1; i < group.threads; ++i) {
    if (pending_of(i) == pending) continue;
    stop_divergent(*current(), group.site,
                   "the threads of a warpgroup come to wgmma.wait_group with different numbers",
                   "the number is a constant: the instruction is not the same for all");
  }
  if (pending < 0 || pending > kMostPending) {
    stop("uncommitted", group.site, "wgmma.wait_group " + std::to_string(pending),
         "the number of groups that may stay pending is 0 to 7");
  }
  finish(group, [&](const Operation& operation) {
    return operation.group + static_cast<uint32_t>(pending) < group.group;
  });
  check::products_waited(block, group, pending);
  return true;
}

}  // namespace

Multiplication::Multiplication(Thread& thread, const void* pc, Warpgroup& group,
                               std::shared_ptr<Fragment> into)
    : Operation(thread, pc), what_(wgmma_of(group, 0)), warpgroup_(group), into_(std::move(into)) {
  sequence = &group;
  this->group = group.group;
  ++into_->pending;
  for (uint32_t i = 0; what_.a_in_registers && i < Warpgroup::kThreads; ++i) {
    const ptx::Source* given = wgmma_of(group, i).a_registers;
    a_registers_.push_back({given[0], given[1], given[2], given[3]});
  }
}

std::string Multiplication::text() const {
  return "a wgmma with " + std::to_string(what_.columns) + " columns";
}

void Multiplication::multiply() {
  // Why on the heap: a fiber's stack is small.
  static thread_local std::unique_ptr<Product> space;
  if (space == nullptr) space.reset(new Product);
  if (what_.a_in_registers) {
    read_registers(*thread.block, warpgroup_, a_registers_, space->a_bytes);
  } else {
    read_operand(thread, what_.a, what_.a_transposed, Product::kRows, space->a_bytes);
  }
  read_operand(thread, what_.b, what_.b_transposed, what_.columns, space->b_bytes);
  const Product::Types types{what_.a_type, what_.b_type, what_.accumulator};
  space->multiply(types, what_.columns, what_.adds, what_.negates, into_->values.data());
}

void Multiplication::complete() {
  if (into_->abandoned) return;
  multiply();
  --into_->pending;
}

std::vector<const char*> operands_of(const Wgmma& wgmma, const Thread& thread) {
  constexpr int kRowsOfWarp = Product::kRows / Warpgroup::kWarps;
  const int first_row = thread.warp % Warpgroup::kWarps * kRowsOfWarp;
  std::vector<const char*> chunks;
  const auto note = [&](uint32_t address, int, int) {
    chunks.push_back(in_shared(thread, address));
  };
  if (!wgmma.a_in_registers) {
    each_chunk(wgmma.a, wgmma.a_transposed, first_row, kRowsOfWarp, note);
  }
  each_chunk(wgmma.b, wgmma.b_transposed, 0, wgmma.columns, note);
  return chunks;
}

void end_products(const Thread& thread, Warpgroup& group) {
  if (group.uncommitted != 0) {
    Report report("uncommitted", &thread);
    report.site(group.last_product);
    report.text("what", "the warpgroup of threads " + std::to_string(group.first) + "-" +
                            std::to_string(group.first + group.threads - 1) + " returns with " +
                            std::to_string(group.uncommitted) +
                            " wgmma that no wgmma.commit_group follows");
    report.file();
    group.uncommitted = 0;
  }
  for (const auto& fragment : group.fragments) fragment->abandoned = true;
  group.fragments.clear();
}

}  // namespace fictl_emu

extern "C" {

void fictl_emu_wgmma(const fictl_emu::ptx::Wgmma* wgmma, const char* file, int line) {
  using namespace fictl_emu;
  Thread& self = *current();
  self.pc = __builtin_return_address(0);
  if (!wgmma->a_in_registers) require_descriptor({file, line}, wgmma->a, "A");
  require_descriptor({file, line}, wgmma->b, "B");
  check::product_issued(self, *wgmma, self.pc);
  meet("wgmma.mma_async", wgmma, {file, line}, issue);
}

void fictl_emu_wgmma_fence(const char* file, int line) {
  fictl_emu::check::product_fence(*fictl_emu::current());
  fictl_emu::meet("wgmma.fence", nullptr, {file, line}, fictl_emu::nothing);
}

void fictl_emu_wgmma_commit(const char* file, int line) {
  fictl_emu::meet("wgmma.commit_group", nullptr, {file, line}, fictl_emu::commit);
}

void fictl_emu_wgmma_wait(int pending, const char* file, int line) {
  fictl_emu::meet("wgmma.wait_group", &pending, {file, line}, fictl_emu::end_groups);
}
}
