// Elements of matrices in the types of the tensor cores, and sums of their products.
#pragma once

#include <fictl_emu/ptx/matrix.h>

namespace fictl_emu::ptx {

// A row of eight floats, for the vector unit of whatever processor.
constexpr int kVector = 8;
using Floats = float __attribute__((vector_size(kVector * sizeof(float))));

constexpr int width(Element type) {
  if (type == Element::kTF32) return 32;
  if (type == Element::kF16 || type == Element::kBF16) return 16;
  return type == Element::kS4 || type == Element::kU4 ? 4 : 8;
}

// The elements in `count` words, as floats: exact for every type.
void decode_all(Element type, const uint32_t* words, int count, float* to);

inline bool is_integer_sum(Accumulator kind) {
  return kind == Accumulator::kS32 || kind == Accumulator::kS32Saturated;
}

// The sum of an integer and of products, which a float holds exactly: 32 * 255 * 255 < 2^24.
uint32_t add(Accumulator kind, uint32_t c, float products);

}  // namespace fictl_emu::ptx
