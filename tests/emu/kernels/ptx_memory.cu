// Loads, stores, atomics, cp.async, and how threads leave: what the test compares is in `out`.
#include <cuda_runtime.h>

#include <cstdint>

__device__ uint32_t shared_address(const void* pointer) {
  uint64_t address;
  asm("cvta.to.shared.u64 %0, %1;" : "=l"(address) : "l"(pointer));
  return static_cast<uint32_t>(address);
}

// Every form of load takes its share of `in`, every form of store puts it where it was in `out`.
__global__ void Loads(const uint8_t* in, uint8_t* out) {
  __shared__ alignas(16) uint8_t staged[64];
  if (threadIdx.x == 0) {
    for (int i = 0; i < 64; ++i) staged[i] = 0;
    const uint32_t to = shared_address(staged);
    uint32_t a, b, c, d;
    uint64_t x, y;
    uint16_t h, k;
    asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                 : "l"(in));
    asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(a), "r"(b), "r"(c),
                 "r"(d)
                 : "memory");
    asm volatile("ld.global.nc.L1::no_allocate.L2::128B.v2.b64 {%0, %1}, [%2 + 16];"
                 : "=l"(x), "=l"(y)
                 : "l"(in));
    asm volatile("st.shared::cta.v2.u64 [%0+16], {%1, %2};" ::"r"(to), "l"(x), "l"(y) : "memory");
    asm volatile("ld.volatile.global.u16 %0, [%1 + 32];" : "=h"(h) : "l"(in));
    asm volatile("ld.relaxed.gpu.global.b16 %0, [%1 + 34];" : "=h"(k) : "l"(in));
    asm volatile("st.volatile.shared.u16 [%0 + 32], %1;" ::"r"(to), "h"(h) : "memory");
    asm volatile("st.relaxed.cta.shared.u16 [%0 + %2], %1;" ::"r"(to), "h"(k), "n"(34) : "memory");
    asm volatile("ld.acquire.sys.u32 %0, [%1 + 36];" : "=r"(a) : "l"(in));
    asm volatile("st.release.gpu.u32 [%0], %1;" ::"l"(staged + 36), "r"(a) : "memory");
    asm volatile("ld.global.cg.u8 %0, [%1 + 40];" : "=r"(b) : "l"(in));
    asm volatile("st.shared.u8 [%0 + 40], %1;" ::"r"(to), "r"(b) : "memory");
    asm volatile("ld.global.s8 %0, [%1 + 41];" : "=r"(c) : "l"(in));
    asm volatile("st.shared.u32 [%0 + 44], %1;" ::"r"(to), "r"(c) : "memory");
    float f;
    asm volatile("ld.global.f32 %0, [%1 + 48];" : "=f"(f) : "l"(in));
    asm volatile("{ .reg .u64 g; cvta.shared.u64 g, %0; st.f32 [g + 48], %1; }" ::"l"(uint64_t{to}),
                 "f"(f)
                 : "memory");
  }
  __syncthreads();
  const uint32_t at = shared_address(staged) + 4 * threadIdx.x;
  uint32_t word;
  asm volatile("ld.shared.b32 %0, [%1];" : "=r"(word) : "r"(at));
  asm volatile("st.global.cs.b32 [%0], %1;" ::"l"(out + 4 * threadIdx.x), "r"(word) : "memory");
}

// Counters that all threads change at once.
__global__ void Atomics(uint32_t* words, uint64_t* longs, float* floats, double* doubles,
                        uint32_t* pairs) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  uint32_t old;
  asm volatile("atom.global.add.u32 %0, [%1], 2;" : "=r"(old) : "l"(words) : "memory");
  asm volatile("red.global.max.s32 [%0], %1;" ::"l"(words + 1), "r"(int(i) - 40) : "memory");
  asm volatile("red.relaxed.gpu.global.min.u32 [%0 + 8], %1;" ::"l"(words), "r"(i) : "memory");
  asm volatile("red.global.or.b32 [%0], %1;" ::"l"(words + 3), "r"(1u << i % 32) : "memory");
  asm volatile("red.global.xor.b32 [%0], %1;" ::"l"(words + 4), "r"(i) : "memory");
  asm volatile("red.global.and.b32 [%0], %1;" ::"l"(words + 5), "r"(~(1u << i % 8)) : "memory");
  asm volatile("atom.global.inc.u32 %0, [%1], 4;" : "=r"(old) : "l"(words + 6) : "memory");
  asm volatile("red.global.dec.u32 [%0], 4;" ::"l"(words + 7) : "memory");
  asm volatile("red.add.u64 [%0], %1;" ::"l"(longs), "l"(uint64_t{i} << 32) : "memory");
  asm volatile("red.global.add.f32 [%0], %1;" ::"l"(floats), "f"(0.5f * i) : "memory");
  asm volatile("red.global.add.f64 [%0], %1;" ::"l"(doubles), "d"(0.25 * i) : "memory");
  asm volatile("red.global.add.noftz.f16x2 [%0], %1;" ::"l"(pairs), "r"(0x3c004000) : "memory");
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  asm volatile("red.global.add.noftz.bf16x2 [%0], %1;" ::"l"(pairs + 1), "r"(0x3f804000)
               : "memory");
  asm volatile("red.global.add.v2.f32 [%0], {%1, %2};" ::"l"(floats + 2), "f"(1.f), "f"(2.f)
               : "memory");
