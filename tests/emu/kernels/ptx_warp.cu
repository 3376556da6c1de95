// What lanes do together: row r of `out` has what the threads got from the r-th instruction.
#include <cuda_runtime.h>

#include <cstdint>

__global__ void Lanes(const uint32_t* in, uint32_t* out) {
  const uint32_t all = 0xffffffff, value = in[threadIdx.x];
  uint32_t r, p;
  int row = 0;
  const auto put = [&](uint32_t x) { out[32 * row++ + threadIdx.x] = x; };
#define SHUFFLE(how, by, bounds)                              \
  asm volatile("{ .reg .pred p; shfl.sync." how               \
               ".b32 %0|p, %2, %3, %4, %5;"                   \
               "  selp.u32 %1, 1, 0, p; }"                    \
               : "=r"(r), "=r"(p)                             \
               : "r"(value), "r"(by), "r"(bounds), "r"(all)); \
  put(r), put(p)
  SHUFFLE("up", 3, 0x0000);
  SHUFFLE("down", 5, 0x001f);
  SHUFFLE("bfly", 9, 0x001f);
  SHUFFLE("idx", 2, 0x181f);
  SHUFFLE("down", 3, 0x181f);
#define VOTE(how)                                                      \
  asm volatile("{ .reg .pred p; setp.gt.u32 p, %1, 50; vote.sync." how \
               ".pred p, p, %2;"                                       \
               "  selp.u32 %0, 1, 0, p; }"                             \
               : "=r"(r)                                               \
               : "r"(value), "r"(all));                                \
  put(r)
  VOTE("all");
  VOTE("any");
  VOTE("uni");
  asm volatile("{ .reg .pred p; setp.gt.u32 p, %1, 50; vote.sync.ballot.b32 %0, !p, %2; }"
               : "=r"(r)
               : "r"(value), "r"(all));
  put(r);
  asm volatile("match.any.sync.b32 %0, %1, %2;" : "=r"(r) : "r"(value % 3), "r"(all));
  put(r);
  asm volatile("{ .reg .pred p; match.all.sync.b64 %0|p, %2, %3; selp.u32 %1, 1, 0, p; }"
               : "=r"(r), "=r"(p)
               : "l"(uint64_t{value} >> 20), "r"(all));
  put(r), put(p);
#define REDUCE(how)                                                                \
  asm volatile("redux.sync." how " %0, %1, %2;" : "=r"(r) : "r"(value), "r"(all)); \
  put(r)
  REDUCE("add.u32");
  REDUCE("min.s32");
  REDUCE("max.u32");
  REDUCE("xor.b32");
  // Of half the lanes.
  if (threadIdx.x % 2) {
    asm volatile("activemask.b32 %0;" : "=r"(r));
    put(r);
    asm volatile("redux.sync.add.s32 %0, %1, 0xaaaaaaaa;" : "=r"(r) : "r"(value));
    put(r);
  } else {
    put(0), put(0);
  }
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  asm volatile("{ .reg .pred p; elect.sync %0|p, %2; selp.u32 %1, 1, 0, p; }"
               : "=r"(r), "=r"(p)
               : "r"(all));
  put(r), put(p);
#endif
}

// Warp 0 gives, the others take; a barrier counts those with a large number.
__global__ void Barriers(const uint32_t* in, uint32_t* out) {
  __shared__ uint32_t given[32];
  if (threadIdx.x < 32) {
    given[threadIdx.x] = in[threadIdx.x];
    asm volatile("bar.warp.sync 0xffffffff;" ::: "memory");
    given[threadIdx.x] += given[31 - threadIdx.x] & 0;
    asm volatile("barrier.cta.arrive 2, 96;" ::: "memory");
  } else {
    asm volatile("bar.sync %0, %1;" ::"r"(2), "n"(96) : "memory");
    out[threadIdx.x] = given[threadIdx.x % 32];
  }
  asm volatile("barrier.sync 0;" ::: "memory");
  uint32_t count, all;
  asm volatile("{ .reg .pred p; setp.gt.u32 p, %1, 50; bar.red.popc.u32 %0, 0, p; }"
               : "=r"(count)
               : "r"(in[threadIdx.x % 32]));
  asm volatile(
      "{ .reg .pred p, q; setp.gt.u32 p, %1, 50; barrier.cta.red.and.aligned.pred q, 0, p;"
      "  selp.u32 %0, 1, 0, q; }"
      : "=r"(all)
      : "r"(in[threadIdx.x % 32]));
  if (threadIdx.x < 32) out[threadIdx.x] = count << 8 | all;
}

extern "C" int lanes(const uint32_t* in, uint32_t* out) {
  Lanes<<<1, 32>>>(in, out);
  return cudaDeviceSynchronize();
}
extern "C" int barriers(const uint32_t* in, uint32_t* out) {
  Barriers<<<1, 96>>>(in, out);
  return cudaDeviceSynchronize();
}
