// Clusters: what each block is told about itself, exchanges through distributed shared memory, and
// what goes wrong with them.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstdint>

namespace cg = cooperative_groups;

namespace {

__device__ uint32_t shared_address(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

__device__ void arrive() { asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory"); }
__device__ void arrive_relaxed() {
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}
__device__ void wait() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }

__device__ uint32_t rank() {
  uint32_t rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

__device__ uint32_t blocks() {
  uint32_t blocks;
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(blocks));
  return blocks;
}

template <class T>
__device__ T* peer(T* shared, uint32_t rank) {
  uint64_t there;
  asm("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(shared), "r"(rank));
  return reinterpret_cast<T*>(there);
}

__device__ uint32_t peer(uint32_t shared, uint32_t rank) {
  uint32_t there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(shared), "r"(rank));
  return there;
}

template <class... Args>
int launch(dim3 cluster, dim3 grid, int threads, size_t shared, void (*kernel)(Args...),
           Args... args) {
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {cluster.x, cluster.y, cluster.z};
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = threads;
  config.dynamicSmemBytes = shared;
  config.attrs = &attribute;
  config.numAttrs = 1;
  const int status = cudaLaunchKernelEx(&config, kernel, args...);
  cudaGetLastError();
  return status;
}

}  // namespace

// ---- what a block is told ----

__device__ void describe(uint32_t* out) {
  uint32_t v[16];
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(v[0]));
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(v[1]));
  asm("mov.u32 %0, %%cluster_ctaid.x;" : "=r"(v[2]));
  asm("mov.u32 %0, %%cluster_ctaid.y;" : "=r"(v[3]));
  asm("mov.u32 %0, %%cluster_ctaid.z;" : "=r"(v[4]));
  asm("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(v[5]));
  asm("mov.u32 %0, %%cluster_nctaid.y;" : "=r"(v[6]));
  asm("mov.u32 %0, %%cluster_nctaid.z;" : "=r"(v[7]));
  asm("mov.u32 %0, %%clusterid.x;" : "=r"(v[8]));
  asm("mov.u32 %0, %%clusterid.y;" : "=r"(v[9]));
  asm("mov.u32 %0, %%nclusterid.x;" : "=r"(v[10]));
  asm("mov.u32 %0, %%nclusterid.y;" : "=r"(v[11]));
  asm("{ .reg .pred p; mov.pred p, %%is_explicit_cluster; selp.u32 %0, 1, 0, p; }" : "=r"(v[12]));
  const cg::cluster_group cluster = cg::this_cluster();
  v[13] = cluster.block_rank();
  v[14] = cluster.num_blocks();
  v[15] = cluster.thread_rank();
  const uint32_t block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  if (threadIdx.x == 1) {
    for (int i = 0; i < 16; ++i) out[block * 16 + i] = v[i];
  }
}

__global__ void Describe(uint32_t* out) { describe(out); }
__global__ void __cluster_dims__(2, 1, 1) DescribeFixed(uint32_t* out) { describe(out); }
template <int X>
__global__ __cluster_dims__(X, 2) void DescribeTemplate(uint32_t* out);
template <int X>
__global__ __cluster_dims__(X, 2) void DescribeTemplate(uint32_t* out) {
  describe(out);
}

extern "C" int described(int how, int x, int y, uint32_t* out) {
  const dim3 grid(4, 2, 1);
  if (how == 0) return launch(dim3(x, y, 1), grid, 2, 0, Describe, out);
  if (how == 1) Describe<<<grid, 2>>>(out);
  if (how == 2) DescribeFixed<<<grid, 2>>>(out);
  if (how == 3) DescribeTemplate<2><<<grid, 2>>>(out);
  if (how == 4) return launch(dim3(x, y, 1), grid, 2, 0, DescribeFixed, out);
  if (how == 5) {
    cudaFuncSetAttribute(Describe, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    return launch(dim3(x, y, 1), dim3(16, 2, 1), 2, 0, Describe, out);
  }
  return cudaGetLastError();
}

// ---- exchanges ----

// Every block gives each peer a word, by five ways, and sums what it has got.
template <int WAY>
__global__ void Exchange(uint32_t* out) {
  extern __shared__ uint32_t dynamic[];
  __shared__ uint32_t early[1], mail[16];
  if (rank() % 2 && threadIdx.x == 0)
    early[0] = 5;  // Not all blocks come to the variables in the same order.
  if (threadIdx.x < 16) mail[threadIdx.x] = 0;
  dynamic[threadIdx.x] = 0;
  if (threadIdx.x == 0) early[0] = 7;
  arrive();
  wait();
  const uint32_t to = threadIdx.x, word = 100 * rank() + to, own = shared_address(&mail[rank()]);
  if (to < blocks()) {
    if (WAY == 0) peer(mail, to)[rank()] = word;
    if (WAY == 1) {
      asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(peer(own, to)), "r"(word) : "memory");
    }
    if (WAY == 2) {
      asm volatile("red.shared::cluster.add.u32 [%0], %1;" ::"r"(peer(own, to)), "r"(word)
                   : "memory");
    }
    if (WAY == 3) cg::this_cluster().map_shared_rank(mail, to)[rank()] = word;
    if (WAY == 4) atomicAdd(peer(dynamic, to) + rank(), word);
    // The rank is in the address from bit 24 on, that of this block, too.
    if (WAY == 5) {
      const uint32_t there = (own & 0xFFFFFF) | to << 24;
      asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(there), "r"(word) : "memory");
    }
  }
  if (WAY == 3) {
    cg::this_cluster().sync();
  } else {
    arrive();
    wait();
  }
  if (threadIdx.x == 0) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < blocks(); ++i) sum += WAY == 4 ? dynamic[i] : mail[i];
    out[blockIdx.x] = sum;
  }
}

