// wgmma in its forms: operands come as images of shared memory with their descriptors, and
// accumulators register by register, so that the tests say where every element lies.
#include <cuda_runtime.h>

#include <cstdint>

namespace {

// ---- the instructions ----

#define LIST2 "%0, %1"
#define LIST4 "%0, %1, %2, %3"
#define LIST48                                                             \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, " \
  "%30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, " \
  "%44, %45, %46, %47"
#define LIST128                                                            \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, " \
  "%30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, " \
  "%44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, " \
  "%58, %59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69, %70, %71, " \
  "%72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, " \
  "%86, %87, %88, %89, %90, %91, %92, %93, %94, %95, %96, %97, %98, %99, " \
  "%100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, "     \
  "%111, %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, "     \
  "%122, %123, %124, %125, %126, %127"

#define D2(as, i) as(d[i]), as(d[i + 1])
#define D4(as, i) D2(as, i), D2(as, i + 2)
#define D16(as, i) D4(as, i), D4(as, i + 4), D4(as, i + 8), D4(as, i + 12)
#define D48(as, i) D16(as, i), D16(as, i + 16), D16(as, i + 32)
#define D64(as, i) D48(as, i), D16(as, i + 48)
#define D128(as, i) D64(as, i), D64(as, i + 64)

#define PREDICATE(p) "{\n.reg .pred p;\nsetp.ne.b32 p, " p ", 0;\n"

// Both operands in shared memory. `a`, `b`, `p`: numbers of operands, behind those of `list`.
#define SHARED(Name, Register, as, count, kind, immediates, a, b, p)                    \
  struct Name {                                                                         \
    static constexpr int kRegisters = count;                                            \
    using T = Register;                                                                 \
    static __device__ void issue(T (&d)[count], const uint32_t (&)[4], uint64_t desc_a, \
                                 uint64_t desc_b, int scale_d) {                        \
      asm volatile(PREDICATE(p) "wgmma.mma_async.sync.aligned." kind " {" LIST##count   \
                   "}, " a ", " b ", p" immediates ";\n}\n"                             \
                   : D##count(as, 0)                                                    \
                   : "l"(desc_a), "l"(desc_b), "r"(scale_d));                           \
    }                                                                                   \
  };

// A in registers.
#define REGISTERS(Name, count, kind, immediates, a, b, p)                                          \
  struct Name {                                                                                    \
    static constexpr int kRegisters = count;                                                       \
    using T = float;                                                                               \
    static __device__ void issue(T (&d)[count], const uint32_t (&x)[4], uint64_t, uint64_t desc_b, \
                                 int scale_d) {                                                    \
      asm volatile(PREDICATE(p) "wgmma.mma_async.sync.aligned." kind " {" LIST##count              \
                   "}, {" a "}, " b ", p" immediates ";\n}\n"                                      \
                   : D##count("+f", 0)                                                             \
                   : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "l"(desc_b), "r"(scale_d));       \
    }                                                                                              \
  };

SHARED(Bf16, float, "+f", 48, "m64n96k16.f32.bf16.bf16", ", 1, 1, 0, 0", "%48", "%49", "%50")
SHARED(Bf16Transposed, float, "+f", 48, "m64n96k16.f32.bf16.bf16", ", 1, 1, 1, 1", "%48", "%49",
       "%50")
SHARED(Wide, float, "+f", 128, "m64n256k16.f32.bf16.bf16", ", 1, 1, 0, 0", "%128", "%129", "%130")
SHARED(Negative, float, "+f", 4, "m64n8k16.f32.f16.f16", ", -1, 1, 0, 0", "%4", "%5", "%6")
SHARED(TwiceNegative, float, "+f", 4, "m64n8k16.f32.f16.f16", ", -1, -1, 0, 0", "%4", "%5", "%6")
SHARED(Halves, uint32_t, "+r", 2, "m64n8k16.f16.f16.f16", ", 1, 1, 0, 0", "%2", "%3", "%4")
SHARED(Tf32, float, "+f", 4, "m64n8k8.f32.tf32.tf32", ", 1, 1", "%4", "%5", "%6")
SHARED(Fp8, float, "+f", 48, "m64n96k32.f32.e4m3.e5m2", ", 1, 1", "%48", "%49", "%50")
SHARED(Integers, uint32_t, "+r", 4, "m64n8k32.s32.s8.u8", "", "%4", "%5", "%6")
SHARED(Saturated, uint32_t, "+r", 4, "m64n8k32.satfinite.s32.u8.u8", "", "%4", "%5", "%6")
REGISTERS(Bf16InRegisters, 48, "m64n96k16.f32.bf16.bf16", ", 1, 1, 1", "%48, %49, %50, %51", "%52",
          "%53")
REGISTERS(Fp8InRegisters, 4, "m64n8k32.f32.e5m2.e4m3", ", 1, 1", "%4, %5, %6, %7", "%8", "%9")

__device__ void fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ void commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int pending>
__device__ void wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
}
__device__ void published() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// Tells the compiler that a product under way changes the registers.
template <int count>
__device__ void keep(float (&d)[count]) {
  for (int i = 0; i < count; ++i) asm volatile("" : "+f"(d[i])::"memory");
}
template <int count>
__device__ void keep(uint32_t (&d)[count]) {
  for (int i = 0; i < count; ++i) asm volatile("" : "+r"(d[i])::"memory");
}

