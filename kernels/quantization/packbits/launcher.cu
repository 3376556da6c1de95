#include <binding/launch.h>

#include <fictl/device/element.cuh>
#include <fictl/quantization/packbits.cuh>

namespace fictl::quantization {

void packbits(const Launch& launch, View out, View x, bool big, bool enable_pdl) {
  CUDA_CHECK(launch, PackBits(x.data<const bool>(), x.size(0), out.data<uint8_t>(), big,
                              launch.stream, launch.pdl && enable_pdl));
}

void segment_packbits(const Launch& launch, View out, View out_indptr, View x, View indptr,
                      bool big, bool enable_pdl) {
  DISPATCH_DTYPE(launch, indptr, Index, (int32_t, int64_t), {
    CUDA_CHECK(launch,
               SegmentPackBits(x.data<const bool>(), x.size(0), indptr.data<const Index>(),
                               indptr.size(0) - 1, out_indptr.data<int32_t>(), out.data<uint8_t>(),
                               out.size(0), big, launch.stream, launch.pdl && enable_pdl));
  });
}

}  // namespace fictl::quantization
