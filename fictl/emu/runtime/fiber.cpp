#include "fiber.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>

namespace fictl_emu {

Stacks::Stacks(size_t bytes)
    : bytes_(bytes), guard_(std::max(kGuard, static_cast<size_t>(sysconf(_SC_PAGESIZE)))) {}

Stacks::~Stacks() {
  for (const Slab& slab : slabs_) munmap(slab.begin, slab_bytes());
}

char* Stacks::take() {
  if (!free_.empty()) {
    char* stack = free_.back();
    free_.pop_back();
    return stack;
  }
  if (slabs_.empty() || slabs_.back().taken == kPerSlab) {
    void* memory = mmap(nullptr, slab_bytes(), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    slabs_.push_back({static_cast<char*>(memory), 0});
  }
  Slab& slab = slabs_.back();
  char* guard = slab.begin + slab.taken++ * (bytes_ + guard_);
  mprotect(guard, guard_, PROT_NONE);
  return guard + guard_;
}

void Stacks::give_back_all() {
  free_.clear();
  // The first stack on top: it is the one whose memory is most likely to be there already.
  for (size_t i = slabs_.size(); i-- > 0;) {
    for (size_t stack = slabs_[i].taken; stack-- > 0;) {
      free_.push_back(slabs_[i].begin + stack * (bytes_ + guard_) + guard_);
    }
  }
}

void* Stacks::start(char* stack, void (*entry)()) const {
  // Why not all at the same distance from a page: the tops of all stacks would share a few sets of
  // the cache, and a switch would miss it.
  const size_t number = reinterpret_cast<uintptr_t>(stack) / (bytes_ + guard_);
  const size_t shift = number % kColours * kColour;
  auto top = reinterpret_cast<uintptr_t>(stack + bytes_ - shift) & ~uintptr_t{15};
  void** frame = reinterpret_cast<void**>(top);
#if defined(__x86_64__)
  *--frame = nullptr;  // a return address, so that the stack is aligned as after a call
  *--frame = reinterpret_cast<void*>(entry);
  for (int i = 0; i < 6; ++i) *--frame = nullptr;
#else
  frame -= 20;
  memset(frame, 0, 160);
  frame[1] = reinterpret_cast<void*>(entry);
#endif
  return frame;
}

bool Stacks::in_guard_page(const void* address) const {
  const Slab* slab = slab_of(address);
  if (slab == nullptr) return false;
  const size_t offset = static_cast<const char*>(address) - slab->begin;
  return offset % (bytes_ + guard_) < guard_;
}

const Stacks::Slab* Stacks::slab_of(const void* address) const {
  for (const Slab& slab : slabs_) {
    if (static_cast<size_t>(static_cast<const char*>(address) - slab.begin) < slab_bytes()) {
      return &slab;
    }
  }
  return nullptr;
}

}  // namespace fictl_emu