__device__ uint64_t start_of(const void* shared) {
  return (static_cast<uint32_t>(__cvta_generic_to_shared(shared)) & 0x3ffff) >> 4;
}

// ---- one product ----

struct Operands {
  const uint4* image;  // of shared memory, of `chunks` of 16 bytes
  int chunks;
  uint64_t a, b;                // descriptors; their starts count from the image's
  const uint32_t* a_registers;  // four a thread
  uint32_t* d;                  // of all threads, one after the other
  uint32_t* peek;               // as `d`, from before the wait, which is a mistake; or null
  int scale_d;
};

template <class Form>
__global__ void __launch_bounds__(128, 1) Multiply(Operands operands) {
  extern __shared__ __align__(1024) uint4 shared[];
  constexpr int kCount = Form::kRegisters;
  for (int i = threadIdx.x; i < operands.chunks; i += 128) shared[i] = operands.image[i];
  published();
  __syncthreads();
  typename Form::T d[kCount];
  uint32_t x[4];
  memcpy(d, operands.d + threadIdx.x * kCount, sizeof d);
  memcpy(x, operands.a_registers + threadIdx.x * 4, sizeof x);
  keep(d);
  fence();
  const uint64_t start = start_of(shared);
  Form::issue(d, x, operands.a + start, operands.b + start, operands.scale_d);
  commit();
  if (operands.peek != nullptr) memcpy(operands.peek + threadIdx.x * kCount, d, sizeof d);
  wait<0>();
  keep(d);
  memcpy(operands.d + threadIdx.x * kCount, d, sizeof d);
}

// ---- a product of matrices: 128 x 256, two warpgroups that share B, two stages ----

constexpr int kDepth = 64, kStages = 2, kTileA = 128 * kDepth, kTileB = 256 * kDepth;

// Rows of 128 bytes, swizzled.
__device__ int place(int row, int k) {
  const int byte = row * 128 + k * 2;
  return (byte ^ ((byte >> 7 & 7) << 4)) / 2;
}

__device__ void load(uint16_t* tile, const uint16_t* from, int rows, int depth, int first) {
  for (int i = threadIdx.x; i < rows * kDepth; i += blockDim.x) {
    tile[place(i / kDepth, i % kDepth)] = from[i / kDepth * depth + first + i % kDepth];
  }
}

__global__ void __launch_bounds__(256, 1)
    Gemm(const uint16_t* a, const uint16_t* b, float* c, int depth) {
  extern __shared__ __align__(1024) uint16_t tiles[];
  constexpr uint64_t kLayout = uint64_t{1} << 62 | uint64_t{1024 >> 4} << 32;
  const int group = threadIdx.x / 128, thread = threadIdx.x % 128;
  const uint32_t none[4] = {};
  float d[128];
  for (int step = 0; step * kDepth < depth; ++step) {
    uint16_t* stage = tiles + step % kStages * (kTileA + kTileB);
    load(stage, a, 128, depth, step * kDepth);
    load(stage + kTileA, b, 256, depth, step * kDepth);
    published();
    __syncthreads();
    keep(d);
    fence();
    for (int k = 0; k < kDepth / 16; ++k) {
      const uint64_t desc_a = kLayout | start_of(stage + group * 64 * kDepth);
      const uint64_t desc_b = kLayout | start_of(stage + kTileA);
      Wide::issue(d, none, desc_a + 2 * k, desc_b + 2 * k, step + k != 0);
    }
    commit();
    wait<1>();  // the stage before this one is free
    __syncthreads();
  }
  wait<0>();
  keep(d);
  const int row = group * 64 + thread / 32 * 16 + thread % 32 / 4, column = thread % 4 * 2;
  for (int i = 0; i < 128; ++i) {
    c[(row + i / 2 % 2 * 8) * 256 + i / 4 * 8 + column + i % 2] = d[i];
  }
}

