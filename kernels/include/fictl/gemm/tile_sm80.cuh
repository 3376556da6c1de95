// A stage of one operand in shared memory, for mma.sync: filled by cp.async, read by ldmatrix.
//
// The tile is [kRows][kK] of the operand. It lies in memory as the operand does: rows of kK
// elements where k is contiguous, else kK rows of kRows elements, which ldmatrix transposes. Chunks
// of 16 bytes are swizzled, so that neither the copies nor ldmatrix meet a bank conflict.
#pragma once

#include <fictl/device/copy.cuh>
#include <fictl/device/ldmatrix.cuh>
#include <fictl/device/swizzle.cuh>
#include <fictl/gemm/problem.cuh>

namespace fictl::gemm {

constexpr int kChunkElements = 8;  // of 16 bits

template <typename T, int kRows, int kK, Major kMajor>
struct StageTile {
  static constexpr bool kTransposed = kMajor == Major::kMN;
  static constexpr int kOuter = kTransposed ? kK : kRows;
  static constexpr int kInner = kTransposed ? kRows : kK;
  static constexpr int kChunks = kInner / kChunkElements;
  static constexpr int kBytes = kRows * kK * static_cast<int>(sizeof(T));

  char* shared;

  __device__ char* chunk(int outer, int chunk) const {
    return shared + device::swizzled<kChunks>(outer, chunk) * device::kChunkBytes;
  }

  // The operand of one product of 16 rows from `row` on and 16 of k from `k` on, as a[16][16] of
  // mma.cuh, or b of two products if kIsB.
  template <bool kIsB>
  __device__ void load(uint32_t (&to)[4], int row, int k, int lane) const {
    // Why exchanged: of a transposed tile, the rows of a matrix run along the other dimension.
    constexpr bool kLikeB = kIsB != kTransposed;
    const int outer = kLikeB ? device::MmaB::row(lane) : device::MmaA::row(lane);
    const int inner = kLikeB ? device::MmaB::chunk(lane) : device::MmaA::chunk(lane);
    if constexpr (kTransposed) {
      device::ldmatrix_x4_trans(to, chunk(k + outer, row / kChunkElements + inner));
    } else {
      device::ldmatrix_x4(to, chunk(row + outer, k / kChunkElements + inner));
    }
  }
};

// Copies the stages of one operand's tile: a thread has the same chunk of every few outer rows.
template <typename Tile, typename T, int kThreads>
class StageLoader {
  static constexpr int kCopies = Tile::kOuter * Tile::kChunks;
  static constexpr int kRowsAPass = kThreads / Tile::kChunks;
  static_assert(kThreads % Tile::kChunks == 0, "a thread keeps its chunk");

 public:
  // `matrix`: of this batch. `first_row`, `rows`: of the tile, and of the operand.
  __device__ StageLoader(const T* matrix, int64_t outer_stride, int first_row, int rows,
                         int first_k, int k)
      : stride_(outer_stride),
        outer_(static_cast<int>(threadIdx.x) / Tile::kChunks),
        chunk_(static_cast<int>(threadIdx.x) % Tile::kChunks),
        outers_((Tile::kTransposed ? k - first_k : rows - first_row) - outer_),
        inners_((Tile::kTransposed ? rows - first_row : k - first_k) - chunk_ * kChunkElements) {
    const int first_outer = Tile::kTransposed ? first_k : first_row;
    const int first_inner = Tile::kTransposed ? first_row : first_k;
    from_ =
        matrix + (int64_t{first_outer} + outer_) * stride_ + first_inner + chunk_ * kChunkElements;
  }

  // Begins to copy the next stage; elements beyond the operand become zero.
  __device__ void copy(Tile to) {
#pragma unroll
    for (int i = 0; i < (kCopies + kThreads - 1) / kThreads; ++i) {
      const int outer = i * kRowsAPass;
      if (kCopies % kThreads != 0 && outer_ + outer >= Tile::kOuter) break;
      char* chunk = to.chunk(outer_ + outer, chunk_);
      const T* from = from_ + outer * stride_;
      if (outer < outers_ && inners_ >= kChunkElements) {
        device::copy_async(chunk, from);
      } else {
        const int elements = outer < outers_ ? max(inners_, 0) : 0;
        device::copy_async(chunk, elements > 0 ? from : from_,
                           elements * static_cast<int>(sizeof(T)));
      }
    }
    if constexpr (Tile::kTransposed) {
      from_ += Tile::kOuter * stride_;
      outers_ -= Tile::kOuter;
    } else {
      from_ += Tile::kInner;
      inners_ -= Tile::kInner;
    }
  }

 private:
  const T* from_;
  int64_t stride_;
  int outer_;
  int chunk_;
  int outers_;  // of the operand, from this thread's first on
  int inners_;  // likewise, from its chunk on
};

}  // namespace fictl::gemm
