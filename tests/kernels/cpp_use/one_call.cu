// Plain C++ that calls attention in one call each, and compares with the definition; then calls
// that cannot be, each refused in words. Exits with 0 if all is right, 77 where there is no GPU.
#include <math.h>
#include <stdio.h>

#include <fictl/attention/with_kv_cache.cuh>
#include <string>
#include <vector>

namespace attention = fictl::attention;

constexpr int kDim = 64;
constexpr int kHeads = 6;
constexpr int kKvHeads = 2;
constexpr int kGroup = kHeads / kKvHeads;
using Row = std::vector<double>;

// Memory that the host and the GPU see.
template <typename T>
static T* shared_copy(const std::vector<T>& values) {
  T* made = nullptr;
  if (cudaMallocManaged(&made, (values.size() + 8) * sizeof(T)) != cudaSuccess) return nullptr;
  for (size_t i = 0; i < values.size(); ++i) made[i] = values[i];
  return made;
}

// Between -1 and 1, the same in every run.
template <typename T>
static T* numbers(size_t count, uint32_t seed) {
  std::vector<T> made(count);
  for (T& value : made) {
    seed = seed * 1664525u + 1013904223u;
    value = fictl::device::Element<T>::from_float(static_cast<float>(seed >> 8) / (1 << 23) - 1.0f);
  }
  return shared_copy(made);
}

template <typename T>
static double wide(T value) {
  return double{fictl::device::Element<T>::to_float(value)};
}

// One row by definition; key(i) and value(i) are rows, for i from `first` to before `last`.
template <typename Q, typename Key, typename Value>
static Row attend(const Q* q, int first, int last, double scale, double cap, Key key, Value value) {
  Row out(kDim, 0.0);
  double sum = 0;
  for (int i = first; i < last; ++i) {
    double score = 0;
    for (int d = 0; d < kDim; ++d) score += wide(q[d]) * wide(key(i)[d]);
    score *= scale;
    if (cap > 0) score = cap * tanh(score / cap);
    const double weight = exp(score);
    sum += weight;
    for (int d = 0; d < kDim; ++d) out[d] += weight * wide(value(i)[d]);
  }
  for (double& x : out) x = sum == 0 ? 0 : x / sum;
  out.push_back(log2(sum));
  return out;
}

template <typename Q>
static bool same(const Q* out, const Row& expected, double tolerance) {
  for (int d = 0; d < kDim; ++d) {
    if (!(fabs(wide(out[d]) - expected[d]) < tolerance)) return false;
  }
  return true;
}

static bool say(const char* what, bool right, const attention::Workspace& workspace) {
  printf("%s %s %s\n", right ? "ok  " : "FAIL", what, workspace.problem().c_str());
  return right;
}

static bool ran(cudaError_t status) {
  return status == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess;
}

// Of one query, or of many; of a causal one the queries are the last of the keys.
template <typename Q, typename KV, int kRows>
static bool single(int qo_len, int kv_len, attention::CallOptions options, double cap = 0) {
  attention::Workspace workspace;
  const Q* q = numbers<Q>(size_t{kHeads * kDim} * qo_len, 1);
  const KV* k = numbers<KV>(size_t{kKvHeads * kDim} * kv_len, 2);
  const KV* v = numbers<KV>(size_t{kKvHeads * kDim} * kv_len, 3);
  Q* out = numbers<Q>(size_t{kHeads * kDim} * qo_len, 4);
  options.lse = numbers<float>(size_t{kHeads} * qo_len, 5);
  const attention::SingleSizes sizes = {kHeads, kKvHeads, kv_len, qo_len};
  const auto bend = static_cast<float>(cap);
  const attention::SoftCap soft_cap = {{}, bend, 1 / (cap > 0 ? bend : 1)};
  cudaError_t status;
  if constexpr (kRows == 16) {
    status =
        cap > 0 ? attention::SingleDecodeWithKVCache<kDim>(q, k, v, out, sizes, workspace, options,
                                                           soft_cap)
                : attention::SingleDecodeWithKVCache<kDim>(q, k, v, out, sizes, workspace, options);
  } else {
    status =
        attention::SinglePrefillWithKVCache<kDim, kRows>(q, k, v, out, sizes, workspace, options);
  }
  bool right = ran(status);
  const double scale = (options.sm_scale > 0 ? options.sm_scale : 1 / sqrt(kDim)) * options.k_scale;
  for (int query = 0; query < qo_len; ++query) {
    const int own = kv_len - qo_len + query;
    const int last = options.causal ? own + 1 : kv_len;
    const int first = options.window_left < 0 ? 0 : std::max(own - options.window_left, 0);
    for (int head = 0; head < kHeads; ++head) {
      const int kv_head = head / kGroup;
      const auto row = [&](const KV* from, int i) {
        return from +
               (options.hnd ? int64_t{kv_head} * kv_len + i : int64_t{i} * kKvHeads + kv_head) *
                   kDim;
      };
      const int at = query * kHeads + head;
      Row expected = attend(
          q + at * kDim, first, last, scale, cap, [&](int i) { return row(k, i); },
          [&](int i) { return row(v, i); });
      for (int d = 0; d < kDim; ++d) expected[d] *= double{options.v_scale};
      const double lse = expected.back();
      right = right && same(out + at * kDim, expected, sizeof(Q) == sizeof(KV) ? 8e-3 : 2e-2);
      right = right && (lse == options.lse[at] || fabs(lse - options.lse[at]) < 2e-3);
    }
  }
  return say("single", right, workspace);
}