// ---- what is wrong ----

enum Mistake {
  kDescriptorOfThread,
  kSomeThreads,
  kOneReturns,
  kOtherInstruction,
  kBaseOffset,
  kStrayBits,
  kUnaligned,
  kOutside,
  kUncommitted,
  kManyPending,
  kSmallBlock,
  kLostAccumulators,
  kTouchedRegister,
  kTouchedOperand,
  kNone,
};

__device__ __noinline__ void lose(uint64_t desc) {
  float d[4] = {};
  const uint32_t none[4] = {};
  Negative::issue(d, none, desc, desc, 0);
}

__global__ void Wrong(int mistake, float* out) {
  __shared__ __align__(1024) uint4 tile[512];
  const auto is = [=](Mistake other) { return mistake == other; };
  const bool odd = threadIdx.x == 37;
  const uint32_t one = 0x3c003c00;
  for (int i = threadIdx.x; i < 512; i += blockDim.x) tile[i] = {one, one, one, one};
  published();
  __syncthreads();
  uint64_t desc = uint64_t{1} << 62 | uint64_t{1024 >> 4} << 32 | start_of(tile);
  if (is(kDescriptorOfThread) && odd) desc += 2;
  if (is(kBaseOffset)) desc |= uint64_t{3} << 49;
  if (is(kStrayBits)) desc |= 1 << 14;
  if (is(kUnaligned)) desc += 128 >> 4;
  if (is(kOutside)) desc |= uint64_t{0x3fff} << 32;
  if (is(kOneReturns) && odd) return;
  float d[4] = {};
  uint32_t x[4] = {one, one, one, one};
  fence();
  if (is(kLostAccumulators)) {
    lose(desc);
  } else if (is(kSomeThreads)) {
    if (odd) Negative::issue(d, x, desc, desc, 0);
  } else if (is(kOtherInstruction) && odd) {
    commit();
  } else if (is(kTouchedRegister)) {
    Fp8InRegisters::issue(reinterpret_cast<float (&)[4]>(d), x, desc, desc, 0);
  } else {
    Negative::issue(d, x, desc, desc, 0);
  }
  if (is(kUncommitted)) return;
  commit();
  if (is(kTouchedOperand)) tile[threadIdx.x] = {};
  if (is(kTouchedRegister)) x[0] = x[1] = x[2] = x[3] = 0;
  if (is(kManyPending)) wait<8>();
  wait<0>();
  keep(d);
  out[threadIdx.x] = d[0];
}

template <class Form>
int launch(const Operands& operands) {
  const int bytes = operands.chunks * 16;
  cudaFuncSetAttribute(Multiply<Form>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  Multiply<Form><<<1, 128, bytes>>>(operands);
  return cudaDeviceSynchronize();
}

using Launch = int (*)(const Operands&);
const Launch kForms[] = {
    launch<Bf16>,
    launch<Bf16Transposed>,
    launch<Wide>,
    launch<Negative>,
    launch<TwiceNegative>,
    launch<Halves>,
    launch<Tf32>,
    launch<Fp8>,
    launch<Integers>,
    launch<Saturated>,
    launch<Bf16InRegisters>,
    launch<Fp8InRegisters>,
};

}  // namespace

extern "C" int product(int form, const uint4* image, int chunks, uint64_t a, uint64_t b,
                       const uint32_t* a_registers, uint32_t* d, uint32_t* peek, int scale_d) {
  return kForms[form]({image, chunks, a, b, a_registers, d, peek, scale_d});
}

extern "C" int gemm(const uint16_t* a, const uint16_t* b, float* c, int depth) {
  constexpr int kBytes = kStages * (kTileA + kTileB) * 2;
  cudaFuncSetAttribute(Gemm, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes);
  Gemm<<<1, 256, kBytes>>>(a, b, c, depth);
  return cudaDeviceSynchronize();
}

extern "C" int wrong(int mistake, float* out) {
  Wrong<<<1, mistake == kSmallBlock ? 96 : 128>>>(mistake, out);
  cudaDeviceSynchronize();
  return cudaGetLastError();
}
