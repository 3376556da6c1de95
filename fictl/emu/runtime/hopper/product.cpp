#include "product.h"

#include <cstring>

namespace fictl_emu {

using ptx::Accumulator;
using ptx::Floats;
using ptx::kVector;

namespace {

constexpr int kTogether = 4;  // rows: their sums, and eight columns of B, stay in registers

Floats load(const float* from) {
  Floats vector;
  memcpy(&vector, from, sizeof vector);
  return vector;
}

void multiply_rows(int depth, int columns, const float* a, const Floats* b, float* sums) {
  for (int column = 0; column < columns; column += kVector, b += depth) {
    Floats sum[kTogether];
    for (int r = 0; r < kTogether; ++r) sum[r] = load(sums + r * columns + column);
    for (int k = 0; k < depth; ++k) {
      for (int r = 0; r < kTogether; ++r) sum[r] += a[r * depth + k] * b[k];
    }
    for (int r = 0; r < kTogether; ++r)
      memcpy(sums + r * columns + column, &sum[r], sizeof(Floats));
  }
}

}  // namespace

void Product::decode(const Types& types, int columns, bool negates) {
  depth_ = kBytes * 8 / ptx::width(types.a);
  ptx::decode_all(types.a, reinterpret_cast<const uint32_t*>(a_bytes), kRows * kBytes / 4, a_);
  ptx::decode_all(types.b, reinterpret_cast<const uint32_t*>(b_bytes), columns * kBytes / 4,
                  b_rows_);
  for (int i = 0; negates && i < kRows * depth_; ++i) a_[i] = -a_[i];
  auto* b = reinterpret_cast<float*>(b_);
  for (int column = 0; column < columns; ++column) {
    float* to = b + column / kVector * depth_ * kVector + column % kVector;
    for (int k = 0; k < depth_; ++k) to[k * kVector] = b_rows_[column * depth_ + k];
  }
}

void Product::multiply(const Types& types, int columns, bool adds, bool negates, uint32_t* sums) {
  const int count = kRows * columns;
  const bool is_integer = ptx::is_integer_sum(types.sums);
  decode(types, columns, negates);
  if (adds && !is_integer) {
    memcpy(sums_, sums, count * sizeof(float));
  } else {
    memset(sums_, 0, count * sizeof(float));
  }
  for (int row = 0; row < kRows; row += kTogether) {
    multiply_rows(depth_, columns, a_ + row * depth_, b_, sums_ + row * columns);
  }
  for (int i = 0; i < count; ++i) {
    if (is_integer) {
      sums[i] = ptx::add(types.sums, adds ? sums[i] : 0, sums_[i]);
    } else if (types.sums == Accumulator::kF16) {
      sums[i] = ptx::bits<uint32_t>(ptx::half_to_float(ptx::float_to_half(sums_[i])));
    } else {
      sums[i] = ptx::bits<uint32_t>(sums_[i]);
    }
  }
}

}  // namespace fictl_emu
