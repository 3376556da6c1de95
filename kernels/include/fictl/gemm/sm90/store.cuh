// The way out of a tile: sums in registers, through the epilogue, rounded, as a panel in shared
// memory, and by a bulk store to D.
//
// A panel has rows of 128 bytes, or of 64 or 32 where a tile or its outputs are narrower, swizzled
// as the copy engine expects them: neither side meets a bank conflict. A warpgroup has two panels,
// so that one is written while the other one is on its way. Where D's rows are not multiples of 16
// bytes, its threads copy the panel instead.
#pragma once

#include <fictl/device/element.cuh>
#include <fictl/device/hopper/bulk_copy.cuh>
#include <fictl/device/hopper/named_barrier.cuh>
#include <fictl/device/hopper/proxy.cuh>
#include <fictl/device/hopper/stmatrix.cuh>
#include <fictl/device/hopper/tensor_map.cuh>
#include <fictl/device/mma.cuh>
#include <fictl/gemm/epilogue.cuh>
#include <fictl/gemm/sm90/mainloop.cuh>

namespace fictl::gemm {

// D as the kernel writes it.
template <typename Out>
struct Destination {
  Out* data;
  int m;
  int n;  // columns of the product
  int64_t row_stride;
  int64_t batch_stride;
  bool bulk;  // the copy engine can write it
};

template <typename Tile, typename Out, int kColumnsPerOutput>
struct Panel {
  // Columns of the product, and outputs, in a row of a panel. A tile consists of whole panels.
  static constexpr int kWidest = Tile::kExchanged || Tile::kY % 64 == 0 || Tile::kY < 64 ? 64 : 32;
  static constexpr int kRoom = kRowBytes / static_cast<int>(sizeof(Out));
  static constexpr int kColumns = kRoom < kWidest ? kRoom : kWidest;
  static constexpr int kOutputs = kColumns / kColumnsPerOutput;
  static constexpr int kBytesARow = kOutputs * static_cast<int>(sizeof(Out));
  static constexpr device::Swizzle kSwizzle = kBytesARow == 128  ? device::Swizzle::k128
                                              : kBytesARow == 64 ? device::Swizzle::k64
                                                                 : device::Swizzle::k32;
  static_assert(kBytesARow == static_cast<int>(device::swizzle_bytes(kSwizzle)), "a swizzle's row");
  static_assert(Tile::kExchanged || Tile::kY < kColumns || Tile::kY % kColumns == 0,
                "a tile of whole panels");
  static constexpr int kRows = Tile::kExchanged ? Tile::kY : device::kWgmmaM;

  // Where an output lies; the output of a pair of columns takes its first one's place.
  __device__ static int offset(int row, int column) {
    return static_cast<int>(device::swizzled_byte<kSwizzle>(row * kBytesARow + bytes(column)));
  }
  // The same `rows` and `columns` further, both multiples of 8: the swizzle repeats after 8 rows,
  // and 8 columns further are other bits of the address. Why: one instruction, where offset()
  // takes several, whose results the compiler would keep in registers.
  __device__ static int further(int offset, int rows, int columns) {
    return (offset ^ bytes(columns)) + rows * kBytesARow;
  }

 private:
  __device__ static int bytes(int column) {
    return column / kColumnsPerOutput * static_cast<int>(sizeof(Out));
  }
};

template <typename Tile, typename Out, int kColumnsPerOutput>
device::TensorMapSpec destination_map(const Destination<Out>& d, int batch) {
  using Out_panel = Panel<Tile, Out, kColumnsPerOutput>;
  auto spec = device::TensorMapSpec::of(d.data)
                  .with(d.n / kColumnsPerOutput, 1, Out_panel::kOutputs)
                  .with(d.m, d.row_stride, Out_panel::kRows)
                  .with(batch, batch == 1 ? 8 * int64_t{kPanelK} : d.batch_stride);
  spec.swizzle = Out_panel::kSwizzle;
  return spec;
}

// The lanes of a warpgroup that store a tile together.
template <typename Tile, typename Out, typename Epilogue>
class TileStore {
  static constexpr int kColumnsPerOutput = Epilogue::kColumnsPerOutput;
  using P = Panel<Tile, Out, kColumnsPerOutput>;

