// Matrix descriptors of wgmma: where in shared memory the elements of an operand are.
//
// K-major: the elements of a row lie together along k. MN-major, of 16-bit elements alone: those of
// a column lie together along the rows.
#pragma once

#include <cstdint>
#include <string>

namespace fictl_emu {

struct Descriptor {
  uint32_t start;    // a 32-bit address of shared memory, as are all here
  uint32_t leading;  // byte offsets
  uint32_t stride;
  uint32_t width;  // of the rows of the swizzled pattern, in bytes; 16: not swizzled
};

std::string hex(uint64_t value);

Descriptor decode_descriptor(uint64_t code);

// The error in a descriptor, with its usual cause; empty if there is none.
struct DescriptorProblem {
  std::string what;
  const char* cause;
};
DescriptorProblem problem_of_descriptor(uint64_t code);

// The first of 16 bytes that lie together: those of row `row` from byte `byte` along k on, ...
uint32_t k_major_address(const Descriptor& descriptor, uint32_t row, uint32_t byte);
// ... or the elements of eight rows from `row` on, at `k`.
uint32_t mn_major_address(const Descriptor& descriptor, uint32_t row, uint32_t k);

}  // namespace fictl_emu
