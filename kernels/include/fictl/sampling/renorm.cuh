// Keeps the largest values of rows: as probabilities that add up to 1, or unchanged.
//
// Algorithm, tiling: see select.cuh. Then every block writes its tiles, with 0 or -inf for values
// that are not kept.
//
// Traffic: the row is read from memory once, from L2 twice, and written once.
#pragma once

#include <fictl/sampling/filter.cuh>
#include <fictl/sampling/select.cuh>

namespace fictl::sampling {

// Writes a lane's values where TiledRow reads them.
template <typename T>
struct TiledOutput {
  T* data;
  int size;
  bool aligned;

  __device__ void store(int tile, const LaneTile& lane) const {
    const int start = tile * kTile;
    T* to = data + start;
    if (aligned && start + kTile <= size) {
#pragma unroll
      for (int part = 0; part < kTileParts; ++part) {
        device::Vec<T, kTileVec> vec;
#pragma unroll
        for (int i = 0; i < kTileVec; ++i) {
          vec[i] = device::Element<T>::from_float(lane.x[part * kTileVec + i]);
        }
        device::store_l2(to + LaneTile::offset(part * kTileVec), vec);
      }
      return;
    }
#pragma unroll
    for (int i = 0; i < kLaneValues; ++i) {
      const int at = LaneTile::offset(i);
      if (start + at < size) to[at] = device::Element<T>::from_float(lane.x[i]);
    }
  }
};

template <typename T, typename U>
struct Renormed {
  Rows<T> from;
  U* to;
  int64_t pitch;
  bool aligned;

  __device__ TiledOutput<U> output(int64_t row) const {
    return {to + row * pitch, from.size, aligned};
  }
};

// Writes weights, whose sum becomes 1.
template <typename T, typename U>
__global__ void __launch_bounds__(kThreads) RenormKernel(Renormed<T, U> rows, Filter filter) {
  FICTL_KERNEL("renorm");
  extern __shared__ __align__(16) unsigned char shared[];
  SelectStorage& storage = *reinterpret_cast<SelectStorage*>(shared);
  const int64_t row = blockIdx.x / device::Cluster::size();
  device::pdl_wait();
  device::pdl_trigger();
  RowSelect<T, WeightKey, true> select(rows.from[row], storage, fictl_profiler);
  select.count();
  select.select({filter.k_of(row), Filter::mass(filter.p_of(row))}, true);
  const Kept kept = select.kept(true);
  const float factor = kept.total > 0.0f ? 1.0f / kept.total : 0.0f;
  const TiledOutput<U> to = rows.output(row);
  select.each_tile([&](int tile, LaneTile lane) {
#pragma unroll
    for (int i = 0; i < kLaneValues; ++i) {
      lane.x[i] = WeightKey::of(lane.x[i]) >= kept.threshold ? lane.x[i] * factor : 0.0f;
    }
    to.store(tile, lane);
  });
}

template <typename T>
__global__ void __launch_bounds__(kThreads) MaskKernel(Renormed<T, T> rows, Filter filter) {
  FICTL_KERNEL("mask");
  extern __shared__ __align__(16) unsigned char shared[];
  SelectStorage& storage = *reinterpret_cast<SelectStorage*>(shared);
  const int64_t row = blockIdx.x / device::Cluster::size();
  device::pdl_wait();
  device::pdl_trigger();
  RowSelect<T, NumberKey, false> select(rows.from[row], storage, fictl_profiler);
  select.count();
  select.select({filter.k_of(row), INFINITY}, false);
  const uint32_t threshold = select.kept(false).threshold;
  const TiledOutput<T> to = rows.output(row);
  select.each_tile([&](int tile, LaneTile lane) {
#pragma unroll
    for (int i = 0; i < kLaneValues; ++i) {
      if (NumberKey::of(lane.x[i]) < threshold) lane.x[i] = -INFINITY;
    }
    to.store(tile, lane);
  });
}

template <auto kernel, typename T, typename U>
cudaError_t LaunchRows(const Renormed<T, U>& rows, const Filter& filter, int sm_count,
                       cudaStream_t stream, bool pdl) {
  if (rows.from.count == 0) return cudaSuccess;
  return device::launch<kernel>(
      select_config<kernel>(rows.from.count, rows.from.size, sm_count, stream, pdl), rows, filter);
}

template <typename T, typename U>
cudaError_t Renorm(const Renormed<T, U>& rows, const Filter& filter, int sm_count,
                   cudaStream_t stream, bool pdl) {
  return LaunchRows<RenormKernel<T, U>>(rows, filter, sm_count, stream, pdl);
}

template <typename T>
cudaError_t MaskBelow(const Renormed<T, T>& rows, const Filter& filter, int sm_count,
                      cudaStream_t stream, bool pdl) {
  return LaunchRows<MaskKernel<T>>(rows, filter, sm_count, stream, pdl);
}

}  // namespace fictl::sampling
