// Shared memory of a block: its variables, and cp.async into it.
#include "memory.h"

#include <algorithm>
#include <cstring>

#include "api.h"
#include "checker.h"
#include "config.h"
#include "fiber.h"
#include "report.h"
#include "scheduler.h"
#include "shared_map.h"
#include "team.h"

namespace fictl_emu {

namespace {

constexpr int kPoison = 0xFF;  // NaN in every floating-point type of two bytes and more

SharedVariable* find(SharedMemory& shared, const void* key) {
  for (SharedVariable& variable : shared.variables) {
    if (variable.key == key) return &variable;
  }
  return nullptr;
}

uint32_t static_begin(uint32_t dynamic_bytes) {
  constexpr uint32_t kPage = 1024;
  const uint32_t behind = (dynamic_bytes + SharedMemory::kGap + kPage - 1) / kPage * kPage;
  return std::max(behind, SharedMemory::kStatic);
}

// Stops on too much shared memory. A GPU refuses such a launch, as it knows the size before.
void require_room(const SharedMemory& shared) {
  const bool is_large = has_opted_in(current()->block->grid->asked.function);
  const size_t limit = is_large ? kSharedOptIn : kSharedPerBlock;
  const size_t bytes = size_t{shared.static_bytes} + shared.dynamic_bytes;
  if (bytes <= limit && shared.static_bytes <= static_cast<size_t>(kSharedPerBlock)) return;
  const std::string what =
      std::to_string(shared.static_bytes) + " bytes of __shared__ variables and " +
      std::to_string(shared.dynamic_bytes) + " of dynamic shared memory, where a block may have " +
      std::to_string(limit) + ", of variables 49152";
  fictl_emu_stop("bad-launch", what.c_str(), "", 0);
}

void place(SharedMemory& shared, const SharedVariable& variable) {
  memset(shared.base + variable.offset, kPoison, variable.bytes);
  shared.static_bytes += variable.bytes;
  shared.static_end = variable.offset + variable.bytes;
  shared.variables.push_back(variable);
}

// A variable has one place in all blocks of a cluster, whichever comes to it first.
SharedVariable& declare(Block& block, const void* key, size_t bytes, size_t align,
                        const char* name) {
  SharedMemory& shared = block.shared;
  // Why at least 16: a kernel that relies on more than its declaration says works on a GPU, too.
  const size_t step = align < 16 ? 16 : align;
  const size_t offset = (shared.static_end + SharedMemory::kGap + step - 1) / step * step;
  if (offset + bytes > SharedMemory::kCapacity) {
    const std::string what = std::string("__shared__ ") + name + " of " + std::to_string(bytes) +
                             " bytes: more than a block has";
    fictl_emu_stop("bad-launch", what.c_str(), "", 0);
  }
  const SharedVariable variable{key, static_cast<uint32_t>(offset), static_cast<uint32_t>(bytes),
                                name};
  for (Block* peer : block.cluster->blocks) place(peer->shared, variable);
  require_room(shared);
  return shared.variables.back();
}

void stop_misaligned(const Copy& copy, const void* address, const char* side) {
  Report report("misaligned", current());
  report.place(copy.pc);
  report.text("operation", std::string("cp.async (") + side + ")");
  report.number("bytes", copy.bytes);
  report.number("address", static_cast<int64_t>(reinterpret_cast<uintptr_t>(address)));
  report.file();
  stop_kernel();
}

void require_aligned(const Copy& copy) {
  const uintptr_t low_bits = copy.bytes - 1;
  if (reinterpret_cast<uintptr_t>(copy.to) & low_bits) {
    stop_misaligned(copy, copy.to, "destination");
  }
  if (copy.source_bytes != 0 && reinterpret_cast<uintptr_t>(copy.from) & low_bits) {
    stop_misaligned(copy, copy.from, "source");
  }
}

}  // namespace

void transfer(const Copy& copy) {
  memcpy(copy.to, copy.from, copy.source_bytes);
  memset(copy.to + copy.source_bytes, 0, copy.bytes - copy.source_bytes);
}

void begin_shared(SharedMemory& shared, size_t dynamic_bytes) {
  map_shared(shared);
  shared.dynamic_bytes = static_cast<uint32_t>(dynamic_bytes);
  shared.static_bytes = 0;
  shared.static_begin = static_begin(shared.dynamic_bytes);
  shared.static_end = shared.static_begin;
  shared.variables.clear();
  shared.parts.clear();
  memset(shared.base, kPoison, dynamic_bytes);
}

}  // namespace fictl_emu

extern "C" {

void* fictl_emu_shared(const void* key, size_t bytes, size_t align, const char* name) {
  using namespace fictl_emu;
  if (team == nullptr) return nullptr;  // a host function that has its name for something else
  Block& block = *current()->block;
  SharedVariable* found = find(block.shared, key);
  if (found == nullptr) found = &declare(block, key, bytes, align, name);
  return block.shared.base + found->offset;
}

void* fictl_emu_dynamic_shared() {
  return fictl_emu::team == nullptr ? nullptr : fictl_emu::current()->block->shared.base;
}

void fictl_emu_copy_async(void* to, const void* from, int bytes, int source_bytes) {
  using namespace fictl_emu;
  Thread& self = *current();
  const Copy copy{
      static_cast<char*>(to), static_cast<const char*>(from), bytes, source_bytes, self.copy_group,
      self.copies_issued++,   __builtin_return_address(0)};
  require_aligned(copy);
  check::copy_issued(self, copy);
  if (config.early_copies) transfer(copy);
  self.copies.push_back(copy);
}

void fictl_emu_copy_commit() { ++fictl_emu::current()->copy_group; }

void fictl_emu_copy_wait(int pending_groups) {
  using namespace fictl_emu;
  Thread& self = *current();
  const int first_pending =
      pending_groups < 0 ? self.copy_group + 1 : self.copy_group - pending_groups;
  land_copies(self, [=](const Copy& copy) { return copy.group < first_pending; });
}

void fictl_emu_fence(int scope) {
  if (fictl_emu::team != nullptr) fictl_emu::check::fence(*fictl_emu::current(), scope);
}
}