// Requests of 75, 0 and 900 keys, in pages that lie backwards.
static bool batch(bool hnd) {
  constexpr int kPageSize = 16;
  const std::vector<int32_t> indptr = {0, 5, 5, 62};
  const std::vector<int32_t> last = {11, 0, 4};
  std::vector<int32_t> indices;
  for (int page = indptr.back(); page-- > 0;) indices.push_back(page);
  const size_t slots = indices.size() * kPageSize;
  const auto* q = numbers<__half>(3 * kHeads * kDim, 1);
  const auto* k = numbers<__half>(slots * kKvHeads * kDim, 2);
  const auto* v = numbers<__half>(slots * kKvHeads * kDim, 3);
  auto* out = numbers<__half>(3 * kHeads * kDim, 4);
  const attention::PagedCache<__half> cache = {
      k, v, kPageSize, shared_copy(indices), indptr.data(), last.data()};
  attention::Workspace workspace;
  attention::CallOptions options;
  options.hnd = hnd;
  bool right = ran(attention::BatchDecodeWithPagedKVCache<kDim>(
      q, cache, out, {3, kHeads, kKvHeads}, workspace, options));
  for (int request = 0; request < 3; ++request) {
    const int pages = indptr[request + 1] - indptr[request];
    const int keys = pages == 0 ? 0 : (pages - 1) * kPageSize + last[request];
    for (int head = 0; head < kHeads; ++head) {
      const auto row = [&](const __half* from, int i) {
        const int64_t page = indices[indptr[request] + i / kPageSize];
        const int slot = i % kPageSize;
        const int kv_head = head / kGroup;
        const int at = hnd ? kv_head * kPageSize + slot : slot * kKvHeads + kv_head;
        return from + (page * kPageSize * kKvHeads + at) * kDim;
      };
      const int at = request * kHeads + head;
      const Row expected = attend(
          q + at * kDim, 0, keys, 1 / sqrt(kDim), 0, [&](int i) { return row(k, i); },
          [&](int i) { return row(v, i); });
      right = right && same(out + at * kDim, expected, 8e-3);
    }
  }
  return say("batch", right, workspace);
}

