// packbits: eight bools become the bits of a byte, as numpy.packbits makes them of an array, or of
// each segment of a ragged batch. What is missing of a last byte is 0.
//
// Algorithm: a product of four bools with a constant brings them side by side, so that a byte takes
// two multiplications. Where each packed segment starts is known only when all lengths before it
// are added up: one block does that, and another kernel packs.
//
// Traffic: a bool is read once, a bit written once. The limit is the memory's bandwidth.
//
// Tiling: a warp makes 128 adjacent bytes. If they belong to one segment, as nearly all are, a
// thread loads the eight bools of each of its four bytes before it packs the first: 32 bytes in
// flight a thread, 64 KiB on an SM. Segments are one row of bytes, shared out evenly whatever their
// lengths; a warp finds its own by bisection.
//
// Bools may start anywhere: eight of them that are not aligned are cut from the two words that hold
// them, which a warp reads from L1 the second time. Where several segments meet and at the ends of
// the array, where those words might go beyond it, bools are loaded one by one.
#pragma once

#include <fictl/device/launch.cuh>
#include <fictl/device/math.cuh>
#include <fictl/device/reduce.cuh>

namespace fictl::quantization {

constexpr int kPackBitsThreads = 256;
constexpr int kPackBitsBytes = 4;  // a thread
constexpr int kPackBitsWarpBytes = kPackBitsBytes * device::kWarpSize;

// Bools from that of a byte's first bit to the last one of its segment.
struct PackBitsSpan {
  int64_t start;
  int64_t end;
};

// The bits of eight bools, the first one highest where `big`, else lowest.
__device__ inline uint8_t packed_bits(uint64_t bools, bool big) {
  // Takes bit 8i to 28 + i; of those that it takes elsewhere, none meet.
  constexpr uint32_t kSideBySide = 0x10204080;
  const uint32_t first = static_cast<uint32_t>(bools) * kSideBySide >> 28;
  const uint32_t last = static_cast<uint32_t>(bools >> 32) * kSideBySide >> 28;
  const uint32_t bits = first | last << 4;
  return static_cast<uint8_t>(big ? __brev(bits) >> 24 : bits);
}

// Where the words of eight bytes that hold bools begin before these.
__device__ inline int packbits_shift(const bool* bools) {
  return static_cast<int>(reinterpret_cast<uintptr_t>(bools) % 8);
}

// A warp's bytes, whose bools begin at `from`. All words that hold them are there.
__device__ inline void pack_warp(const bool* from, uint8_t* to, bool big) {
  const int lane = threadIdx.x % device::kWarpSize;
  const int shift = packbits_shift(from);
  const uint64_t* words = reinterpret_cast<const uint64_t*>(from - shift) + lane;
  uint64_t low[kPackBitsBytes];
  uint64_t high[kPackBitsBytes];
#pragma unroll
  for (int i = 0; i < kPackBitsBytes; ++i) {
    low[i] = words[i * device::kWarpSize];
    high[i] = shift == 0 ? 0 : words[i * device::kWarpSize + 1];
  }
#pragma unroll
  for (int i = 0; i < kPackBitsBytes; ++i) {
    // In two steps, as a shift by 64 bits is none.
    const uint64_t bools = low[i] >> 8 * shift | high[i] << (63 - 8 * shift) << 1;
    to[i * device::kWarpSize + lane] = packed_bits(bools, big);
  }
}

// The first byte of the span.
__device__ inline uint8_t pack_byte(const bool* x, const PackBitsSpan& span, bool big) {
  uint64_t bools = 0;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    if (span.start + i < span.end) bools |= static_cast<uint64_t>(x[span.start + i]) << 8 * i;
  }
  return packed_bits(bools, big);
}

// True if all of a warp's bytes are in the span, and all words of their bools in x.
__device__ inline bool packs_warp(const bool* x, int64_t size, const PackBitsSpan& span) {
  const int shift = packbits_shift(x + span.start);
  const int64_t end = span.start + 8 * kPackBitsWarpBytes;
  return end <= span.end && span.start >= shift && end + (shift == 0 ? 0 : 8 - shift) <= size;
}

// An array is packed as one segment.
struct PackBitsArray {
  int64_t size;

  __device__ int64_t bytes() const { return device::ceil_div(size, 8); }
  __device__ PackBitsSpan span(int64_t byte) const { return {8 * byte, size}; }
};

// Segment i is from indptr[i] up to indptr[i + 1], its bytes from packed[i] up to packed[i + 1].
template <typename Index>
struct PackBitsSegments {
  const Index* indptr;
  const int32_t* packed;
  int64_t count;

  __device__ int64_t bytes() const { return packed[count]; }

  // The last segment that does not start after the byte.
  __device__ PackBitsSpan span(int64_t byte) const {
    int64_t segment = 0;
    for (int64_t end = count; end - segment > 1;) {
      const int64_t middle = (segment + end) / 2;
      (packed[middle] <= byte ? segment : end) = middle;
    }
    return {indptr[segment] + 8 * (byte - packed[segment]), indptr[segment + 1]};
  }
};

