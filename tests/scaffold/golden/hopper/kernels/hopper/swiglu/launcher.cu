#include <binding/launch.h>
#include <binding/row_pitch.h>
#include <binding/tensor_map.h>

#include <my_kernels/hopper/swiglu.cuh>

namespace my_kernels::hopper {

using fictl::Launch;
using fictl::View;

void swiglu(const Launch& launch, View out, View x, View gate) {
  if (out.numel() == 0) return;
  const int64_t cols = x.size(-1);
  const int64_t rows = x.numel() / cols;
  DISPATCH_DTYPE(launch, x, T, (__nv_bfloat16), {
    using Tile = SwigluTile<T>;
    const auto map = [&](const char* argument, View x, int box_rows) {
      // Why as if it were written: a map has no row that overlaps another one.
      const int64_t pitch = fictl::row_pitch(launch.op, argument, x, /*written=*/true);
      return fictl::tensor_map(launch, argument,
                               swiglu_map(x.data<const T>(), rows, cols, pitch, box_rows));
    };
    CUDA_CHECK(launch, Swiglu<T>(map("out", out, Tile::kWarpRows), map("x", x, Tile::kRows),
                                 map("gate", gate, Tile::kRows), rows, cols, launch.sm_count,
                                 launch.stream, launch.pdl));
  });
}

}  // namespace my_kernels::hopper
