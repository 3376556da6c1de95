#include "product.h"

#include <cstring>

namespace fictl_emu {

using ptx::Element;
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
    for (int r = 0; r < kTogether; ++r) memcpy(sums + r * columns + column, &sum[r], sizeof(Floats));
  }
}

}  // namespace

void Product::decode(Element a_type, Element b_type, int columns, bool negates) {
  depth_ = kBytes * 8 / ptx::width(a_type);
  ptx::decode_all(a_type, reinterpret_cast<const uint32_t*>(a_bytes), kRows * kBytes / 4, a_);
  ptx::decode_all(b_type, reinterpret_cast<const uint32_t*>(b_bytes), columns * kBytes / 4,
                  b_rows_);
  for (int i = 0; negates && i < kRows * depth_; ++i) a_[i] = -a_[i];
  auto* b = reinterpret_cast<float*>(b_);
  for (int column = 0; column < columns; ++column) {
    float* to = b + column / kVector * depth_ * kVector + column % kVector;
    for (int k = 0; k < depth_; ++k) to[k * kVector] = b_rows_[column * depth_ + k];
  }
}

void Product::multiply(Element a_type, Element b_type, int columns, bool negates, float* sums) {
  decode(a_type, b_type, columns, negates);
  for (int row = 0; row < kRows; row += kTogether) {
    multiply_rows(depth_, columns, a_ + row * depth_, b_, sums + row * columns);
  }
}

}  // namespace fictl_emu
