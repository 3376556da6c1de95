// Tensor maps: what cuTensorMapEncodeTiled puts into the 128 bytes of a CUtensorMap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace fictl_emu {

constexpr int kMostDimensions = 5;

enum class Swizzle : uint8_t { kNone, k32, k64, k128 };

// Dimensions are innermost first.
struct TensorMap {
  static constexpr uint64_t kMagic = 0x70614D6C74636946;

  uint64_t magic;
  uint64_t base;
  uint64_t strides[kMostDimensions];  // in bytes; of the innermost, the size of an element
  uint32_t last[kMostDimensions];     // sizes less one: they go up to 2^32
  uint16_t box[kMostDimensions];      // elements that are copied
  uint8_t steps[kMostDimensions];     // from one of them to the next
  uint8_t type;                       // a CUtensorMapDataType
  uint8_t rank;
  Swizzle swizzle;
  uint8_t fills_with_nan;

  uint32_t element_bytes() const { return static_cast<uint32_t>(strides[0]); }
  uint32_t row_bytes() const { return box[0] * element_bytes(); }
  uint32_t box_bytes() const;
};
static_assert(sizeof(TensorMap) <= 128);

// The byte at `offset` of shared memory in the pattern of a swizzle.
inline uint32_t swizzled(Swizzle swizzle, uint32_t offset) {
  const uint32_t rows = (1u << static_cast<int>(swizzle)) - 1;
  return offset ^ ((offset >> 7 & rows) << 4);
}
// After so many bytes the pattern begins again.
inline uint32_t pattern_bytes(Swizzle swizzle) { return 128u << static_cast<int>(swizzle); }

// The map at that address of a kernel. Stops the kernel where there is none.
TensorMap read_map(const void* address, const void* pc);
// True if kernels can change the map: it is read when the copy is done, and not when it is issued.
bool may_change(const void* address);

// {64, 128}
std::string in_braces(const uint16_t* values, int count);
std::string in_braces(const int32_t* values, int count);

}  // namespace fictl_emu