 public:
  __device__ TileStore(unsigned char (&panels)[kPanels][kPanelBytes], const CUtensorMap& map,
                       const Destination<Out>& d, const Epilogue& epilogue,
                       device::NamedBarrier warpgroup, int thread)
      : panels_(panels),
        map_(map),
        d_(d),
        epilogue_(epilogue),
        warpgroup_(warpgroup),
        thread_(thread) {
    const device::AccumulatorLayout layout{thread};
    const int lane = thread % 32;
    const bool is_odd = lane / 4 % 2 != 0;
    begin_ = Tile::kExchanged
                 ? P::offset(layout.column(0) + is_odd, (layout.row(0) - is_odd) % P::kColumns)
             : kByMatrices ? P::offset(thread / 32 * 16 + lane % 16, lane / 16 * 8)
                           : P::offset(layout.row(0), layout.column(0));
  }

  // `row` and `column`: of the first sum, in D. Columns from `column_end` on are another tile's.
  __device__ void store(const Sums<Tile>& sums, int batch, int row, int column, int column_end) {
    column_end_ = column_end < d_.n ? column_end : d_.n;
#pragma unroll
    for (int block = 0; block < Tile::kBlocks; ++block) {
      if constexpr (Tile::kExchanged) {
        store_exchanged(sums[block], batch, row, column + block * device::kWgmmaM);
      } else {
        store_straight(sums[block], batch, row + block * device::kWgmmaM, column);
      }
    }
  }

  // Before the block ends: shared memory must stay until it has been read.
  __device__ void finish() {
    if (thread_ == 0) device::bulk_wait_read<0>();
  }

 private:
  static constexpr int kColumns = P::kColumns < Tile::kY ? P::kColumns : Tile::kY;
  // By stmatrix, 16 rows of a warp and 16 columns at a time: lane l has the address of row l % 8 of
  // matrix l / 8.
  static constexpr bool kByMatrices =
      !Tile::kExchanged && kColumnsPerOutput == 1 && sizeof(Out) == 2 && kColumns % 16 == 0;

  __device__ void store_straight(const float (&sums)[Tile::kY / 2], int batch, int row,
                                 int column) {
#pragma unroll
    for (int first = 0; first < Tile::kY; first += kColumns) {
      unsigned char* panel = panels_[next_];
      claim<kPanels - 1>();
      fill_straight(panel, sums, batch, row, column, first);
      send(panel, batch, row, column + first, device::kWgmmaM, kColumns);
      next_ ^= 1;
    }
  }

  __device__ void fill_straight(unsigned char* panel, const float (&sums)[Tile::kY / 2], int batch,
                                int row, int column, int first) {
    const device::AccumulatorLayout layout{thread_};
#pragma unroll
    for (int j = 0; j < kColumns / 8; j += 2) {
      float2 outputs[4];  // rows and columns as the registers of stmatrix
#pragma unroll
      for (int part = 0; part < (j + 1 < kColumns / 8 ? 4 : 2); ++part) {
        const int i = (first / 8 + j + part / 2) * 4 + part % 2 * 2;
        outputs[part] = epilogue_({sums[i], sums[i + 1]},
                                  inside(batch, row + layout.row(i), column + layout.column(i)));
      }
      if constexpr (kByMatrices) {
        put_matrices(panel + P::further(begin_, 0, j * 8), outputs);
      } else {
#pragma unroll
        for (int part = 0; part < (j + 1 < kColumns / 8 ? 4 : 2); ++part) {
          put(panel + P::further(begin_, part % 2 * 8, (j + part / 2) * 8), outputs[part]);
        }
      }
    }
  }

  __device__ static void put_matrices(unsigned char* to, const float2 (&outputs)[4]) {
    device::stmatrix_x4(to, device::packed<Out>(outputs[0].x, outputs[0].y),
                        device::packed<Out>(outputs[1].x, outputs[1].y),
                        device::packed<Out>(outputs[2].x, outputs[2].y),
                        device::packed<Out>(outputs[3].x, outputs[3].y));
  }