// What each of these says when it is refused.
static bool refusals() {
  const auto* x = numbers<__half>(4096, 1);
  auto* out = numbers<__half>(4096, 2);
  const std::vector<int32_t> falls = {0, 3, 2};
  const std::vector<int32_t> rises = {0, 1, 2};
  const std::vector<int32_t> last = {1, 17};
  const int32_t* pages = shared_copy(std::vector<int32_t>{0, 1});
  bool all = true;
  const auto expect = [&](cudaError_t status, cudaError_t wanted, const char* words,
                          const attention::Workspace& workspace) {
    const bool said = workspace.problem().find(words) != std::string::npos;
    all &= say(words, status == wanted && said, workspace);
  };
  const auto decode = [&](attention::SingleSizes sizes, cudaError_t wanted, const char* words,
                          const __half* q, const __half* k, attention::CallOptions options = {}) {
    attention::Workspace workspace;
    expect(attention::SingleDecodeWithKVCache<kDim>(q, k, x, out, sizes, workspace, options),
           wanted, words, workspace);
  };
  const cudaError_t bad = cudaErrorInvalidValue;
  decode({6, 4, 5}, bad, "num_qo_heads is 6 and num_kv_heads 4", x, x);
  decode({0, 1, 5}, bad, "num_qo_heads is 0", x, x);
  decode({2, 0, 5}, bad, "num_kv_heads 0", x, x);
  decode({-2, -1, 5}, bad, "num_qo_heads is -2", x, x);
  decode({2, 1, -1}, bad, "kv_len is -1; it is at least 0", x, x);
  decode({2, 1, 5, 2}, bad, "qo_len is 2; decoding is of one query", x, x);
  decode({2, 1, 2147483647}, bad, "request 0: 2147483647 keys, or rows of queries, are more", x, x);
  decode({2, 1, 5}, bad, "q is null", nullptr, x);
  decode({2, 1, 5}, bad, "k is null", x, nullptr);
  decode({2, 1, 5}, cudaErrorMisalignedAddress, "q is not at a multiple of 16 bytes", x + 1, x);
  decode({2, 1, 5}, cudaErrorMisalignedAddress, "k is not at a multiple", x, x + 4);
  attention::CallOptions scaled;
  scaled.sm_scale = -1;
  decode({2, 1, 5}, bad, "sm_scale is -1", x, x, scaled);
  scaled.sm_scale = NAN;
  decode({2, 1, 5}, bad, "sm_scale is nan", x, x, scaled);

  const auto decode_batch = [&](const int32_t* indptr, int page_size, int count,
                                const char* words) {
    attention::Workspace workspace;
    const attention::PagedCache<__half> cache = {x, x, page_size, pages, indptr, last.data()};
    expect(attention::BatchDecodeWithPagedKVCache<kDim>(x, cache, out, {count, 2, 1}, workspace),
           bad, words, workspace);
  };
  decode_batch(falls.data(), 16, 2, "request 1: its pages end at 2, before they begin at 3");
  decode_batch(rises.data(), 16, 2, "request 1: last_page_len is 17; it is 1 to the page_size, 16");
  decode_batch(rises.data(), 0, 2, "page_size is 0; it is at least 1");
  decode_batch(rises.data(), 16, -1, "batch is -1; it is at least 0");
  decode_batch(nullptr, 16, 2, "indptr is null");

  alignas(16) char few[16];
  attention::Workspace small(few, sizeof(few));
  expect(attention::SingleDecodeWithKVCache<kDim>(x, x, x, out, {2, 1, 5}, small),
         cudaErrorMemoryAllocation, "bytes are needed, there are 16", small);
  return all;
}

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) return 77;
  attention::CallOptions plain;
  attention::CallOptions hnd;
  hnd.hnd = true;
  hnd.sm_scale = 0.2f;
  attention::CallOptions causal;
  causal.causal = true;
  attention::CallOptions window = causal;
  window.window_left = 20;
  attention::CallOptions scaled;
  scaled.k_scale = 0.5f;
  scaled.v_scale = 1.5f;
  bool right = single<__half, __half, 16>(1, 1000, plain);
  right &= single<__half, __half, 16>(1, 1, hnd) && single<__half, __half, 16>(1, 0, plain);
  right &= single<__half, __half, 16>(1, 300, hnd, /*cap=*/5);
  right &= single<__nv_bfloat16, __nv_bfloat16, 16>(1, 200, plain);
  right &= single<__half, __nv_fp8_e4m3, 16>(1, 130, scaled);
  right &= single<__half, __half, 64>(70, 90, causal) && single<__half, __half, 64>(3, 90, window);
  right &= single<__half, __half, 64>(40, 20, causal) && single<__half, __half, 64>(0, 20, causal);
  right &= single<__half, __half, 128>(50, 33, hnd);
  right &= batch(/*hnd=*/false) && batch(/*hnd=*/true);
  right &= refusals();
  return right ? 0 : 1;
}
