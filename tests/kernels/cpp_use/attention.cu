// A plain CUDA program that plans and runs attention over a paged cache: no Python, no framework.
// Exits with 0 if every result is right, 1 if not, 77 where there is no GPU.
#include <math.h>
#include <stdio.h>

#include <cuda_fp16.h>

#include <fictl/attention/attend.cuh>
#include <fictl/attention/plan.cuh>
#include <vector>

namespace attention = fictl::attention;

constexpr int kHeads = 6;
constexpr int kKvHeads = 2;
constexpr int kGroup = kHeads / kKvHeads;
constexpr int kDim = 64;
constexpr int kPageSize = 16;

struct Config {
  using Q = __half;
  using O = __half;
  using Keys = attention::PagedKeys<__half>;
  using Variant = attention::Plain;
  static constexpr int kHeadDim = kDim;
  static constexpr int kRows = 64;
  static constexpr bool kRope = false;
};

// Memory that the host and the GPU see.
template <typename T>
static T* shared_copy(const std::vector<T>& values) {
  T* made = nullptr;
  if (cudaMallocManaged(&made, (values.size() + 1) * sizeof(T)) != cudaSuccess) return nullptr;
  for (size_t i = 0; i < values.size(); ++i) made[i] = values[i];
  return made;
}

// Between -1 and 1, the same in every run.
static std::vector<__half> numbers(size_t count, uint32_t seed) {
  std::vector<__half> made(count);
  for (__half& value : made) {
    seed = seed * 1664525u + 1013904223u;
    value = __float2half(static_cast<float>(seed >> 8) / (1 << 23) - 1.0f);
  }
  return made;
}

// Three requests, of which the first has a key for each query, the second only many keys, and the
// third none.
struct Requests {
  std::vector<int32_t> queries = {0, 70, 71, 73};  // where each one's begin, and the last's end
  std::vector<int32_t> pages = {0, 5, 65, 65};     // the same of their pages
  std::vector<int32_t> last = {6, 16, 0};          // slots used of the last page

  int count() const { return static_cast<int>(last.size()); }
  int keys(int request) const {
    const int used = pages[request + 1] - pages[request];
    return used == 0 ? 0 : (used - 1) * kPageSize + last[request];
  }
};

struct Tensors {
  std::vector<__half> q, k, v;
  std::vector<int32_t> table;  // pages, backwards

  const __half* row(const std::vector<__half>& cache, int start, int position, int head) const {
    const int64_t slot =
        int64_t{table[start + position / kPageSize]} * kPageSize + position % kPageSize;
    return &cache[(slot * kKvHeads + head) * kDim];
  }
};

// One row by definition. Returns the base-2 logarithm of the sum of the exponentials.
static double attend(const Requests& of, const Tensors& in, int request, int query, int head,
                     std::vector<double>* out) {
  const int start = of.pages[request];
  const int q_len = of.queries[request + 1] - of.queries[request];
  const int seen = of.keys(request) - q_len + query + 1;  // causal
  const __half* q = &in.q[(int64_t{of.queries[request]} + query) * kHeads * kDim + head * kDim];
  double sum = 0;
  out->assign(kDim, 0.0);
  for (int key = 0; key < seen; ++key) {
    const __half* k = in.row(in.k, start, key, head / kGroup);
    const __half* v = in.row(in.v, start, key, head / kGroup);
    double score = 0;
    for (int d = 0; d < kDim; ++d) score += double{__half2float(q[d])} * __half2float(k[d]);
    const double weight = exp(score / sqrt(double{kDim}));
    sum += weight;
    for (int d = 0; d < kDim; ++d) (*out)[d] += weight * __half2float(v[d]);
  }
  for (double& value : *out) value = sum == 0 ? 0 : value / sum;
  return log2(sum);
}

static bool same(double found, double expected) {
  return found == expected || fabs(found - expected) < 2e-3;
}

