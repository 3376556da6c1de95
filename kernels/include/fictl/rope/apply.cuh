// rope: the first rotary_dim values of every head of q and k, rotated pair by pair by the angles of
// their token's position, in fp32 and rounded once. What is beyond rotary_dim is copied, or left
// alone where the outputs are the inputs.
//
// Algorithm: a token's threads ask for its heads, compute the token's angles while those are on
// their way, each angle once, share them, and rotate. However many heads there are, a token costs
// rotary_dim / 2 sines and cosines.
//
// Traffic: every value is read once and written once; positions and tables of cosines are a few per
// cent. The limit is the memory's bandwidth.
//
// Tiling: a slot is two vectors of 16 bytes of a head, one in each half of the rotated values. For
// pairs across the halves, these vectors hold the partners of each other. For pairs of adjacent
// elements, each vector holds whole pairs. In both layouts adjacent threads read contiguous
// vectors; only the choice of the angles differs. Threads walk over the slots of all heads, of q
// then k, so that no lane idles whatever the head's size. A thread takes several slots, loads
// first.
//
// Slots a thread: two. That is 64 bytes in flight a thread, and 640 such threads per SM cover the
// latency of HBM. With 32 + 8 heads of 128 values of 16 bits a token is a block of five warps.
// Little waits at its barrier, and other blocks load meanwhile. 16384 such tokens take 83 us in
// place on an H200, and 100 us with one slot a thread. With a table, its row comes after the
// token's position. A block then lives longer, and more blocks must be resident: five slots, which
// make blocks of two warps, take 88 us where two slots take 98. Few tokens are spread over more
// threads, of one slot.
//
// Where a pointer, a pitch or a half is not aligned to 16 bytes, a vector is one element.
//
// The outputs may be the inputs: the thread that writes an element is the one that has read it.
#pragma once

#include <type_traits>

#include <fictl/device/convert.cuh>
#include <fictl/device/divisor.cuh>
#include <fictl/device/launch.cuh>
#include <fictl/device/math.cuh>
#include <fictl/device/reduce.cuh>
#include <fictl/device/vec.cuh>
#include <fictl/rope/frequency.cuh>
#include <fictl/rope/position.cuh>
#include <fictl/rope/rotate.cuh>

namespace fictl::rope {

constexpr int kMaxPairs = 256;
constexpr int kApplyTokens = 2;          // a block, at most
constexpr int kApplyThreads = 512;       // a block, at most
constexpr int kApplyFewSlots = 1 << 17;  // of all tokens, up to which a thread has one

// The slots that a thread takes at a time.
template <int N, typename Angles>
constexpr int kApplySlots = N > 1 && std::is_same_v<Angles, CosSinTable> ? 5 : 2;

// Strides in elements.
struct HeadsPitch {
  int64_t token;
  int64_t head;
};

// The heads of q, or those of k, in memory.
template <typename T>
struct Heads {
  const T* input;
  T* output;
  int count;
  HeadsPitch input_pitch;
  HeadsPitch output_pitch;

  bool in_place() const {
    return input == output && input_pitch.token == output_pitch.token &&
           input_pitch.head == output_pitch.head;
  }
};

template <typename T>
struct QueriesAndKeys {
  Heads<T> of[2];

  __host__ __device__ int count() const { return of[0].count + of[1].count; }
  bool in_place() const { return of[0].in_place() && of[1].in_place(); }
};

struct ApplyShape {
  int64_t tokens;
  int head_dim;
  int rotary_dim;
  bool interleaved;
};

// The slots of a head, and the way of a token's threads over those of all heads.
struct ApplyWalk {
  int rotated;               // slots of a head that are rotated; those after them are copied
  device::Divisor per_head;  // slots of a head
  // In elements: from a slot that is rotated to the next, and from a slot's first vector to its
  // second, of one that is rotated and one that is copied.
  int pitch;
  int partner;
  int copied_partner;
  device::Divisor::Result step;  // heads, and slots beyond, from a thread's slot to its next
};

// One slot: the head, of q's then k's, and the number within it.
struct ApplySlot {
  int head;
  int slot;

  __device__ explicit ApplySlot(device::Divisor::Result found)
      : head(found.quotient), slot(found.remainder) {}