// Writes at most `room` bytes; bytes of no segment are left unchanged.
template <typename Segments>
__global__ void __launch_bounds__(kPackBitsThreads)
    PackBitsKernel(const bool* x, int64_t size, Segments segments, uint8_t* output, int64_t room,
                   bool big) {
  constexpr int kWarps = kPackBitsThreads / device::kWarpSize;
  const int64_t warp = static_cast<int64_t>(blockIdx.x) * kWarps + threadIdx.x / device::kWarpSize;
  const int64_t start = warp * kPackBitsWarpBytes;

  device::pdl_wait();
  device::pdl_trigger();
  const int64_t bytes = segments.bytes() < room ? segments.bytes() : room;
  if (start >= bytes) return;
  const PackBitsSpan span = segments.span(start);
  if (start + kPackBitsWarpBytes <= bytes && packs_warp(x, size, span)) {
    pack_warp(x + span.start, output + start, big);
    return;
  }
#pragma unroll 1
  for (int i = threadIdx.x % device::kWarpSize; i < kPackBitsWarpBytes; i += device::kWarpSize) {
    if (start + i < bytes) output[start + i] = pack_byte(x, segments.span(start + i), big);
  }
}

// The inclusive prefix sums of a warp's 32 numbers, one per lane.
__device__ inline int32_t warp_sum_up_to(int32_t x) {
  const int lane = threadIdx.x % device::kWarpSize;
#pragma unroll
  for (int distance = 1; distance < device::kWarpSize; distance *= 2) {
    const int32_t before = __shfl_up_sync(0xffffffff, x, distance);
    if (lane >= distance) x += before;
  }
  return x;
}

// packed[i]: the bytes of the segments before i. One block.
template <typename Index>
__global__ void __launch_bounds__(device::kMaxThreads)
    PackedIndptrKernel(const Index* indptr, int32_t* packed, int64_t segments) {
  constexpr int kWarps = device::kMaxThreads / device::kWarpSize;
  static_assert(kWarps == device::kWarpSize, "a warp adds up the sums of all");
  __shared__ int32_t of_warps[kWarps];
  const int lane = threadIdx.x % device::kWarpSize;
  const int warp = threadIdx.x / device::kWarpSize;

  device::pdl_wait();
  device::pdl_trigger();
  int32_t before = 0;
  if (threadIdx.x == 0) packed[0] = 0;
  for (int64_t first = 0; first < segments; first += device::kMaxThreads) {
    const int64_t at = first + threadIdx.x;
    const int64_t length = at < segments ? indptr[at + 1] - indptr[at] : 0;
    int32_t sum = warp_sum_up_to(static_cast<int32_t>(device::ceil_div(length, 8)));
    if (lane == device::kWarpSize - 1) of_warps[warp] = sum;
    __syncthreads();
    const int32_t up_to_warp = warp_sum_up_to(of_warps[lane]);
    sum += before + (warp == 0 ? 0 : __shfl_sync(0xffffffff, up_to_warp, warp - 1));
    before += __shfl_sync(0xffffffff, up_to_warp, kWarps - 1);
    if (at < segments) packed[at + 1] = sum;
    __syncthreads();
  }
}

inline device::LaunchConfig packbits_config(int64_t bytes, cudaStream_t stream, bool pdl) {
  device::LaunchConfig config;
  config.grid = dim3(device::ceil_div(bytes, kPackBitsBytes * kPackBitsThreads));
  config.block = dim3(kPackBitsThreads);
  config.stream = stream;
  config.pdl = pdl;
  return config;
}

// x: [size]. output: [ceil(size / 8)]. `pdl`: use programmatic dependent launch where the GPU
// supports it.
inline cudaError_t PackBits(const bool* x, int64_t size, uint8_t* output, bool big,
                            cudaStream_t stream = nullptr, bool pdl = false) {
  if (size == 0) return cudaSuccess;
  const int64_t bytes = device::ceil_div(size, 8);
  return device::launch<PackBitsKernel<PackBitsArray>>(packbits_config(bytes, stream, pdl), x, size,
                                                       PackBitsArray{size}, output, bytes, big);
}

// x: [size]; segment i is from indptr[i] up to indptr[i + 1]. packed: [segments + 1], where each
// starts in the output, which has room for so many bytes; with none of it, only packed is made.
template <typename Index>
cudaError_t SegmentPackBits(const bool* x, int64_t size, const Index* indptr, int64_t segments,
                            int32_t* packed, uint8_t* output, int64_t room, bool big,
                            cudaStream_t stream = nullptr, bool pdl = false) {
  device::LaunchConfig one_block = packbits_config(1, stream, pdl);
  one_block.block = dim3(device::kMaxThreads);
  const cudaError_t status =
      device::launch<PackedIndptrKernel<Index>>(one_block, indptr, packed, segments);
  if (status != cudaSuccess || room == 0 || segments == 0) return status;
  using Segments = PackBitsSegments<Index>;
  return device::launch<PackBitsKernel<Segments>>(packbits_config(room, stream, pdl), x, size,
                                                  Segments{indptr, packed, segments}, output, room,
                                                  big);
}

}  // namespace fictl::quantization
