// Rows of equally many units of work, distributed over threads.
#pragma once

#include <fictl/device/divisor.cuh>
#include <fictl/device/math.cuh>

namespace fictl::device {

// A block takes as many whole rows as fit or, of longer rows, an even share of one.
template <int kUnits>
class RowUnits {
 public:
  struct Unit {
    bool exists;
    int64_t row;
    int unit;
  };

  // `threads`: the maximum of a block, a multiple of the warp size.
  RowUnits(int64_t rows, int units, int threads)
      : rows_(rows),
        units_(units),
        rows_a_block_(units < threads * kUnits ? threads * kUnits / units : 1),
        shares_(static_cast<int>(ceil_div(units, int64_t{threads} * kUnits))) {
    const int64_t share = ceil_div(int64_t{rows_a_block_} * units, shares_.divisor());
    threads_ = static_cast<int>(ceil_div(share, 32 * kUnits) * 32);
  }

  dim3 grid() const { return dim3(ceil_div(rows_, rows_a_block_) * shares_.divisor()); }
  dim3 block() const { return dim3(threads_); }

  // This thread's i-th unit. The units of a warp are adjacent, and consecutive blocks have
  // consecutive shares of a row.
  __device__ Unit mine(int i) const {
    const Divisor::Result block = shares_.divide(static_cast<int>(blockIdx.x));
    const int index = (block.remainder * kUnits + i) * threads_ + threadIdx.x;
    const Divisor::Result at = units_.divide(index);
    const int64_t row = int64_t{block.quotient} * rows_a_block_ + at.quotient;
    return {at.quotient < rows_a_block_ && row < rows_, row, at.remainder};
  }

 private:
  int64_t rows_;
  Divisor units_;
  int rows_a_block_;
  Divisor shares_;
  int threads_;
};

}  // namespace fictl::device