  __device__ void advance(const ApplyWalk& walk) {
    head += walk.step.quotient;
    slot += walk.step.remainder;
    if (slot < walk.per_head.divisor()) return;
    slot -= walk.per_head.divisor();
    ++head;
  }
};

// cos and sin of one token's pairs.
struct ApplyAngles {
  alignas(device::kVecBytes) float cos[kMaxPairs];
  alignas(device::kVecBytes) float sin[kMaxPairs];
};

// A thread's slots of one token, which has `heads` heads.
template <typename T, int N, int kSlots>
class ApplyPart {
 public:
  __device__ ApplyPart(const QueriesAndKeys<T>& x, const ApplyShape& shape, const ApplyWalk& walk,
                       int64_t token, int heads)
      : x_(x), shape_(shape), walk_(walk), token_(token), heads_(heads) {}

  __device__ void load(ApplySlot slot) {
    each(slot, [&](int i, const Heads<T>& of, int head, int first, int second) {
      const T* from = of.input + token_ * of.input_pitch.token + head * of.input_pitch.head;
      vecs_[i][0] = device::load_l2<N>(from + first);
      if (second < shape_.head_dim) vecs_[i][1] = device::load_l2<N>(from + second);
    });
  }

  // Returns where the walk continues.
  __device__ ApplySlot store(ApplySlot slot, const ApplyAngles& angles) {
    each(slot, [&](int i, const Heads<T>& of, int head, int first, int second) {
      device::keep_packed(vecs_[i][0]);
      device::keep_packed(vecs_[i][1]);
      if (slot.slot < walk_.rotated) rotate(vecs_[i], first, angles);
      T* to = of.output + token_ * of.output_pitch.token + head * of.output_pitch.head;
      device::store_l2(to + first, vecs_[i][0]);
      if (second < shape_.head_dim) device::store_l2(to + second, vecs_[i][1]);
    });
    return slot;
  }

 private:
  using Vec = device::Vec<T, N>;

  // For those slots that there are: body(i, q or k, its head, starts of slot i's two vectors).
  template <typename Body>
  __device__ void each(ApplySlot& slot, Body body) {
#pragma unroll
    for (int i = 0; i < kSlots; ++i, slot.advance(walk_)) {
      if (slot.head >= heads_) continue;
      const bool of_k = slot.head >= x_.of[0].count;
      const int copied = slot.slot - walk_.rotated;
      const int first = copied < 0 ? slot.slot * walk_.pitch : shape_.rotary_dim + copied * N;
      const int second = first + (copied < 0 ? walk_.partner : walk_.copied_partner);
      body(i, x_.of[of_k], slot.head - (of_k ? x_.of[0].count : 0), first, second);
    }
  }

  __device__ void rotate(Vec (&vecs)[2], int first, const ApplyAngles& angles) {
    float x[2][N], cos[N], sin[N];
    device::to_float(vecs[0], x[0]);
    device::to_float(vecs[1], x[1]);
    read(angles.cos, first, cos);
    read(angles.sin, first, sin);
    if (shape_.interleaved) {
      rotate_interleaved<N>(reinterpret_cast<float (&)[2 * N]>(x), cos, sin);
    } else {
      rotate_halves(x[0], x[1], cos, sin);
    }
    vecs[0] = device::from_float<T>(x[0]);
    vecs[1] = device::from_float<T>(x[1]);
  }

  // Reads cos or sin for the pairs of a slot that starts at value `first`: N contiguous ones, or,
  // where pairs are interleaved, N / 2 of either half.
  __device__ void read(const float* of_pairs, int first, float (&values)[N]) const {
    constexpr int kPart = N == 1 ? 1 : N / 2;
    const int start = shape_.interleaved ? first / 2 : first;
    const int next = shape_.interleaved ? start + shape_.rotary_dim / 4 : start + kPart;
#pragma unroll
    for (int i = 0; i < N / kPart; ++i) {
      const auto* from =
          reinterpret_cast<const device::Vec<float, kPart>*>(of_pairs + (i == 0 ? start : next));
      const device::Vec<float, kPart> part = *from;
#pragma unroll
      for (int j = 0; j < kPart; ++j) values[i * kPart + j] = part.data[j];
    }
  }