  // Rows of the sums are columns of D. Two lanes that hold neighbouring ones exchange a sum each,
  // so that both have two columns of one row.
  __device__ void store_exchanged(const float (&sums)[Tile::kY / 2], int batch, int row,
                                  int column) {
    const device::AccumulatorLayout layout{thread_};
    const bool is_odd = thread_ / 4 % 2 != 0;
    claim<0>();
#pragma unroll
    for (int i = 0; i < Tile::kY / 2; i += 2) {
      const float other = __shfl_xor_sync(~0u, is_odd ? sums[i] : sums[i + 1], 4);
      const float2 pair = is_odd ? float2{other, sums[i + 1]} : float2{sums[i], other};
      const int to_row = layout.column(i) + is_odd;
      const int to_column = layout.row(i) - is_odd;
      const float2 outputs = epilogue_(pair, inside(batch, row + to_row, column + to_column));
      // The lane's two columns are 8 apart, and in one panel.
      unsigned char* panel = panels_[layout.row(0) / P::kColumns];
      put(panel + P::further(begin_, i / 4 * 8, i / 2 % 2 * 8), outputs);
    }
#pragma unroll
    for (int first = 0; first < device::kWgmmaM; first += P::kColumns) {
      send(panels_[first / P::kColumns], batch, row, column + first, Tile::kY, P::kColumns);
    }
  }

  // A place that exists, for outputs that nobody will see.
  __device__ TileElement inside(int batch, int row, int column) const {
    return {batch, row < d_.m ? row : d_.m - 1, column < d_.n ? column : (d_.n - 1) & ~1};
  }

  // Waits until a panel may be written again.
  template <int kPending>
  __device__ void claim() {
    if (thread_ == 0) device::bulk_wait_read<kPending>();
    warpgroup_.sync();
  }

  __device__ static void put(unsigned char* to, float2 outputs) {
    if constexpr (kColumnsPerOutput == 2) {
      *reinterpret_cast<Out*>(to) = device::Element<Out>::from_float(outputs.x);
    } else if constexpr (sizeof(Out) == 4) {
      *reinterpret_cast<float2*>(to) = outputs;
    } else {
      *reinterpret_cast<uint32_t*>(to) = device::packed<Out>(outputs.x, outputs.y);
    }
  }

  __device__ void send(const unsigned char* panel, int batch, int row, int column, int rows,
                       int columns) {
    if (d_.bulk) {
      device::fence_async_shared();
      warpgroup_.sync();
      if (thread_ == 0) {
        if (row < d_.m && column < d_.n)
          device::store_tensor(map_, panel, column / kColumnsPerOutput, row, batch);
        device::bulk_commit();
      }
      return;
    }
    warpgroup_.sync();
    copy(panel, batch, row, column, rows, columns / kColumnsPerOutput);
  }

  __device__ void copy(const unsigned char* panel, int batch, int row, int column, int rows,
                       int outputs) const {
    const int first = column / kColumnsPerOutput;
    const int last = column_end_ / kColumnsPerOutput;
    for (int i = thread_; i < rows * outputs; i += device::kWarpgroup) {
      const int r = i / outputs, c = i % outputs;
      if (row + r >= d_.m || first + c >= last) continue;
      d_.data[batch * d_.batch_stride + (row + r) * d_.row_stride + first + c] =
          *reinterpret_cast<const Out*>(panel + P::offset(r, c * kColumnsPerOutput));
    }
  }

  unsigned char (&panels_)[kPanels][kPanelBytes];
  const CUtensorMap& map_;
  const Destination<Out>& d_;
  const Epilogue& epilogue_;
  device::NamedBarrier warpgroup_;
  int thread_;
  int begin_;  // of this thread's first outputs, in a panel
  int next_ = 0;
  int column_end_ = 0;
};

}  // namespace fictl::gemm
