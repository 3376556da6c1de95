// Rows of vectors that ranks exchange: which of them a thread has, and their sums over the ranks.
#pragma once

#include <fictl/comm/channel.cuh>
#include <fictl/comm/cluster_reduce.cuh>
#include <fictl/device/convert.cuh>

namespace fictl::comm {

template <typename T>
using Piece = device::Vec<T, kPieceBytes / sizeof(T)>;

// Rows of vectors; the last ones may be absent. Vectors are counted in 32 bits: less to compute
// before the first of them is on its way.
struct RowsShape {
  int rows;
  int row_vecs;
  int vecs;
  int steps = 0;  // of the cluster that has most; set at the launch
};

constexpr int64_t kMostVecs = 1 << 30;  // of an input: less than 32 bits, also behind its end

// The vectors of a row that this thread has, and the rows of its cluster.
template <int kVecs, bool kClusters>
class RowPlace {
 public:
  using Grid = RowGrid<kClusters>;

  __device__ explicit RowPlace(const RowsShape& shape)
      : shape_(shape),
        first_(Grid::rank() * blockDim.x + threadIdx.x),
        step_(Grid::size() * blockDim.x) {}

  // The row, or the group of rows, of a step of this cluster.
  __device__ int of_step(int step) const { return Grid::index() + step * Grid::count(); }

  // The place in its row of this thread's vector i.
  __device__ int in_row(int i) const { return first_ + i * step_; }

  // Vectors are counted over all rows.
  __device__ int vec(int row, int i) const { return row * shape_.row_vecs + in_row(i); }

  // Tells if this thread's vector i of a row is there: if any is, then its first.
  __device__ bool has(int row, int i) const {
    return in_row(i) < shape_.row_vecs && vec(row, i) < shape_.vecs;
  }

  // Calls body(i, vector) for those of a row that are there.
  template <typename Body>
  __device__ void each(int row, Body body) const {
#pragma unroll
    for (int i = 0; i < kVecs; ++i) {
      if (has(row, i)) body(i, vec(row, i));
    }
  }

 private:
  const RowsShape& shape_;
  int first_;
  int step_;
};

// Loads what ranks from `first` on have pushed of a row's vectors from `begin` on, once it is
// there; zeros for those that do not come. at(v) is the place of vector v in a slot.
template <int kRanks, int kVecs, typename Place, typename At>
__device__ void receive(const Channel& channel, const Peers& peers, const Place& place, int row,
                        int first, int begin, int stage, At at, uint4 (&pieces)[kRanks][kVecs]) {
  const auto load = [&](int j, int i) {
    pieces[j][i] = peek(channel.here(first + j, stage, at(place.vec(row, begin + i))));
  };
#pragma unroll
  for (int j = 0; j < kRanks; ++j) {
    const bool comes = first + j < peers.size && first + j != peers.rank;
#pragma unroll
    for (int i = 0; i < kVecs; ++i) {
      pieces[j][i] = make_uint4(0, 0, 0, 0);
      if (comes && place.has(row, begin + i)) load(j, i);
    }
  }
  if (!channel.has_sentinels()) return;
  // Why all together: loads of those that were late are in flight together, too.
  for (Patience patience(peers);;) {
    int late = -1;
#pragma unroll
    for (int j = kRanks - 1; j >= 0; --j) {
#pragma unroll
      for (int i = 0; i < kVecs; ++i) {
        if (!is_there(pieces[j][i])) late = first + j;
      }
    }
    if (late < 0) return;
    patience.spend(late);
#pragma unroll
    for (int j = 0; j < kRanks; ++j) {
#pragma unroll
      for (int i = 0; i < kVecs; ++i) {
        if (!is_there(pieces[j][i])) load(j, i);
      }
    }
  }
}

template <typename T>
__device__ Piece<T> piece_of(uint4 bits) {
  Piece<T> piece;
  piece.bits() = bits;
  return piece;
}

// Makes vectors zeros. Why also where the next lines load most of them: those that a thread does
// not have would be kept in registers from row to row.
//
// Why rows are words of 32 bits: of 16-bit values the compiler merges those that are loaded with
// those that are not, which waits for a load where the next one could begin.
template <int kVecs>
__device__ void clear_row(uint4 (&row)[kVecs]) {
#pragma unroll
  for (int i = 0; i < kVecs; ++i) row[i] = make_uint4(0, 0, 0, 0);
}

// Adds what came of a row's vectors from all ranks to this rank's own, in their order. `at(v)` is
// the place of vector v in a slot. kRanks: of so many ranks, if the compiler is to know it.
template <typename T, int kRanks = 0, int kVecs, typename Place, typename At>
__device__ void sum_ranks(const Channel& channel, const Peers& peers, const Place& place, int row,
                          At at, uint4 (&own)[kVecs]) {
  constexpr int N = kPieceBytes / sizeof(T);
  // Why batches: as many loads as registers hold are in flight before the first is looked at. Of
  // one vector these are the ranks', of several up to three vectors of a rank.
  constexpr int kAtOnce = kVecs == 1 ? 4 : 1;
  constexpr int kBatch = kRanks == 0 ? kAtOnce : kRanks * kVecs <= 8 ? kRanks : 8 / kVecs;
  const int ranks = kRanks == 0 ? peers.size : kRanks;
  constexpr int kGroup = kVecs > 3 ? 2 : kVecs;
  static_assert(kVecs % kGroup == 0, "groups of vectors are full");
#pragma unroll
  for (int begin = 0; begin < kVecs; begin += kGroup) {
    float sums[kGroup][N] = {};
#pragma unroll 1
    for (int first = 0; first < ranks; first += kBatch) {
      uint4 pieces[kBatch][kGroup];
      receive(channel, peers, place, row, first, begin, 0, at, pieces);
#pragma unroll
      for (int j = 0; j < kBatch; ++j) {
        if (first + j >= ranks) continue;
#pragma unroll
        for (int i = 0; i < kGroup; ++i) {
          const bool is_own = first + j == peers.rank;
          float x[N];
          device::to_float(piece_of<T>(is_own ? own[begin + i] : pieces[j][i]), x);
#pragma unroll
          for (int k = 0; k < N; ++k) sums[i][k] += x[k];
        }
      }
    }
#pragma unroll
    for (int i = 0; i < kGroup; ++i) {
      own[begin + i] = without_negative_zeros<T>(device::from_float<T>(sums[i]).bits());
    }
  }
}

}  // namespace fictl::comm
