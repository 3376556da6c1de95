#include <binding/launch.h>

#include <planted/planted/faults.cuh>

namespace planted::planted {

namespace {

template <typename Kernel, typename... Scratch>
void run(const fictl::Launch& launch, fictl::View out, fictl::View input, Kernel kernel,
         Scratch... scratch) {
  const int64_t n = input.numel();
  if (n == 0) return;
  const unsigned blocks = static_cast<unsigned>((n + kThreads) / kThreads);
  kernel<<<blocks, kThreads, 0, launch.stream>>>(out.data<float>(), input.data<const float>(),
                                                 scratch..., n);
  CUDA_CHECK(launch, cudaGetLastError());
}

}  // namespace

void out_of_bounds(const fictl::Launch& launch, fictl::View out, fictl::View input) {
  run(launch, out, input, OutOfBoundsKernel);
}

void shared_race(const fictl::Launch& launch, fictl::View out, fictl::View input) {
  run(launch, out, input, SharedRaceKernel);
}

void unwritten(const fictl::Launch& launch, fictl::View out, fictl::View input,
               fictl::View scratch) {
  run(launch, out, input, UnwrittenKernel, scratch.data<const float>());
}

void lost_threads(const fictl::Launch& launch, fictl::View out, fictl::View input) {
  run(launch, out, input, LostThreadsKernel);
}

void spilling(const fictl::Launch& launch, fictl::View out, fictl::View input) {
  run(launch, out, input, SpillingKernel);
}

void local_array(const fictl::Launch& launch, fictl::View out, fictl::View input) {
  run(launch, out, input, LocalArrayKernel);
}

}  // namespace planted::planted