  const QueriesAndKeys<T>& x_;
  const ApplyShape& shape_;
  const ApplyWalk& walk_;
  int64_t token_;
  int heads_;  // 0 where there is no such token
  Vec vecs_[kSlots][2];
};

// blockDim.y tokens a block, of blockDim.x threads each, which are whole warps. Pointers, pitches,
// halves and head_dim are multiples of N.
template <typename T, int N, typename Positions, typename Angles>
__global__ void __launch_bounds__(kApplyThreads)
    ApplyKernel(const __grid_constant__ QueriesAndKeys<T> x,
                const __grid_constant__ ApplyShape shape, const __grid_constant__ ApplyWalk walk,
                const Positions positions, const __grid_constant__ Angles angles) {
  __shared__ ApplyAngles shared[kApplyTokens];
  ApplyAngles& mine = shared[threadIdx.y];
  const int64_t token = static_cast<int64_t>(blockIdx.x) * blockDim.y + threadIdx.y;
  // Why not return beyond the last token: the block's others wait for these threads.
  const int heads = token < shape.tokens ? x.count() : 0;
  ApplyPart<T, N, kApplySlots<N, Angles>> part(x, shape, walk, token, heads);
  ApplySlot slot(walk.per_head.divide(threadIdx.x));

  device::pdl_wait();
  device::pdl_trigger();
  bool placed = false;
  bool angles_known = false;
  do {
    part.load(slot);
    if (!angles_known) {
      int position;
      placed = heads > 0 && positions(token, position);
      for (int pair = threadIdx.x; placed && pair < shape.rotary_dim / 2; pair += blockDim.x) {
        const float2 angle = angles(position, pair);
        mine.cos[pair] = angle.x;
        mine.sin[pair] = angle.y;
      }
      __syncthreads();
      angles_known = true;
    }
    if (!placed) return;
    slot = part.store(slot, mine);
  } while (slot.head < heads);
}

template <int N, typename T>
bool multiples_of(const Heads<T>& heads) {
  return device::vec_aligned(heads.input) && device::vec_aligned(heads.output) &&
         heads.input_pitch.token % N == 0 && heads.input_pitch.head % N == 0 &&
         heads.output_pitch.token % N == 0 && heads.output_pitch.head % N == 0;
}

// `copied` slots of a head are not rotated.
template <int N>
ApplyWalk walk_of(const ApplyShape& shape, int copied, device::Divisor per_head, int threads) {
  const bool neighbours = N == 1 && shape.interleaved;
  return {per_head.divisor() - copied,           per_head,   neighbours ? 2 : N,
          neighbours ? 1 : shape.rotary_dim / 2, copied * N, per_head.divide(threads)};
}

template <typename T, int N, typename Positions, typename Angles>
cudaError_t LaunchApply(device::LaunchConfig config, const QueriesAndKeys<T>& x,
                        const ApplyShape& shape, const Positions& positions, const Angles& angles) {
  const int beyond = x.in_place() ? 0 : shape.head_dim - shape.rotary_dim;
  const auto copied = static_cast<int>(device::ceil_div(beyond, 2 * N));
  const int per_head = shape.rotary_dim / (2 * N) + copied;
  const int64_t slots = static_cast<int64_t>(per_head) * x.count();
  if (slots == 0) return cudaSuccess;

  const int slots_a_thread = slots * shape.tokens <= kApplyFewSlots ? 1 : kApplySlots<N, Angles>;
  const int64_t warps = device::ceil_div(slots, slots_a_thread * device::kWarpSize);
  const int64_t threads = warps * device::kWarpSize;
  config.block.x = threads < kApplyThreads ? threads : kApplyThreads;
  config.block.y = warps == 1 ? kApplyTokens : 1;
  config.grid = dim3(device::ceil_div(shape.tokens, config.block.y));
  const ApplyWalk walk = walk_of<N>(shape, copied, device::Divisor(per_head), config.block.x);
  return device::launch<ApplyKernel<T, N, Positions, Angles>>(config, x, shape, walk, positions,
                                                              angles);
}

// positions(token, position) sets a token's position and returns whether it has one: rows of tokens
// without one are left unchanged. angles(position, pair) are a pair's (cos, sin). `pdl`: use
// programmatic dependent launch where the GPU supports it.
template <typename T, typename Positions, typename Angles>
cudaError_t Apply(const QueriesAndKeys<T>& x, const ApplyShape& shape, const Positions& positions,
                  const Angles& angles, cudaStream_t stream = nullptr, bool pdl = false) {
  if (shape.tokens == 0) return cudaSuccess;
  constexpr int N = device::kVecBytes / sizeof(T);

  device::LaunchConfig config;
  config.stream = stream;
  config.pdl = pdl;
  if (multiples_of<N>(x.of[0]) && multiples_of<N>(x.of[1]) && shape.head_dim % N == 0 &&
      shape.rotary_dim % (2 * N) == 0) {
    return LaunchApply<T, N>(config, x, shape, positions, angles);
  }
  return LaunchApply<T, 1>(config, x, shape, positions, angles);
}

}  // namespace fictl::rope
