// Fibers: stacks with a guard page below each, and the switch between them.
#pragma once

#include <cstddef>
#include <vector>

extern "C" void fictl_emu_switch(void** save, void* load);

namespace fictl_emu {

// The stacks of one thread of the operating system. Their memory is committed where it is touched.
class Stacks {
 public:
  explicit Stacks(size_t bytes);
  ~Stacks();
  Stacks(const Stacks&) = delete;
  Stacks& operator=(const Stacks&) = delete;

  char* take();
  void give_back(char* stack) { free_.push_back(stack); }
  // All of them, also those whose fibers were left in the middle.
  void give_back_all();

  // A stack pointer for fictl_emu_switch() that begins `entry` on this stack.
  void* start(char* stack, void (*entry)()) const;

  size_t bytes() const { return bytes_; }
  bool contains(const void* address) const { return slab_of(address) != nullptr; }
  bool in_guard_page(const void* address) const;

 private:
  struct Slab {
    char* begin;
    size_t taken;  // stacks handed out for the first time
  };
  static constexpr size_t kGuard = 4096;
  static constexpr size_t kPerSlab = 1024;
  static constexpr size_t kColours = 16;
  static constexpr size_t kColour = 256;  // bytes: about what a thread that waits has on its stack

  const Slab* slab_of(const void* address) const;
  size_t slab_bytes() const { return (bytes_ + guard_) * kPerSlab; }

  size_t bytes_;
  size_t guard_;
  std::vector<Slab> slabs_;
  std::vector<char*> free_;
};

}  // namespace fictl_emu
