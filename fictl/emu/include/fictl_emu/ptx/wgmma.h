// wgmma and setmaxnreg: instructions of a warpgroup. A product runs beside the threads that issue
// it, so the runtime gets the addresses of registers: it reads and writes them when it ends.
#pragma once

#include <fictl_emu/ptx/matrix.h>

namespace fictl_emu::ptx {

// A register of A: its value, and its address if it has one, to see that it does not change.
struct Source {
  const uint32_t* address;
  uint32_t value;
};

// One thread's view of a wgmma.mma_async.
struct Wgmma {
  Element a_type, b_type;
  Accumulator accumulator;
  uint16_t columns;  // n
  bool adds;         // scale-d: to the accumulators' values
  bool negates;      // the product
  bool a_in_registers;
  bool a_transposed, b_transposed;  // in shared memory: MN-major
  uint64_t a, b;                    // descriptors
  void* const* accumulators;
  Source a_registers[4];
};

template <class T>
inline void* place(T& accumulator) {
  static_assert(sizeof(T) == 4, "a register of wgmma is a variable of 32 bits");
  return const_cast<void*>(static_cast<const volatile void*>(&accumulator));
}

inline Source source(const Source& operand) { return operand; }

template <class T>
inline Source source(T&& operand) {
  const auto value = in<uint32_t>(operand);
  if constexpr (std::is_lvalue_reference<T>::value && sizeof(operand) == 4) {
    return {static_cast<const uint32_t*>(place(operand)), value};
  } else {
    return {nullptr, value};
  }
}

}  // namespace fictl_emu::ptx

#pragma GCC visibility push(default)
extern "C" {
void fictl_emu_wgmma(const fictl_emu::ptx::Wgmma* wgmma, const char* file, int line);
void fictl_emu_wgmma_fence(const char* file, int line);
void fictl_emu_wgmma_commit(const char* file, int line);
// All but the newest `pending` groups have ended when it returns.
void fictl_emu_wgmma_wait(int pending, const char* file, int line);
void fictl_emu_setmaxnreg(int raises, int registers, const char* file, int line);
// Blocks that share an SM, by the second number of the launch bounds, which the compiler here
// drops.
void fictl_emu_share_sm(int blocks);
}
#pragma GCC visibility pop

namespace fictl_emu::ptx {

inline void multiply_async(const Wgmma& wgmma, FICTL_EMU_HERE) {
  fictl_emu_wgmma(&wgmma, file, line);
}

}  // namespace fictl_emu::ptx
