{% from "_macros/comment.jinja" import comment %}
{{ comment(name ~ ": out = a b^T by CUTLASS's collectives for Hopper: 16-bit products on wgmma, summed in fp32 and rounded once.") }}
//
// Algorithm: a block has one warp group that brings stages of a and b to shared memory by TMA, and
// two that multiply them (wgmma). There are as many blocks as fit the GPU, and each takes one tile
// of out after the other, whose results leave by TMA while the next tile begins.
//
// Traffic: the two blocks of a cluster of the large tile share their part of b: each brings half of
// it and sends it to both (multicast), so that 256 x 256 results pay for 256 rows of a and of b.
//
// Tiling: two tiles, a module each, as one takes about a minute to compile; op.py chooses.
//   Large   128 x 256, both multiplying groups on one tile, 64 rows each ("cooperative").
//   Small   64 x 64, up to 64 rows: each group has a tile of its own, and one stores while the
//           other multiplies ("pingpong"). The small tile gives more SMs a part of b to read.
// As many stages as shared memory holds.
//
// Edges: TMA fills with zeros what lies beyond m, n and k, and writes nothing there. It needs rows
// aligned to 16 bytes, and n and k that are multiples of 8.
#pragma once

// Why not collective_builder.hpp and gemm_universal_adapter.h of cutlass/gemm: they bring every
// architecture's kernels, half as much again to compile.
#include <cutlass/cutlass.h>
#include <cutlass/device_kernel.h>
#include <cutlass/gemm/kernel/gemm_universal_decl.h>

#include <cutlass/epilogue/collective/collective_builder.hpp>
#include <cutlass/gemm/collective/builders/sm90_gmma_builder.inl>
#include <cutlass/gemm/collective/sm90_mma_tma_gmma_ss_warpspecialized.hpp>
#include <cutlass/gemm/kernel/sm90_gemm_tma_warpspecialized_cooperative.hpp>
#include <cutlass/gemm/kernel/sm90_gemm_tma_warpspecialized_pingpong.hpp>
#include <fictl/device/launch.cuh>
#include <limits>

namespace {{ project }}::{{ family }}::{{ name }}_kernel {

{% if project != "fictl" %}
namespace device = fictl::device;
{% endif %}
namespace collective = ::cutlass::gemm::collective;
namespace epilogue = ::cutlass::epilogue;

// A matrix with contiguous rows; the row stride (pitch) is in elements.
template <typename T>
struct Matrix {
  T* data;
  int64_t rows;
  int64_t cols;
  int64_t pitch;
};

// The name of T in CUTLASS.
template <typename T>
struct Named;
template <>
struct Named<__half> {
  using type = ::cutlass::half_t;
};
template <>
struct Named<__nv_bfloat16> {
  using type = ::cutlass::bfloat16_t;
};

struct Large {
  using Shape = cute::Shape<cute::_128, cute::_256, cute::_64>;
  using Cluster = cute::Shape<cute::_2, cute::_1, cute::_1>;
  using Schedule = ::cutlass::gemm::KernelTmaWarpSpecializedCooperative;
  using Store = epilogue::TmaWarpSpecializedCooperative;
};

struct Small {
  using Shape = cute::Shape<cute::_64, cute::_64, cute::_128>;
  using Cluster = cute::Shape<cute::_1, cute::_1, cute::_1>;
  using Schedule = ::cutlass::gemm::KernelTmaWarpSpecializedPingpong;
  using Store = epilogue::TmaWarpSpecialized;
};

template <typename T, typename Tile>
class Gemm {
  using Element = typename Named<T>::type;
  using RowMajor = ::cutlass::layout::RowMajor;
  using ColumnMajor = ::cutlass::layout::ColumnMajor;
  using Sm90 = ::cutlass::arch::Sm90;
  using TensorOp = ::cutlass::arch::OpClassTensorOp;
  static constexpr int kAlignment = 16 / sizeof(T);

  // The epilogue of a sum. For a bias, an activation or a residual use another one of
  // cutlass/epilogue/fusion/operations.hpp.
  using Fusion = epilogue::fusion::LinearCombination<Element, float, void, float>;

  using Epilogue = typename epilogue::collective::CollectiveBuilder<
      Sm90, TensorOp, typename Tile::Shape, typename Tile::Cluster,
      epilogue::collective::EpilogueTileAuto, float, float, void, RowMajor, kAlignment, Element,
      RowMajor, kAlignment, typename Tile::Store, Fusion>::CollectiveOp;

  using Stages = collective::StageCountAutoCarveout<static_cast<int>(
      sizeof(typename Epilogue::SharedStorage))>;
  using Mainloop = typename collective::CollectiveBuilder<
      Sm90, TensorOp, Element, RowMajor, kAlignment, Element, ColumnMajor, kAlignment, float,
      typename Tile::Shape, typename Tile::Cluster, Stages, typename Tile::Schedule>::CollectiveOp;

  using Problem = cute::Shape<int, int, int, int>;
  using Kernel = ::cutlass::gemm::kernel::GemmUniversal<Problem, Mainloop, Epilogue>;
  using Arguments = typename Kernel::Arguments;

 public:
  // a: [m][k], b: [n][k], out: [m][n], on `device` with `sm_count` multiprocessors.
  Gemm(const Matrix<const T>& a, const Matrix<const T>& b, const Matrix<T>& out, int device,
       int sm_count)
      : arguments_{::cutlass::gemm::GemmUniversalMode::kGemm,
                   {size(out.rows), size(out.cols), size(a.cols), 1},
                   {named(a.data), {a.pitch, {}, 0}, named(b.data), {b.pitch, {}, 0}},
                   {%+ raw %}{{1.0f, 0.0f}, nullptr, {}, named(out.data), {out.pitch, {}, 0}}}{% endraw %} {
    arguments_.hw_info.device_id = device;
    arguments_.hw_info.sm_count = sm_count;
  }

  // Bytes that run() needs beside the matrices.
  size_t workspace_bytes() const { return Kernel::get_workspace_size(arguments_); }

  cudaError_t run(void* workspace, cudaStream_t stream) const {
    const bool ready =
        Kernel::can_implement(arguments_) &&
        Kernel::initialize_workspace(arguments_, workspace, stream) == ::cutlass::Status::kSuccess;
    if (!ready) return cudaErrorInvalidValue;
    const auto params = Kernel::to_underlying_arguments(arguments_, workspace);
    device::LaunchConfig config;
    config.grid = Kernel::get_grid_shape(params);
    config.block = Kernel::get_block_shape();
    config.stream = stream;
    config.shared_bytes = Kernel::SharedStorageSize;
    config.cluster =
        dim3(cute::size<0>(typename Tile::Cluster()), cute::size<1>(typename Tile::Cluster()), 1);
    return device::launch<::cutlass::device_kernel<Kernel>>(config, params);
  }

 private:
  // Sizes that CUTLASS would truncate unnoticed become one that it refuses.
  static int size(int64_t of) {
    return of <= std::numeric_limits<int>::max() ? static_cast<int>(of) : -1;
  }

  static const Element* named(const T* data) { return reinterpret_cast<const Element*>(data); }
  static Element* named(T* data) { return reinterpret_cast<Element*>(data); }

  Arguments arguments_;
};

}  // namespace {{ project }}::{{ family }}::{{ name }}_kernel