#endif
  // A lock around a count that is no atomic.
  bool done = false;
  while (!done) {
    asm volatile("atom.acquire.gpu.global.cas.b32 %0, [%1], 0, 1;"
                 : "=r"(old)
                 : "l"(words + 8)
                 : "memory");
    if (old == 0) {
      words[9] += 1;
      __threadfence();
      asm volatile("atom.release.gpu.global.exch.b32 %0, [%1], 0;"
                   : "=r"(old)
                   : "l"(words + 8)
                   : "memory");
      done = true;
    }
  }
}

// Three copies in two groups; of the last 16 bytes only 4 are read, and one copy reads nothing.
__global__ void Copies(const uint32_t* in, uint32_t* out) {
  __shared__ alignas(16) uint32_t staged[32];
  if (threadIdx.x == 0) {
    const uint32_t to = shared_address(staged);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(in) : "memory");
    asm volatile("cp.async.ca.shared.global.L2::128B [%0 + 8], [%1], 8;" ::"r"(to), "l"(in + 2)
                 : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to + 16), "l"(in + 4), "r"(4)
                 : "memory");
    asm volatile(
        "{ .reg .pred skip; setp.ne.u32 skip, %2, 0;"
        "  cp.async.cg.shared.global [%0 + 32], [%1], 16, skip; }" ::"r"(to),
        "l"(in + 8), "r"(1)
        : "memory");
    asm volatile(
        "{ .reg .b64 policy; createpolicy.fractional.L2::evict_first.b64 policy;"
        "  cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, policy; }" ::"r"(to + 48),
        "l"(in + 12)
        : "memory");
    asm volatile("cp.async.commit_group;\n" ::: "memory");
    asm volatile("cp.async.wait_group %0;" ::"n"(1) : "memory");
    out[0] = staged[0], out[2] = staged[2], out[3] = staged[3];
    asm volatile("cp.async.wait_all;" ::: "memory");
    for (int i = 4; i < 16; ++i) out[i] = staged[i];
  }
}

// Block 1 waits for block 0, by a loop inside of the asm statement and by one around it.
__global__ void Flags(uint32_t* flags, uint32_t* out) {
  if (blockIdx.x == 0) {
    out[0] = 17;
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
    asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(flags) : "memory");
  } else {
    uint32_t seen;
    do {
      asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(flags) : "memory");
    } while (seen == 0);
    asm volatile(
        "{\n"
        "  .reg .pred set;\n"
        "  .reg .u32 word;\n"
        "WAIT:  // until it is there\n"
        "  ld.relaxed.gpu.global.u32 word, [%0];\n"
        "  setp.ne.u32 set, word, 0;\n"
        "  @set bra.uni DONE;\n"
        "  nanosleep.u32 20;\n"
        "  bra.uni WAIT;\n"
        "DONE:\n"
        "}\n" ::"l"(flags)
        : "memory");
    out[1] = out[0] + 1;
  }
}

// Threads that leave in the middle, and what spaces addresses are in.
__global__ void Leaving(uint32_t* out) {
  __shared__ uint32_t here;
  uint32_t is_shared, is_global;
  asm("{ .reg .pred p; isspacep.shared p, %1; selp.u32 %0, 1, 0, p; }"
      : "=r"(is_shared)
      : "l"(&here));
  asm("{ .reg .pred p; isspacep.global p, %1; selp.u32 %0, 1, 0, p; }"
      : "=r"(is_global)
      : "l"(out));
  uint32_t lane, block, blocks, below;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  asm("mov.u32 %0, %%ctaid.x;" : "=r"(block));
  asm("mov.u32 %0, %%nctaid.x;" : "=r"(blocks));
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(below));
  if (lane % 2) asm volatile("exit;");
  out[block * blockDim.x + lane] = is_shared | is_global << 1 | blocks << 8 | below << 16;
}

extern "C" {
int loads(const uint8_t* in, uint8_t* out) {
  Loads<<<1, 16>>>(in, out);
  return cudaDeviceSynchronize();
}
int atomics(int blocks, int threads, uint32_t* words, uint64_t* longs, float* floats,
            double* doubles, uint32_t* pairs) {
  Atomics<<<blocks, threads>>>(words, longs, floats, doubles, pairs);
  return cudaDeviceSynchronize();
}
int copies(const uint32_t* in, uint32_t* out) {
  Copies<<<1, 32>>>(in, out);
  return cudaDeviceSynchronize();
}
int flags(uint32_t* flags, uint32_t* out) {
  Flags<<<2, 1>>>(flags, out);
  return cudaDeviceSynchronize();
}
int leaving(uint32_t* out) {
  Leaving<<<2, 32>>>(out);
  return cudaDeviceSynchronize();
}
}
