// Register hand-over: a producer gives registers up, consumers take them.
//
// The registers of a block are dealt out evenly at its start: 168 a thread to 3 warpgroups, 128 to
// 4. All four warps of a warpgroup call, and the new numbers must fit: their sum over the
// warpgroups is at most 504 (3 of them) or 512 (4). The kernel needs __launch_bounds__(threads, 1),
// with the 1; without it ptxas ignores the request (C7508). Of a kernel that has a 2 there, two
// blocks share an SM, and each has half as many; share_registers() says so first.
#pragma once

#include <cuda_runtime.h>

namespace fictl::device {

// Tells the emulated device what the launch bounds tell ptxas: how many blocks share an SM.
template <int kBlocks>
__device__ void share_registers() {
#ifdef FICTL_EMU
  fictl_emu_share_sm(kBlocks);
#endif
}

template <int kRegisters>
__device__ void give_registers_up() {
  static_assert(kRegisters >= 24 && kRegisters <= 256 && kRegisters % 8 == 0, "24, 32, ... 256");
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

// Waits until the block has enough of them.
template <int kRegisters>
__device__ void take_registers() {
  static_assert(kRegisters >= 24 && kRegisters <= 256 && kRegisters % 8 == 0, "24, 32, ... 256");
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

}  // namespace fictl::device
