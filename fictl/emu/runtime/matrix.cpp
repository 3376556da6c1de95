// Matrix instructions: what the 32 lanes of a warp hold together, moved and multiplied. The layouts
// are those of the PTX manual; `group` is lane / 4 and `member` lane % 4 there and here.
#include <memory>

#include "elements.h"

namespace fictl_emu::ptx {

namespace {

constexpr int kRows = 16, kColumns = kVector, kDeepest = 64;

// A word of a register holds neighbours along k, so that the words have one layout for all types.
constexpr int kMostWords = 8;

struct Product {
  uint32_t a_words[kRows * kMostWords];
  uint32_t b_words[kColumns * kMostWords];
  float a[kRows * kDeepest];  // by rows
  float b_columns[kColumns * kDeepest];
  Floats b[kDeepest];
  Floats c[kRows];
};

const Mma& lane_of(void* const* lanes, int i) { return *static_cast<const Mma*>(lanes[i]); }

// Register r of A has word member + 4 (r / 2) of row group + 8 (r % 2), that of B word
// member + 4 r of column `group`. `words`: of a row of A, and of a column of B.
void gather(void* const* lanes, int words, Product& product) {
  for (int i = 0; i < 32; ++i) {
    const Mma& lane = lane_of(lanes, i);
    const int group = i / 4, member = i % 4;
    for (int r = 0; r < words / 2; ++r) {
      product.a_words[(group + 8 * (r % 2)) * words + member + 4 * (r / 2)] = lane.a[r];
    }
    for (int r = 0; r < words / 4; ++r) product.b_words[group * words + member + 4 * r] = lane.b[r];
  }
}

void decode(const Mma& kind, int words, Product& product) {
  decode_all(kind.a_type, product.a_words, kRows * words, product.a);
  decode_all(kind.b_type, product.b_words, kColumns * words, product.b_columns);
  for (int column = 0; column < kColumns; ++column) {
    const float* from = product.b_columns + column * kind.depth;
    for (int k = 0; k < kind.depth; ++k) product.b[k][column] = from[k];
  }
}

void multiply(int depth, Product& product) {
  for (int row = 0; row < kRows; row += 2) {
    // Two rows at a time, so that neither waits for its last addition.
    Floats upper = product.c[row], lower = product.c[row + 1];
    const float* a = product.a + row * depth;
    for (int k = 0; k < depth; ++k) {
      upper += a[k] * product.b[k];
      lower += a[k + depth] * product.b[k];
    }
    product.c[row] = upper;
    product.c[row + 1] = lower;
  }
}

// Where element e of the 4 of a lane lies in C and D.
float& element(Product& product, int lane, int e) {
  auto* row = reinterpret_cast<float*>(&product.c[lane / 4 + 8 * (e / 2)]);
  return row[lane % 4 * 2 + e % 2];
}

void read_c(void* const* lanes, Accumulator kind, Product& product) {
  for (int i = 0; i < 32; ++i) {
    const uint32_t* c = lane_of(lanes, i).c;
    for (int e = 0; e < 4; ++e) {
      const auto half = static_cast<uint16_t>(c[e / 2] >> 16 * (e % 2));
      element(product, i, e) = is_integer_sum(kind)        ? 0
                               : kind == Accumulator::kF16 ? half_to_float(half)
                                                           : bits<float>(c[e]);
    }
  }
}

void write_d(void* const* lanes, Accumulator kind, Product& product) {
  for (int i = 0; i < 32; ++i) {
    auto& lane = *static_cast<Mma*>(lanes[i]);
    if (kind == Accumulator::kF16) {
      for (int e = 0; e < 4; e += 2) {
        lane.d[e / 2] = float_to_half(element(product, i, e)) |
                        uint32_t{float_to_half(element(product, i, e + 1))} << 16;
      }
      continue;
    }
    for (int e = 0; e < 4; ++e) {
      const float value = element(product, i, e);
      lane.d[e] = is_integer_sum(kind) ? add(kind, lane.c[e], value) : bits<uint32_t>(value);
    }
  }
}

Matrices& matrices_of(void* const* lanes, int i) { return *static_cast<Matrices*>(lanes[i]); }

// Two neighbours of matrix `number`, which lane i has: of one row, or of one column if transposed.
uint16_t& item(void* const* lanes, int number, int i, int which, bool transposed) {
  const int across = i / 4, along = i % 4 * 2 + which;
  const int row = transposed ? along : across, column = transposed ? across : along;
  return matrices_of(lanes, number * 8 + row).row.items[column];
}

}  // namespace

}  // namespace fictl_emu::ptx

using namespace fictl_emu::ptx;

extern "C" {

void fictl_emu_mma(void* const* lanes, uint32_t) {
  // Why on the heap: a fiber's stack is small, and thread-local storage of a library that is loaded
  // late is scarce.
  static thread_local std::unique_ptr<Product> space;
  if (space == nullptr) space.reset(new Product);
  Product& product = *space;
  const Mma& kind = lane_of(lanes, 0);
  const int words = kind.depth * width(kind.a_type) / 32;
  gather(lanes, words, product);
  decode(kind, words, product);
  read_c(lanes, kind.accumulator, product);
  multiply(kind.depth, product);
  write_d(lanes, kind.accumulator, product);
}

void fictl_emu_rows_to_shares(void* const* lanes, uint32_t) {
  const int count = matrices_of(lanes, 0).count;
  const bool transposed = matrices_of(lanes, 0).transposed;
  for (int number = 0; number < count; ++number) {
    for (int i = 0; i < 32; ++i) {
      matrices_of(lanes, i).shares[number] = item(lanes, number, i, 0, transposed) |
                                             uint32_t{item(lanes, number, i, 1, transposed)} << 16;
    }
  }
}

void fictl_emu_shares_to_rows(void* const* lanes, uint32_t) {
  const int count = matrices_of(lanes, 0).count;
  const bool transposed = matrices_of(lanes, 0).transposed;
  for (int number = 0; number < count; ++number) {
    for (int i = 0; i < 32; ++i) {
      const uint32_t share = matrices_of(lanes, i).shares[number];
      item(lanes, number, i, 0, transposed) = static_cast<uint16_t>(share);
      item(lanes, number, i, 1, transposed) = static_cast<uint16_t>(share >> 16);
    }
  }
}
}
