#include "shared_map.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "checker.h"
#include "report.h"

namespace fictl_emu {

namespace {

constexpr size_t kBytes = SharedMemory::kCapacity;

char* map(void* at, size_t bytes, int protection, int flags, int file) {
  void* memory = mmap(at, bytes, protection, flags, file, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return static_cast<char*>(memory);
}

void map_plainly(SharedMemory& shared) {
  constexpr int kOwn = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  shared.base = map(nullptr, kBytes, PROT_READ | PROT_WRITE, kOwn, -1);
  shared.reach = kBytes;
}

// As a file, which can be mapped again for each part, with room for that. Where there are no such
// files parts are not told apart.
void map_for_parts(SharedMemory& shared) {
  constexpr size_t kReach = kBytes * (1 + SharedMemory::kMostParts);
  shared.file = memfd_create("fictl-shared", MFD_CLOEXEC);
  if (shared.file < 0 || ftruncate(shared.file, kBytes) != 0) return map_plainly(shared);
  constexpr int kNothing = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  shared.base = map(nullptr, kReach, PROT_NONE, kNothing, -1);
  map(shared.base, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, shared.file);
  shared.reach = kReach;
}

void unmap(SharedMemory& shared) {
  if (shared.base != nullptr) munmap(shared.base, shared.reach);
  if (shared.file >= 0) close(shared.file);
  shared.base = nullptr;
  shared.file = -1;
  shared.mapped_parts = 0;
}

// Where the part is seen from, as `base` is where all is seen from.
char* window_of(SharedMemory& shared, size_t part) {
  char* window = shared.base + kBytes * (1 + part);
  if (part >= shared.mapped_parts) {
    map(window, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, shared.file);
    shared.mapped_parts = static_cast<uint32_t>(part) + 1;
  }
  return window;
}

[[noreturn]] void stop_too_large(const SharedMemory& shared, const SharedPart& part,
                                 const void* pc) {
  Report report("out-of-bounds", current());
  report.place(pc);
  report.text("what", std::string("part '") + part.name + "' of " + std::to_string(part.bytes) +
                          " bytes at byte " + std::to_string(part.offset) +
                          " of dynamic shared memory, which has " +
                          std::to_string(shared.dynamic_bytes) + " bytes");
  report.text("cause",
              "the launch asks for fewer bytes of dynamic shared memory than the kernel uses");
  report.file();
  stop_kernel();
}

size_t declare(SharedMemory& shared, const SharedPart& part) {
  const auto found =
      std::find_if(shared.parts.begin(), shared.parts.end(), [&](const SharedPart& known) {
        return known.offset == part.offset && known.bytes == part.bytes &&
               strcmp(known.name, part.name) == 0;
      });
  if (found != shared.parts.end()) return found - shared.parts.begin();
  if (shared.parts.size() < SharedMemory::kMostParts) shared.parts.push_back(part);
  return shared.parts.size() - 1;
}

}  // namespace

void map_shared(SharedMemory& shared) {
  // After fork() a file would be of parent and child.
  const int process = check::enabled ? getpid() : 0;
  if (shared.base != nullptr && shared.process == process) return;
  unmap(shared);
  shared.process = process;
  if (check::enabled) {
    map_for_parts(shared);
  } else {
    map_plainly(shared);
  }
}

char* same_place(SharedMemory& there, const SharedMemory& here, const char* address) {
  const SharedPart* part = here.part_at(address);
  const size_t offset = here.canonical(address) - here.base;
  if (part == nullptr || there.file < 0) return there.base + offset;
  const size_t number = declare(there, *part);
  const bool full = there.parts[number].offset != part->offset;
  return full ? there.base + offset : window_of(there, number) + offset;
}

}  // namespace fictl_emu

extern "C" const char* fictl_emu_shared_part(const char* base, size_t offset, size_t bytes,
                                             const char* name) {
  using namespace fictl_emu;
  if (team == nullptr) return base;
  SharedMemory& shared = current()->block->shared;
  if (!shared.contains(base)) return base;
  const size_t start = shared.canonical(base) - shared.base;
  const SharedPart part{static_cast<uint32_t>(start + offset), static_cast<uint32_t>(bytes), name};
  if (start < shared.static_begin && start + offset + bytes > shared.dynamic_bytes) {
    stop_too_large(shared, part, __builtin_return_address(0));
  }
  if (shared.file < 0) return base;
  const size_t number = declare(shared, part);
  const SharedPart& declared = shared.parts[number];
  const bool full = declared.offset != part.offset || declared.bytes != part.bytes;
  return full ? base : window_of(shared, number) + start;
}