extern "C" int exchange(int way, int cluster, uint32_t* out) {
  const dim3 grid(2 * cluster);
  const auto run = [&](auto kernel) { return launch(dim3(cluster), grid, 32, 128, kernel, out); };
  switch (way) {
    case 0:
      return run(Exchange<0>);
    case 1:
      return run(Exchange<1>);
    case 2:
      return run(Exchange<2>);
    case 3:
      return run(Exchange<3>);
    case 4:
      return run(Exchange<4>);
  }
  return run(Exchange<5>);
}

// Where an address is, as the instructions say that take one.
__global__ void Spaces(uint32_t* out) {
  __shared__ uint32_t word;
  word = 0;
  uint32_t* there = peer(&word, rank() ^ 1);
  uint32_t found, mapped, converted, cluster, block;
  asm("getctarank.u64 %0, %1;" : "=r"(found) : "l"(there));
  asm("getctarank.shared::cluster.u32 %0, %1;"
      : "=r"(mapped)
      : "r"(peer(shared_address(&word), rank() ^ 1)));
  asm("{ .reg .u64 a; cvta.to.shared::cluster.u64 a, %1; cvt.u32.u64 %0, a; }"
      : "=r"(converted)
      : "l"(there));
  asm("{ .reg .pred p; isspacep.shared::cluster p, %1; selp.u32 %0, 1, 0, p; }"
      : "=r"(cluster)
      : "l"(there));
  asm("{ .reg .pred p; isspacep.shared::cta p, %1; selp.u32 %0, 1, 0, p; }"
      : "=r"(block)
      : "l"(there));
  uint32_t* row = out + 5 * rank();
  row[0] = found, row[1] = mapped, row[2] = cluster, row[3] = block;
  row[4] = converted == (shared_address(&word) ^ 1u << 24);
}
extern "C" int spaces(uint32_t* out) { return launch(dim3(2), dim3(2), 1, 0, Spaces, out); }

// Half of the threads of block 1 return before the barrier: it counts the others.
__global__ void Return(uint32_t* out) {
  __shared__ uint32_t seen;
  if (threadIdx.x == 0) seen = 0;
  arrive();
  wait();
  if (rank() == 1 && threadIdx.x % 2) return;
  atomicAdd(peer(&seen, 0), 1);
  arrive();
  if (rank() != 0) return;
  wait();
  if (threadIdx.x == 0) out[0] = seen;
}
extern "C" int returning(uint32_t* out) { return launch(dim3(2), dim3(2), 64, 0, Return, out); }

// ---- defects: bug != 0 has them ----

enum Defect { kRelaxed, kNotBegun, kLeft, kTwice, kNoArrival, kAnotherWay, kNoRank, kBlockSpace };

__global__ void Defective(int which, int bug, uint32_t* out) {
  __shared__ uint32_t box[2];
  if (which != kNotBegun) {
    if (threadIdx.x < 2) box[threadIdx.x] = 0;
    arrive();
    wait();
  }
  uint32_t* there = peer(box, which == kNoRank && bug ? 2 : rank() ^ 1);
  switch (which) {
    case kRelaxed:
      if (threadIdx.x == 0) there[0] = rank();
      if (bug) {
        arrive_relaxed();
      } else {
        arrive();
      }
      wait();
      if (threadIdx.x == 0) out[rank()] = box[0];  // RELAXED
      break;
    case kNotBegun:
      if (!bug) {
        arrive();
        wait();
      }
      if (threadIdx.x == 0) there[0] = 1;  // EARLY
      arrive();
      wait();
      break;
    case kLeft:
      if (rank() == 0 && threadIdx.x == 0) out[0] = there[1];  // LATE
      if (!bug) {
        arrive_relaxed();
        wait();
      }
      break;
    case kTwice:
      arrive();
      if (!bug) wait();
      arrive();
      wait();
      break;
    case kNoArrival:
      if (!bug) arrive();
      wait();
      break;
    case kAnotherWay:
      if (rank() == 1 && bug) {
        asm volatile("bar.sync 1, 64;" ::: "memory");
      } else {
        arrive();
        wait();
      }
      break;
    case kNoRank:
      if (threadIdx.x == 0) out[0] = there[0];
      arrive();
      wait();
      break;
    case kBlockSpace:
      if (threadIdx.x == 0) {
        uint32_t word;
        const uint32_t at = bug ? peer(shared_address(box), rank() ^ 1) : shared_address(box);
        asm volatile("ld.shared.u32 %0, [%1];" : "=r"(word) : "r"(at) : "memory");
        out[rank()] = word;
      }
      arrive();
      wait();
      break;
  }
}

extern "C" int defective(int which, int bug, uint32_t* out) {
  return launch(dim3(2), dim3(2), 32, 0, Defective, which, bug, out);
}
