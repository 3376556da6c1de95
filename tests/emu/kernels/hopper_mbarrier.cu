// mbarriers by themselves, in the spellings of the PTX manual, CUTLASS and DeepGEMM.
#include <cuda_runtime.h>
#include <stdint.h>

namespace {

__device__ inline uint32_t at(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

__device__ inline void init(uint64_t& barrier, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at(&barrier)), "r"(count)
               : "memory");
}

__device__ inline void ready() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
}

__device__ inline void arrive(uint64_t& barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at(&barrier)) : "memory");
}

// As CUTLASS writes it.
__device__ inline void wait(uint64_t& barrier, uint32_t parity) {
  asm volatile(
      "{\n"
      ".reg .pred       P1;\n"
      "LAB_WAIT: \n"
      "mbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1, %2;\n"
      "@P1 bra DONE;\n"
      "bra     LAB_WAIT;\n"
      "DONE: \n"
      "}" ::"r"(at(&barrier)),
      "r"(parity), "r"(0x989680)
      : "memory");
}

// As DeepGEMM and others write it, in a template and with labels of their own.
template <int kUnused>
__device__ inline void wait_uniformly(uint64_t& barrier, uint32_t parity) {
  asm volatile(
      "{\n\t"
      ".reg .pred P1;\n\t"
      "LAB_WAIT_%=: \n\t"
      "mbarrier.test_wait.parity.shared.b64 P1, [%0], %1;\n\t"
      "@P1 bra.uni DONE_%=;\n\t"
      "bra.uni LAB_WAIT_%=;\n\t"
      "DONE_%=: \n\t"
      "}" ::"r"(at(&barrier)),
      "r"(parity)
      : "memory");
}

__device__ inline uint32_t peek(uint64_t& barrier, uint32_t parity) {
  uint32_t is_over;
  asm volatile(
      "{ .reg .pred p; mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 p, [%1], %2; "
      "selp.u32 %0, 1, 0, p; }"
      : "=r"(is_over)
      : "r"(at(&barrier)), "r"(parity)
      : "memory");
  return is_over;
}

// ---- correct ----

// One thread writes slots, 64 read them: a ring of n stages for 9 rounds.
__global__ void Ring(int* out, int n) {
  __shared__ uint64_t full[3], empty[3];
  __shared__ int slots[3];
  if (threadIdx.x == 0) {
    for (int i = 0; i < n; ++i) init(full[i], 1), init(empty[i], 64);
  }
  ready();
  int sum = 0;
  for (int k = 0, stage = 0, parity = 0; k < 9; ++k) {
    if (threadIdx.x == 64) {
      wait(empty[stage], parity ^ 1);
      slots[stage] = 1 << k;
      arrive(full[stage]);
    } else if (threadIdx.x < 64) {
      threadIdx.x < 32 ? wait(full[stage], parity) : wait_uniformly<1>(full[stage], parity);
      sum += slots[stage];
      arrive(empty[stage]);
    }
    if (++stage == n) stage = 0, parity ^= 1;
  }
  if (threadIdx.x < 64) out[threadIdx.x] = sum;
}

// Generic addresses, states instead of parities, several arrivals at once.
__global__ void States(int* out, int) {
  __shared__ uint64_t barrier;
  __shared__ int cells[32];
  if (threadIdx.x == 0) asm volatile("mbarrier.init.b64 [%0], 64;" ::"l"(&barrier) : "memory");
  ready();
  cells[threadIdx.x] = threadIdx.x;
  uint64_t state;
  asm volatile("mbarrier.arrive.release.cta.b64 %0, [%1], 2;"
               : "=l"(state)
               : "l"(&barrier)
               : "memory");
  uint32_t is_over = 0;
  while (!is_over) {
    asm volatile(
        "{ .reg .pred p; mbarrier.test_wait.acquire.cta.shared::cta.b64 p, [%1], %2; "
        "selp.u32 %0, 1, 0, p; }"
        : "=r"(is_over)
        : "r"(at(&barrier)), "l"(state)
        : "memory");
  }
  uint32_t pending;
  asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(pending) : "l"(state));
  out[threadIdx.x] = cells[31 - threadIdx.x];
  __syncwarp();
  if (threadIdx.x < 8) atomicAdd(&out[32], static_cast<int>(pending) % 2);
}

