// wgmma: products of a warpgroup that run beside its threads.
#pragma once

#include <fictl_emu/ptx/wgmma.h>

#include <array>
#include <string>
#include <vector>

#include "engine.h"
#include "fragment.h"

namespace fictl_emu {

// One wgmma.mma_async between its issue and its end.
class Multiplication final : public Operation {
 public:
  // `lanes`: what the threads of the group have come with.
  Multiplication(Thread& thread, const void* pc, Warpgroup& group, std::shared_ptr<Fragment> into);

  void complete() override;
  void poison() override { into_->poison(); }
  std::string text() const override;

  const ptx::Wgmma& what() const { return what_; }

 private:
  void multiply();

  ptx::Wgmma what_;  // the first thread's; of what differs nothing is used
  Warpgroup& warpgroup_;
  std::shared_ptr<Fragment> into_;
  std::vector<std::array<ptx::Source, 4>> a_registers_;  // of each thread, if A is in them
};

// The addresses of 16 bytes each that the product reads of shared memory: of A in the rows of one
// warp of the group (none if A is in registers), then of B. Stops at what is not shared memory.
std::vector<const char*> operands_of(const ptx::Wgmma& wgmma, const Thread& thread);

// A thread of the group returns, and its registers with it.
void end_products(const Thread& thread, Warpgroup& group);

}  // namespace fictl_emu
