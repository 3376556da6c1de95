// The special registers that libcu++ and CUB read, in place of functions that only nvcc compiles.
// Included inside of namespace cuda::ptx.
#pragma once

#define FICTL_EMU_REGISTER(name, value) \
  inline uint32_t get_sreg_##name() { return value; }
FICTL_EMU_REGISTER(tid_x, threadIdx.x)
FICTL_EMU_REGISTER(tid_y, threadIdx.y)
FICTL_EMU_REGISTER(tid_z, threadIdx.z)
FICTL_EMU_REGISTER(ntid_x, blockDim.x)
FICTL_EMU_REGISTER(ntid_y, blockDim.y)
FICTL_EMU_REGISTER(ntid_z, blockDim.z)
FICTL_EMU_REGISTER(ctaid_x, blockIdx.x)
FICTL_EMU_REGISTER(ctaid_y, blockIdx.y)
FICTL_EMU_REGISTER(ctaid_z, blockIdx.z)
FICTL_EMU_REGISTER(nctaid_x, gridDim.x)
FICTL_EMU_REGISTER(nctaid_y, gridDim.y)
FICTL_EMU_REGISTER(nctaid_z, gridDim.z)
FICTL_EMU_REGISTER(laneid, fictl_emu_registers.lane)
FICTL_EMU_REGISTER(warpid, fictl_emu_registers.warp)
FICTL_EMU_REGISTER(nwarpid, 64)
FICTL_EMU_REGISTER(lanemask_eq, 1u << fictl_emu_registers.lane)
FICTL_EMU_REGISTER(lanemask_lt, (1u << fictl_emu_registers.lane) - 1)
FICTL_EMU_REGISTER(lanemask_le, (2u << fictl_emu_registers.lane) - 1)
FICTL_EMU_REGISTER(lanemask_gt, ~((2u << fictl_emu_registers.lane) - 1))
FICTL_EMU_REGISTER(lanemask_ge, ~((1u << fictl_emu_registers.lane) - 1))
FICTL_EMU_REGISTER(clock, static_cast<uint32_t>(clock64()))
#undef FICTL_EMU_REGISTER

inline uint64_t get_sreg_clock64() { return static_cast<uint64_t>(clock64()); }
inline uint64_t get_sreg_globaltimer() { return static_cast<uint64_t>(clock64()); }
