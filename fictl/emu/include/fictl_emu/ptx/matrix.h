// mma, ldmatrix, stmatrix and movmatrix. The runtime moves and multiplies; memory is read and
// written here, by the thread that gives the address of a row.
#pragma once

#include <fictl_emu/ptx/registers.h>

namespace fictl_emu::ptx {

enum class Element : uint8_t { kF16, kBF16, kTF32, kS8, kU8, kS4, kU4, kE4M3, kE5M2 };
enum class Accumulator : uint8_t { kF32, kF16, kS32, kS32Saturated };

// The registers of one lane; all lanes of a warp come with the same kind of operation.
struct Mma {
  Element a_type, b_type;
  Accumulator accumulator;
  uint8_t depth;  // k
  uint32_t a[4], b[2], c[4], d[4];
};

struct Row {
  alignas(16) uint16_t items[8];
};

// One lane of a ldmatrix or a stmatrix: the row that it has in memory, its share of the matrices.
struct Matrices {
  Row row;
  uint32_t shares[4];
  uint8_t count;
  bool transposed;
};

}  // namespace fictl_emu::ptx

#pragma GCC visibility push(default)
extern "C" {
void fictl_emu_mma(void* const* lanes, uint32_t present);
void fictl_emu_rows_to_shares(void* const* lanes, uint32_t present);
void fictl_emu_shares_to_rows(void* const* lanes, uint32_t present);
}
#pragma GCC visibility pop

namespace fictl_emu::ptx {

constexpr uint32_t kAllLanes = 0xffffffffu;

inline void multiply(Mma& mma, FICTL_EMU_HERE) {
  fictl_emu_warp("mma.sync", kAllLanes, &mma, fictl_emu_mma, FICTL_EMU_NEEDS_ALL, file, line);
}

inline void require_row(const char* row, const char* what, const char* file, int line) {
  if (reinterpret_cast<uintptr_t>(row) % sizeof(Row) != 0) {
    fictl_emu_stop("misaligned", what, file, line);
  }
}

// Lane i has the address of row i % 8 of matrix i / 8.
inline void load_matrices(Matrices& matrices, const char* row, FICTL_EMU_HERE) {
  if (lane() < 8u * matrices.count) {
    require_row(row, "ldmatrix: the address of a row is no multiple of 16", file, line);
    matrices.row = *reinterpret_cast<const Row*>(row);
  }
  fictl_emu_warp("ldmatrix.sync", kAllLanes, &matrices, fictl_emu_rows_to_shares,
                 FICTL_EMU_NEEDS_ALL, file, line);
}

inline void store_matrices(Matrices& matrices, char* row, FICTL_EMU_HERE) {
  fictl_emu_warp("stmatrix.sync", kAllLanes, &matrices, fictl_emu_shares_to_rows,
                 FICTL_EMU_NEEDS_ALL, file, line);
  if (lane() < 8u * matrices.count) {
    require_row(row, "stmatrix: the address of a row is no multiple of 16", file, line);
    *reinterpret_cast<Row*>(row) = matrices.row;
  }
}

inline uint32_t transpose(uint32_t share, FICTL_EMU_HERE) {
  Matrices matrices{{}, {share}, 1, false};
  fictl_emu_warp("movmatrix.sync", kAllLanes, &matrices, fictl_emu_shares_to_rows,
                 FICTL_EMU_NEEDS_ALL, file, line);
  matrices.transposed = true;
  fictl_emu_warp("movmatrix.sync", kAllLanes, &matrices, fictl_emu_rows_to_shares,
                 FICTL_EMU_NEEDS_ALL, file, line);
  return matrices.shares[0];
}

}  // namespace fictl_emu::ptx