// A thread that leaves: later phases do not expect it.
__global__ void Drop(int* out, int) {
  __shared__ uint64_t barrier;
  if (threadIdx.x == 0) init(barrier, 32);
  ready();
  if (threadIdx.x == 31) {
    asm volatile("mbarrier.arrive_drop.shared::cta.b64 _, [%0];" ::"r"(at(&barrier)) : "memory");
    return;
  }
  for (int k = 0; k < 4; ++k) {
    arrive(barrier);
    wait(barrier, k & 1);
  }
  out[threadIdx.x] = 1;
}

// Bytes that arrive before and after they are expected, and memory that is used again.
__global__ void Bytes(int* out, int) {
  __shared__ uint64_t barrier;
  __shared__ int cell;
  if (threadIdx.x == 0) init(barrier, 1);
  ready();
  for (int k = 0; k < 3; ++k) {
    if (threadIdx.x == 0) {
      cell = k;
      asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], 48;" ::"r"(at(&barrier))
                   : "memory");
      asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], 16;" ::"r"(at(&barrier))
                   : "memory");
      asm volatile(
          "mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], 64;" ::"r"(at(&barrier))
          : "memory");
      asm volatile(
          "mbarrier.complete_tx.shared::cluster.relaxed.cluster.b64 [%0], 32;" ::"r"(at(&barrier))
          : "memory");
    }
    wait(barrier, k & 1);
    if (threadIdx.x == 40) out[k] = cell;
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(at(&barrier)) : "memory");
    barrier = 5;
    out[3] = static_cast<int>(barrier);
    init(barrier, 1);
  }
}

// cp.async whose landing is an arrival: n is 1 where the barrier counts it besides (no .noinc).
__global__ void Copies(int* out, int n) {
  __shared__ uint64_t barrier;
  __shared__ alignas(16) int tile[32 * 4];
  if (threadIdx.x == 0) init(barrier, 32);
  ready();
  if (threadIdx.x < 32) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at(&tile[threadIdx.x * 4])),
                 "l"(out + 128 + threadIdx.x * 4)
                 : "memory");
    if (n == 0) {
      asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(at(&barrier))
                   : "memory");
      return;
    }
    asm volatile("cp.async.mbarrier.arrive.shared::cta.b64 [%0];" ::"r"(at(&barrier)) : "memory");
    arrive(barrier);
  } else {
    wait(barrier, 0);
    for (int i = 0; i < 4; ++i)
      out[(threadIdx.x - 32) * 4 + i] = tile[127 - threadIdx.x * 4 + 128 - i];
  }
}

// A look at a phase that this thread itself will end, as a software pipeline takes.
__global__ void Peek(int* out, int) {
  __shared__ uint64_t barriers[2];
  if (threadIdx.x == 0) init(barriers[0], 1), init(barriers[1], 1);
  ready();
  if (threadIdx.x == 0) {
    out[0] = static_cast<int>(peek(barriers[0], 0) + peek(barriers[1], 0));
    arrive(barriers[0]);
    arrive(barriers[1]);
    out[1] = static_cast<int>(peek(barriers[0], 0) + peek(barriers[1], 0));
  }
  wait(barriers[1], 0);
  if (threadIdx.x == 33) out[2] = 1;
}

