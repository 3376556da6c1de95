#include <binding/sampled_rows.h>

#include <fictl/sampling/softmax.cuh>

namespace fictl::sampling {

namespace {

int shared_bytes(const Launch& launch) {
  int bytes = 0;
  CUDA_CHECK(launch, cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin,
                                            launch.device));
  return bytes;
}

}  // namespace

void softmax(const Launch& launch, View out, View logits, const View* temperatures,
             double temperature, bool enable_pdl) {
  const int64_t pitch = WRITTEN_ROW_PITCH(launch, out);
  Temperature scale;
  scale.of_all = static_cast<float>(temperature);
  if (temperatures != nullptr) scale.of_rows = temperatures->data<const float>();
  DISPATCH_DTYPE(launch, logits, T, (__half, __nv_bfloat16, float), {
    auto from = sampled_rows<Rows<T>, T>(launch, "logits", logits, kMostElements);
    float* to = out.data<float>();
    from.aligned = from.aligned && device::vec_aligned(to) && pitch % kTileVec == 0;
    CUDA_CHECK(launch, Softmax(SoftmaxTensors<T>{from, to, pitch, scale}, launch.sm_count,
                               shared_bytes(launch), launch.stream, launch.pdl && enable_pdl));
  });
}

}  // namespace fictl::sampling
