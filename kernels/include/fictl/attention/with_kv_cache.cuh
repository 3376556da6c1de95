// Attention in one call, for plain C++: SingleDecodeWithKVCache, SinglePrefillWithKVCache and
// BatchDecodeWithPagedKVCache.
//
// Each function plans the work on the host (plan.cuh), puts the list into a workspace on the GPU,
// states the problem (problem.cuh) and runs it (attend.cuh). A program that plans once and runs
// often, or has other strides, takes these steps itself. No call waits for the GPU: the result is
// ready when the stream has come to that point. A graph may capture a call whose workspace is large
// enough.
//
//   fictl::attention::Workspace workspace;
//   cudaError_t status = fictl::attention::SingleDecodeWithKVCache<128>(
//       q, k, v, out, {num_qo_heads, num_kv_heads, kv_len}, workspace);
//   if (status != cudaSuccess) puts(workspace.problem().c_str());
//
// Sizes that do not fit give cudaErrorInvalidValue. A pointer that is not a multiple of 16 bytes
// gives cudaErrorMisalignedAddress. workspace.problem() says which one and why.
#pragma once

#include <limits.h>
#include <math.h>
#include <string.h>

#include <initializer_list>
#include <string>
#include <type_traits>
#include <vector>

#include <fictl/attention/attend.cuh>
#include <fictl/attention/plan.cuh>
#include <fictl/attention/tile_shape.cuh>
#include <fictl/attention/workspace.cuh>
#include <fictl/device/element.cuh>
#include <fictl/device/element_fp8.cuh>
#include <fictl/device/put.cuh>

