#include <binding/launch.h>
#include <binding/peers.h>

#include <fictl/comm/decode_cp_a2a.cuh>

namespace fictl::comm {

namespace {

CpSlices slices_of(View values, View stats) {
  const int64_t bytes = values.dtype().bits / 8;
  const auto start = reinterpret_cast<uintptr_t>(values.data<const char>());
  const bool aligned = start % kCpWordBytes == 0 && values.stride(0) * bytes % kCpWordBytes == 0 &&
                       values.stride(1) * bytes % kCpWordBytes == 0;
  return {values.data<const char>(),
          values.stride(0) * bytes,
          values.stride(1) * bytes,
          stats.data<const char>(),
          stats.stride(0) * 4,
          stats.stride(1) * 4,
          static_cast<int>(stats.size(2)),
          values.size(0),
          device::Divisor(static_cast<int>(values.size(2) * bytes / kCpWordBytes)),
          aligned};
}

}  // namespace

void decode_cp_a2a_alltoall(const Launch& launch, View out, View out_stats, View values, View stats,
                            View host_peers, bool enable_pdl) {
  CUDA_CHECK(launch, CpAlltoall(peers_of(launch, host_peers), slices_of(values, stats),
                                out.data<char>(), out_stats.data<float>(), peers_bytes(host_peers),
                                launch.stream, launch.pdl && enable_pdl));
}

void decode_cp_a2a_lse_reduce(const Launch& launch, View out, View values, View lse,
                              View host_peers, double log2_factor, bool enable_pdl) {
  DISPATCH_DTYPE(launch, values, T, (__half, __nv_bfloat16), {
    CUDA_CHECK(launch, CpReduce(peers_of(launch, host_peers), slices_of(values, lse), out.data<T>(),
                                static_cast<float>(log2_factor), peers_bytes(host_peers),
                                launch.stream, launch.pdl && enable_pdl));
  });
}

}  // namespace fictl::comm