static bool all_right(const Requests& of, const Tensors& in, const __half* out, const float* lse) {
  std::vector<double> expected;
  for (int request = 0; request < of.count(); ++request) {
    for (int query = 0; query < of.queries[request + 1] - of.queries[request]; ++query) {
      for (int head = 0; head < kHeads; ++head) {
        const double sum = attend(of, in, request, query, head, &expected);
        const int64_t row = (int64_t{of.queries[request]} + query) * kHeads + head;
        bool right = same(lse[row], sum);
        for (int d = 0; d < kDim; ++d) {
          right &= same(__half2float(out[row * kDim + d]), expected[d]);
        }
        if (right) continue;
        printf("request %d, query %d, head %d: lse %g, not %g; %g, not %g\n", request, query, head,
               lse[row], sum, __half2float(out[row * kDim]), expected[0]);
        return false;
      }
    }
  }
  return true;
}

// `slots` are blocks that the list is to keep busy: with many of them the long request is split.
static bool attends(const Requests& of, const Tensors& in, int slots) {
  attention::Batch batch;
  batch.requests = of.count();
  batch.qo_indptr = of.queries.data();
  batch.kv_indptr = of.pages.data();
  batch.page_size = kPageSize;
  batch.last_page_len = of.last.data();
  attention::PlanOptions options;
  options.rows = Config::kRows;
  options.group = kGroup;
  options.kv_heads = kKvHeads;
  options.slots = slots;
  options.causal = true;
  const attention::Planner planner(batch, options);
  if (planner.refusal().kind != attention::Refusal::kNone) return false;
  const attention::PlanSizes sizes = planner.sizes();
  std::vector<attention::Item> items(sizes.items);
  std::vector<attention::Merge> merges(sizes.merges);
  planner.write(items.data(), merges.data());

  const int64_t rows = int64_t{of.queries.back()} * kHeads;
  const int64_t partial_rows = int64_t{sizes.partial_rows} * kKvHeads;
  __half* out = shared_copy(std::vector<__half>(rows * kDim, __float2half(7.0f)));
  float* lse = shared_copy(std::vector<float>(rows, 7.0f));
  const __half* k = shared_copy(in.k);
  const __half* v = shared_copy(in.v);
  const int64_t token = int64_t{kKvHeads} * kDim;

  attention::Problem<Config> problem{};
  problem.q = {shared_copy(in.q), int64_t{kHeads} * kDim, kDim};
  problem.keys.k = {k, kPageSize * token, token, kDim};
  problem.keys.v = {v, kPageSize * token, token, kDim};
  problem.keys.pages = {shared_copy(in.table)};
  problem.keys.page_size = fictl::device::Divisor(kPageSize);
  problem.out = {out, int64_t{kHeads} * kDim, kDim};
  problem.lse = lse;
  problem.partial_out = shared_copy(std::vector<float>(partial_rows * kDim));
  problem.partial_lse = shared_copy(std::vector<float>(partial_rows));
  problem.items = shared_copy(items);
  problem.item_count = sizes.items;
  problem.merges = shared_copy(merges);
  problem.merge_count = sizes.merges;
  problem.kv_heads = kKvHeads;
  problem.group = fictl::device::Divisor(kGroup);
  problem.scale = 1.0f / sqrtf(kDim);
  problem.v_scale = 1.0f;
  problem.window_left = INT_MAX;
  problem.causal = true;
  cudaError_t status = attention::Attend(problem, cudaStream_t{}, false);
  if (status == cudaSuccess) status = cudaDeviceSynchronize();
  const bool right = status == cudaSuccess && all_right(of, in, out, lse);
  printf("%s with %d items, %d merges: %s\n", right ? "ok  " : "FAIL", sizes.items, sizes.merges,
         cudaGetErrorName(status));
  return right;
}

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) return 77;
  const Requests requests;
  const int pages = requests.pages.back();
  const size_t slots = static_cast<size_t>(pages) * kPageSize;
  Tensors tensors;
  tensors.q = numbers(static_cast<size_t>(requests.queries.back()) * kHeads * kDim, 1);
  tensors.k = numbers(slots * kKvHeads * kDim, 2);
  tensors.v = numbers(slots * kKvHeads * kDim, 3);
  for (int page = pages; page-- > 0;) tensors.table.push_back(page);
  const bool right = attends(requests, tensors, 1) && attends(requests, tensors, 132);
  return right ? 0 : 1;
}