// The same while another thread spins until this one has given up.
__global__ void PeekBesideSpin(int* out, int) {
  __shared__ uint64_t barrier;
  __shared__ volatile int flag;
  if (threadIdx.x == 0) init(barrier, 1), flag = 0;
  ready();
  if (threadIdx.x == 0) {
    out[0] = static_cast<int>(peek(barrier, 0));
    flag = 1;
  } else if (threadIdx.x == 32) {
    while (flag == 0) __nanosleep(20);
    arrive(barrier);
  }
  wait(barrier, 0);
  if (threadIdx.x == 33) out[1] = 1;
}

// ---- wrong ----

__global__ void Reinit(int*, int) {
  __shared__ uint64_t barrier;
  init(barrier, 1);  // by every thread
}

__global__ void Uninitialised(int*, int) {
  __shared__ uint64_t full[2];
  if (threadIdx.x == 0) init(full[0], 1);
  ready();
  arrive(full[1]);
}

__global__ void Overwritten(int*, int) {
  __shared__ struct {
    int tile[8];
    uint64_t barrier;
  } shared;
  if (threadIdx.x == 0) init(shared.barrier, 1);
  ready();
  if (threadIdx.x == 0) {
    int* tile = shared.tile;
    asm volatile("" : "+l"(tile));
    for (int i = 0; i < 10; ++i) reinterpret_cast<volatile int*>(&shared)[i] = i;
    arrive(shared.barrier);
  }
}

__global__ void TooMany(int*, int) {
  __shared__ uint64_t empty[2];
  if (threadIdx.x == 0) init(empty[0], 1), init(empty[1], 2);
  ready();
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0], 3;" ::"r"(at(&empty[1])) : "memory");
  }
}

__global__ void NoCount(int*, int n) {
  __shared__ uint64_t barrier;
  if (threadIdx.x == 0) init(barrier, n);
}

__global__ void Unaligned(int*, int) {
  __shared__ uint64_t barriers[2];
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(barriers) + 4) : "memory");
  }
}

__global__ void Nowhere(int* out, int) {
  asm volatile("mbarrier.arrive.b64 _, [%0];" ::"l"(out) : "memory");
}

__global__ void NoBytes(int*, int) {
  __shared__ uint64_t full[2];
  if (threadIdx.x == 0) init(full[0], 1), init(full[1], 1);
  ready();
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 4096;" ::"r"(at(&full[1]))
                 : "memory");
    asm volatile("mbarrier.complete_tx.shared::cta.b64 [%0], 1024;" ::"r"(at(&full[1])) : "memory");
  }
  wait(full[1], 0);
}

__global__ void MoreBytes(int*, int) {
  __shared__ uint64_t full;
  if (threadIdx.x == 0) {
    init(full, 1);
    asm volatile("mbarrier.complete_tx.shared::cta.b64 [%0], 1024;" ::"r"(at(&full)) : "memory");
  }
}

__global__ void NoArrival(int*, int) {
  __shared__ uint64_t full[3], empty[3];
  if (threadIdx.x == 0) {
    for (int i = 0; i < 3; ++i) init(full[i], 1);
    for (int i = 0; i < 3; ++i) init(empty[i], 4);
  }
  ready();
  if (threadIdx.x % 32 == 0 && threadIdx.x < 64) arrive(empty[2]);
  if (threadIdx.x < 32) wait(full[1], 0);
  if (threadIdx.x >= 32) wait(empty[2], 0);
}

}  // namespace

extern "C" int run(int which, int* out, int n) {
  struct {
    void (*kernel)(int*, int);
    int threads;
  } const cases[] = {{Ring, 96},          {States, 32},      {Drop, 32},           {Bytes, 64},
                     {Copies, 64},        {Peek, 64},        {PeekBesideSpin, 64}, {Reinit, 32},
                     {Uninitialised, 32}, {Overwritten, 32}, {TooMany, 32},        {NoCount, 32},
                     {Unaligned, 32},     {Nowhere, 1},      {NoBytes, 32},        {MoreBytes, 32},
                     {NoArrival, 96}};
  cases[which].kernel<<<1, cases[which].threads>>>(out, n);
  return cudaDeviceSynchronize();
}