namespace fictl::attention {

// The options of a call besides its sizes. The defaults are plain attention.
struct CallOptions {
  bool hnd = false;     // keys and values have heads before tokens, or before the slots of a page
  bool causal = false;  // of prefill: a query sees no keys after its own; queries are the last keys
  int window_left = -1;  // keys before a query's own that it sees; below 0: all
  float sm_scale = 0;    // of scores before the softmax; 0: 1 / sqrt(kHeadDim)
  float k_scale = 1;     // of keys and values of 8 bits
  float v_scale = 1;
  float* lse = nullptr;           // [queries][num_qo_heads]: log2 of the sum of the exponentials
  const float* sinks = nullptr;   // [num_qo_heads], logits of a key without a value
  cudaStream_t stream = nullptr;  // where it runs
  bool pdl = false;               // start while the stream's last kernel ends, from sm_90 on
};

// The sizes of one request.
struct SingleSizes {
  int num_qo_heads;
  int num_kv_heads;  // a divisor of num_qo_heads
  int kv_len;        // keys
  int qo_len = 1;    // queries
};

// A cache in pages of [page_size][num_kv_heads][kHeadDim], or hnd [num_kv_heads][page_size][...].
template <typename KV>
struct PagedCache {
  const KV* k;
  const KV* v;
  int page_size;
  const int32_t* indices;        // on the GPU: the pages of one request after the other
  const int32_t* indptr;         // on the host, [batch + 1]: where those of each begin
  const int32_t* last_page_len;  // on the host, [batch]: slots used of the last page
};

struct BatchSizes {
  int batch;  // requests, of a query each
  int num_qo_heads;
  int num_kv_heads;
};

namespace detail {

template <typename Type, typename Stored, typename Out, typename Keys_, typename Variant_,
          int kHeadDim_, int kRows_>
struct CallConfig {
  static_assert(kHeadDim_ * sizeof(Stored) % 16 == 0 && kHeadDim_ <= DefaultTile::kMost,
                "heads are of up to 512 elements, in whole chunks of 16 bytes");
  static_assert(DefaultTile::is_known(kRows_, {kHeadDim_, kHeadDim_}),
                "tiles are of 16 rows, 64, or 128 where heads are of no more than 160 elements");
  static_assert(std::is_same_v<Type, __half> || std::is_same_v<Type, __nv_bfloat16>,
                "queries are __half or __nv_bfloat16");
  static_assert(std::is_same_v<Type, Out>, "the result is of the queries' type");
  static_assert(std::is_same_v<Type, Stored> || sizeof(Stored) == 1,
                "keys and values are of the queries' type, or of 8 bits");
  using Q = Type;
  using O = Out;
  using Keys = Keys_;
  using Variant = Variant_;
  static constexpr int kHeadDim = kHeadDim_;
  static constexpr int kRows = kRows_;
  static constexpr bool kRope = false;
};

inline std::string refusal_text(const Refusal& refusal) {
  const std::string of = "request " + std::to_string(refusal.request) + ": ";
  const std::string found = std::to_string(refusal.found);
  const std::string bound = std::to_string(refusal.bound);
  switch (refusal.kind) {
    case Refusal::kKeyOffsets:
      return of + "its pages end at " + found + ", before they begin at " + bound;
    case Refusal::kLastPage:
      return of + "last_page_len is " + found + "; it is 1 to the page_size, " + bound;
    default:
      return of + found + " keys, or rows of queries, are more than an int32 counts";
  }
}

inline cudaError_t check_heads(Workspace& workspace, int heads, int kv_heads) {
  if (heads >= 1 && kv_heads >= 1 && heads % kv_heads == 0) return cudaSuccess;
  return workspace.refuse(cudaErrorInvalidValue,
                          "num_qo_heads is " + std::to_string(heads) + " and num_kv_heads " +
                              std::to_string(kv_heads) +
                              "; both are above 0, and the first a multiple of the second");
}

inline cudaError_t check_at_least(Workspace& workspace, const char* name, int value, int least) {
  if (value >= least) return cudaSuccess;
  return workspace.refuse(cudaErrorInvalidValue, std::string(name) + " is " +
                                                     std::to_string(value) + "; it is at least " +
                                                     std::to_string(least));
}

// Checks a pointer to memory, if anything in it is read or written.
inline cudaError_t check_pointer(Workspace& workspace, const char* name, const void* pointer,
                                 bool used, bool of_rows = true) {
  if (!used) return cudaSuccess;
  if (pointer == nullptr) {
    return workspace.refuse(cudaErrorInvalidValue, std::string(name) + " is null");
  }
  if (!of_rows || reinterpret_cast<uintptr_t>(pointer) % 16 == 0) return cudaSuccess;
  return workspace.refuse(cudaErrorMisalignedAddress,
                          std::string(name) + " is not at a multiple of 16 bytes");
}

inline cudaError_t check_scales(Workspace& workspace, const CallOptions& options) {
  const bool fit = options.sm_scale >= 0 && isfinite(options.sm_scale) && options.k_scale > 0 &&
                   isfinite(options.k_scale) && isfinite(options.v_scale);
  if (fit) return cudaSuccess;
  return workspace.refuse(cudaErrorInvalidValue,
                          "sm_scale is " + std::to_string(options.sm_scale) + ", k_scale " +
                              std::to_string(options.k_scale) + ", v_scale " +
                              std::to_string(options.v_scale) +
                              "; they are finite, the first 0 or above, the second above 0");
}

// The first of some checks that failed.
inline cudaError_t first_of(std::initializer_list<cudaError_t> checks) {
  for (const cudaError_t status : checks) {
    if (status != cudaSuccess) return status;
  }
  return cudaSuccess;
}

// A work list in the workspace, and room for the parts behind it.
template <typename Config>
cudaError_t place(const Planner& planner, Workspace& workspace, const CallOptions& options,
                  Problem<Config>* problem) {
  constexpr int64_t kItem = sizeof(Item) / sizeof(int32_t);
  constexpr int64_t kMerge = sizeof(Merge) / sizeof(int32_t);
  constexpr int64_t kMostPut = 4000;  // Beyond, a copy is faster.
  const PlanSizes& sizes = planner.sizes();
  const int64_t numbers = sizes.items * kItem + sizes.merges * kMerge;
  const int64_t rows = int64_t{sizes.partial_rows} * problem->kv_heads;
  const int64_t partial = rows * (Config::kHeadDim + 1) * int64_t{sizeof(float)};
  const int64_t bytes = numbers * int64_t{sizeof(int32_t)} + partial;
  cudaError_t status = workspace.reserve(static_cast<size_t>(bytes), options.stream);
  if (status != cudaSuccess) return status;

  std::vector<int32_t> list(numbers);
  std::vector<Item> items(sizes.items);
  std::vector<Merge> merges(sizes.merges);
  planner.write(items.data(), merges.data());
  memcpy(list.data(), items.data(), items.size() * sizeof(Item));
  memcpy(list.data() + sizes.items * kItem, merges.data(), merges.size() * sizeof(Merge));
  auto* to = static_cast<int32_t*>(workspace.data());
  cudaStreamCaptureStatus capture;
  status = cudaStreamIsCapturing(options.stream, &capture);
  if (status != cudaSuccess) return status;
  // Why put where a graph is captured: the list is gone when the graph runs.
  if (numbers <= kMostPut || capture != cudaStreamCaptureStatusNone) {
    status = device::put(to, list.data(), numbers, options.stream, options.pdl);
  } else {
    status = cudaMemcpyAsync(to, list.data(), numbers * sizeof(int32_t), cudaMemcpyHostToDevice,
                             options.stream);
  }
  problem->items = reinterpret_cast<const Item*>(to);
  problem->item_count = sizes.items;
  problem->merges = reinterpret_cast<const Merge*>(to + sizes.items * kItem);
  problem->merge_count = sizes.merges;
  problem->partial_out = reinterpret_cast<float*>(to + numbers);
  problem->partial_lse = problem->partial_out + rows * Config::kHeadDim;
  return status;
}

template <typename Config>
cudaError_t call(const Batch& batch, int heads, int kv_heads, const typename Config::Q* q,
                 const typename Config::Keys& keys, typename Config::O* out, Workspace& workspace,
                 const CallOptions& options, const typename Config::Variant& variant) {
  int device;
  int sms;
  cudaError_t status = cudaGetDevice(&device);
  if (status != cudaSuccess) return status;
  status = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
  if (status != cudaSuccess) return status;
  PlanOptions plan;
  plan.rows = Config::kRows;
  plan.group = heads / kv_heads;
  plan.kv_heads = kv_heads;
  plan.slots = sms * DefaultTile::blocks(Config::kRows, {Config::kHeadDim, Config::kHeadDim}) /
               value_parts(Config::kHeadDim);
  plan.causal = options.causal;
  plan.window_left = options.window_left < 0 ? INT_MAX : options.window_left;
  const Planner planner(batch, plan);
  if (planner.refusal().kind != Refusal::kNone) {
    return workspace.refuse(cudaErrorInvalidValue, refusal_text(planner.refusal()));
  }
  Problem<Config> problem{};
  problem.q = {q, int64_t{heads} * Config::kHeadDim, Config::kHeadDim};
  problem.keys = keys;
  problem.out = {out, int64_t{heads} * Config::kHeadDim, Config::kHeadDim};
  problem.lse = options.lse;
  problem.sinks = options.sinks;
  problem.kv_heads = kv_heads;
  problem.group = device::Divisor(plan.group);
  const float scale = options.sm_scale > 0 ? options.sm_scale : 1.0f / sqrtf(Config::kHeadDim);
  problem.scale = scale * options.k_scale;
  problem.v_scale = options.v_scale;
  problem.window_left = plan.window_left;
  problem.causal = options.causal;
  problem.variant = variant;
  if (planner.sizes().items == 0) return cudaSuccess;
  status = place(planner, workspace, options, &problem);
  return status == cudaSuccess ? Attend(problem, options.stream, options.pdl) : status;
}

template <typename Config>
cudaError_t single(const typename Config::Q* q, const typename Config::Keys::Element* k,
                   const typename Config::Keys::Element* v, typename Config::O* out,
                   const SingleSizes& sizes, Workspace& workspace, const CallOptions& options,
                   const typename Config::Variant& variant) {
  workspace.clear_problem();
  const bool has_queries = sizes.qo_len > 0;
  const bool has_keys = sizes.kv_len > 0 && has_queries;
  const cudaError_t status = first_of({
      check_heads(workspace, sizes.num_qo_heads, sizes.num_kv_heads),
      check_at_least(workspace, "kv_len", sizes.kv_len, 0),
      check_at_least(workspace, "qo_len", sizes.qo_len, 0),
      check_scales(workspace, options),
      check_pointer(workspace, "q", q, has_queries),
      check_pointer(workspace, "k", k, has_keys),
      check_pointer(workspace, "v", v, has_keys),
      check_pointer(workspace, "out", out, has_queries),
  });
  if (status != cudaSuccess) return status;
  const int32_t kv_indptr[] = {0, sizes.kv_len};
  Batch batch;
  batch.requests = 1;
  batch.q_len = sizes.qo_len;
  batch.kv_indptr = kv_indptr;
  constexpr int64_t kDim = Config::kHeadDim;
  const int64_t token = options.hnd ? kDim : sizes.num_kv_heads * kDim;
  const int64_t head = options.hnd ? sizes.kv_len * kDim : kDim;
  const typename Config::Keys keys = {{k, token, head}, {v, token, head}};
  return call<Config>(batch, sizes.num_qo_heads, sizes.num_kv_heads, q, keys, out, workspace,
                      options, variant);
}

}  // namespace detail

// One query of a request: q and out are [num_qo_heads][kHeadDim], k and v are [kv_len]
// [num_kv_heads][kHeadDim]; all of it contiguous. Without keys the result is 0. Tiles of 16 rows,
// in each the heads that share one of the keys'.
template <int kHeadDim, typename Q, typename KV, typename Variant = Plain>
cudaError_t SingleDecodeWithKVCache(const Q* q, const KV* k, const KV* v, Q* out,
                                    const SingleSizes& sizes, Workspace& workspace,
                                    const CallOptions& options = {}, const Variant& variant = {}) {
  using Config = detail::CallConfig<Q, KV, Q, RaggedKeys<KV>, Variant, kHeadDim, 16>;
  if (sizes.qo_len != 1) {
    return workspace.refuse(cudaErrorInvalidValue,
                            "qo_len is " + std::to_string(sizes.qo_len) +
                                "; decoding is of one query, SinglePrefillWithKVCache of many");
  }
  return detail::single<Config>(q, k, v, out, sizes, workspace, options, variant);
}

// All queries of a request, which are the last of its keys: q and out are [qo_len][num_qo_heads]
// [kHeadDim]. Tiles of kRows rows, qo_len * num_qo_heads / num_kv_heads of them: where these are
// few, 64 or 16 are faster.
template <int kHeadDim, int kRows = (kHeadDim > 128 ? 64 : 128), typename Q, typename KV,
          typename Variant = Plain>
cudaError_t SinglePrefillWithKVCache(const Q* q, const KV* k, const KV* v, Q* out,
                                     const SingleSizes& sizes, Workspace& workspace,
                                     const CallOptions& options = {}, const Variant& variant = {}) {
  using Config = detail::CallConfig<Q, KV, Q, RaggedKeys<KV>, Variant, kHeadDim, kRows>;
  return detail::single<Config>(q, k, v, out, sizes, workspace, options, variant);
}

// A query of each request of a batch, over a cache in pages: q and out are [batch][num_qo_heads]
// [kHeadDim]. A request without pages has the result 0.
template <int kHeadDim, typename Q, typename KV, typename Variant = Plain>
cudaError_t BatchDecodeWithPagedKVCache(const Q* q, const PagedCache<KV>& cache, Q* out,
                                        const BatchSizes& sizes, Workspace& workspace,
                                        const CallOptions& options = {},
                                        const Variant& variant = {}) {
  using Config = detail::CallConfig<Q, KV, Q, PagedKeys<KV>, Variant, kHeadDim, 16>;
  workspace.clear_problem();
  const bool used = sizes.batch > 0;
  cudaError_t status = detail::first_of({
      detail::check_heads(workspace, sizes.num_qo_heads, sizes.num_kv_heads),
      detail::check_at_least(workspace, "batch", sizes.batch, 0),
      detail::check_at_least(workspace, "page_size", cache.page_size, 1),
      detail::check_scales(workspace, options),
      detail::check_pointer(workspace, "indptr", cache.indptr, used, /*of_rows=*/false),
      detail::check_pointer(workspace, "last_page_len", cache.last_page_len, used, false),
      detail::check_pointer(workspace, "q", q, used),
      detail::check_pointer(workspace, "out", out, used),
  });
  if (status != cudaSuccess || !used) return status;
  const bool has_pages = cache.indptr[sizes.batch] > 0;
  status = detail::first_of({
      detail::check_pointer(workspace, "k", cache.k, has_pages),
      detail::check_pointer(workspace, "v", cache.v, has_pages),
      detail::check_pointer(workspace, "indices", cache.indices, has_pages, /*of_rows=*/false),
  });
  if (status != cudaSuccess) return status;
  Batch batch;
  batch.requests = sizes.batch;
  batch.kv_indptr = cache.indptr;
  batch.page_size = cache.page_size;
  batch.last_page_len = cache.last_page_len;
  constexpr int64_t kDim = kHeadDim;
  const int64_t slot = options.hnd ? kDim : sizes.num_kv_heads * kDim;
  const int64_t head = options.hnd ? cache.page_size * kDim : kDim;
  const int64_t page = int64_t{cache.page_size} * sizes.num_kv_heads * kDim;
  const device::PagedRows<const KV> k = {cache.k, page, slot, head};
  const device::PagedRows<const KV> v = {cache.v, page, slot, head};
  const PagedKeys<KV> keys = {k, v, {cache.indices}, device::Divisor(cache.page_size)};
  return detail::call<Config>(batch, sizes.num_qo_heads, sizes.num_kv_heads, q, keys, out,
                              workspace, options, variant);
}

}  // namespace fictl::attention
