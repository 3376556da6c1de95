#include "shadow.h"

#include <fictl_emu/abi.h>
#include <sys/mman.h>

#include <algorithm>

namespace fictl_emu::check {

LazyMemory::LazyMemory(size_t bytes) : bytes_(bytes) {
  data_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
               -1, 0);
  if (data_ == MAP_FAILED) fictl_emu_missing("address space to record accesses in", "", 0);
}

LazyMemory::~LazyMemory() { munmap(data_, bytes_); }

Shadow::Shadow(size_t bytes, unsigned granule_log2)
    : granule_log2_(granule_log2), memory_(((bytes >> granule_log2) + 1) * sizeof(Cell)) {}

Shadow& Region::cells() {
  if (shadow == nullptr) shadow = std::make_unique<Shadow>(end - begin, granule_log2);
  return *shadow;
}

void Region::note_read(const char* address, size_t bytes, uint32_t serial) {
  read_begin = read_begin == nullptr ? address : std::min(read_begin, address);
  read_end = std::max(read_end, address + bytes);
  reader = serial;
}

}  // namespace fictl_emu::check
