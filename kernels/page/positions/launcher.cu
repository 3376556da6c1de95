#include <binding/launch.h>

#include <fictl/device/element.cuh>
#include <fictl/page/positions.cuh>

namespace fictl::page {

void get_batch_indices_positions(const Launch& launch, View batch_indices, View positions,
                                 View append_indptr, View seq_lens, bool enable_pdl) {
  DISPATCH_DTYPE(launch, append_indptr, Index, (int32_t, int64_t), {
    DISPATCH_DTYPE(launch, seq_lens, Length, (int32_t, int64_t), {
      CUDA_CHECK(launch, BatchIndicesPositions(
                             append_indptr.data<const Index>(), seq_lens.data<const Length>(),
                             static_cast<int>(seq_lens.size(0)), batch_indices.data<int32_t>(),
                             positions.data<int32_t>(), positions.size(0), launch.stream,
                             launch.pdl && enable_pdl));
    });
  });
}

void get_seq_lens(const Launch& launch, View out, View kv_indptr, View kv_last_page_len,
                  int64_t page_size, bool enable_pdl) {
  DISPATCH_DTYPE(launch, kv_indptr, Index, (int32_t, int64_t), {
    DISPATCH_DTYPE(launch, kv_last_page_len, Length, (int32_t, int64_t), {
      using Out = decltype(Index() + Length());
      CUDA_CHECK(launch, SeqLens(kv_indptr.data<const Index>(),
                                 kv_last_page_len.data<const Length>(), page_size, out.data<Out>(),
                                 out.size(0), launch.stream, launch.pdl && enable_pdl));
    });
  });
}

}  // namespace fictl::page
