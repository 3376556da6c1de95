#include "descriptor.h"

#include <cstdio>

namespace fictl_emu {

namespace {

constexpr uint32_t kUnswizzled = 16;

// Rows that lie 128 bytes apart have their chunks of 16 bytes in different order. What counts is
// the address, not the distance from the start.
uint32_t swizzled(const Descriptor& descriptor, uint32_t address) {
  const uint32_t mask = descriptor.width / 16 - 1;
  return address ^ ((address >> 7) & mask) << 4;
}

}  // namespace

std::string hex(uint64_t value) {
  char text[24];
  snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

Descriptor decode_descriptor(uint64_t code) {
  static constexpr uint32_t kWidths[] = {kUnswizzled, 128, 64, 32};
  const auto field = [=](int first) { return static_cast<uint32_t>(code >> first & 0x3fff) << 4; };
  return {field(0), field(16), field(32), kWidths[code >> 62]};
}

DescriptorProblem problem_of_descriptor(uint64_t code) {
  constexpr uint64_t kFields = 0xC00E3FFF3FFF3FFFull;
  if ((code & ~kFields) != 0) {
    return {"descriptor " + hex(code) +
                " has bits set that belong to no field: " + hex(code & ~kFields),
            "addresses and offsets are divided by 16 and cut to 14 bits: (x & 0x3ffff) >> 4"};
  }
  if ((code >> 49 & 7) != 0) {
    return {"descriptor " + hex(code) + " has the base offset " + std::to_string(code >> 49 & 7),
            "the emulated device takes 0 alone: align tiles to the pattern of their swizzle"};
  }
  const Descriptor descriptor = decode_descriptor(code);
  const uint32_t pattern = 8 * descriptor.width, row = descriptor.width;
  if (row != kUnswizzled && descriptor.start % pattern >= row) {
    return {"descriptor " + hex(code) + " starts at the shared address " + hex(descriptor.start) +
                ", in the middle of a pattern of " + std::to_string(pattern) + " bytes",
            "a swizzled tile begins at a multiple of 1024, 512 or 256 bytes (swizzle 128, 64 or "
            "32): align the array, and step over rows by eights"};
  }
  return {};
}

uint32_t k_major_address(const Descriptor& d, uint32_t row, uint32_t byte) {
  const uint32_t first = d.start + row % 8 * d.width + row / 8 * d.stride;
  if (d.width == kUnswizzled) return first + byte / 16 * d.leading;
  return swizzled(d, first + byte);
}

uint32_t mn_major_address(const Descriptor& d, uint32_t row, uint32_t k) {
  if (d.width == kUnswizzled) {
    return d.start + row / 8 * d.stride + k % 8 * 16 + k / 8 * d.leading;
  }
  const uint32_t per_row = d.width / 2;  // elements
  const uint32_t across = d.start + row % per_row * 2 + row / per_row * d.leading;
  return swizzled(d, across + k % 8 * d.width + k / 8 * d.stride);
}

}  // namespace fictl_emu
