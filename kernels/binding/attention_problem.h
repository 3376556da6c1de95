// Turns the arguments of an attention call into a Problem of the module's configuration, and throws
// where they do not fit it. For launchers: it includes kernel headers.
#pragma once

#include <binding/attention_call.h>
#include <binding/paged.h>
#include <limits.h>

#include <type_traits>

#include <fictl/attention/fp4_keys.cuh>
#include <fictl/attention/head_shape.cuh>
#include <fictl/attention/problem.cuh>
#include <fictl/attention/variant.cuh>
#include <fictl/device/element.cuh>
#include <fictl/device/element_fp8.cuh>
#include <fictl/device/put.cuh>

namespace fictl {

namespace detail {

template <typename T>
void check_attention_dtype(const Launch& launch, const char* name, View x) {
  if (has_dtype<T>(x)) return;
  throw argument_error(ErrorKind::TypeError, launch.op, name)
      << "has dtype " << x.dtype() << "; this module is built for " << device::Element<T>::kName;
}

// Rows of heads are copied in chunks of 16 bytes, which are aligned to as many.
inline void check_attention_rows(const Launch& launch, const char* name, View x) {
  constexpr int64_t kChunkBytes = 16;
  const int64_t bytes = x.dtype().bits / 8;
  bool aligned = reinterpret_cast<uintptr_t>(x.data<const char>()) % kChunkBytes == 0;
  for (int dim = 0; dim < x.ndim() - 1; ++dim) aligned &= pitch(x, dim) * bytes % kChunkBytes == 0;
  if (x.numel() == 0 || (aligned && (x.size(-1) == 1 || x.stride(-1) == 1))) return;
  throw argument_error(ErrorKind::ValueError, launch.op, name)
      << "has strides " << Strides{x}
      << ": the last dimension must be contiguous (stride 1), and heads aligned to 16 bytes; pass "
      << name << ".contiguous()";
}

// The data of an optional tensor, or null.
template <typename T>
T* attention_numbers(const Launch& launch, const char* name, const View* x) {
  if (x == nullptr) return nullptr;
  check_attention_dtype<std::remove_const_t<T>>(launch, name, *x);
  if (x->contiguous()) return x->data<T>();
  throw argument_error(ErrorKind::ValueError, launch.op, name)
      << "is not contiguous: shape " << Shape{*x} << ", strides " << Strides{*x} << "; pass "
      << name << ".contiguous()";
}

template <typename T>
T* required_numbers(const Launch& launch, const char* name, const View* x) {
  if (x != nullptr) return attention_numbers<T>(launch, name, x);
  throw argument_error(ErrorKind::ValueError, launch.op, name) << "is missing";
}

template <typename T>
attention::Heads<T> token_heads(const Launch& launch, const char* name, View x, bool hnd,
                                int64_t heads, int64_t dim) {
  const int head = hnd ? 0 : 1;
  if (x.ndim() != 3 || x.size(head) != heads || x.size(2) != dim) {
    throw argument_error(ErrorKind::ValueError, launch.op, name)
        << "has shape " << Shape{x} << "; it is "
        << (hnd ? "(heads, tokens, dim)" : "(tokens, heads, dim)") << " with " << heads
        << " heads of " << dim;
  }
  check_attention_rows(launch, name, x);
  return {x.data<T>(), pitch(x, 1 - head), pitch(x, head)};
}

template <typename T>
void make_keys(const Launch& launch, const AttentionCall& call, int64_t kv_heads,
               attention::HeadDims dims, attention::RaggedKeys<T>* keys) {
  keys->k = token_heads<const T>(launch, "k", call.k, call.hnd, kv_heads, dims.keys);
  keys->v = token_heads<const T>(launch, "v", call.v, call.hnd, kv_heads, dims.values);
}

template <typename T>
device::PagedRows<const T> paged_rows(const Launch& launch, const char* name, View x,
                                      const AttentionCall& call, int64_t kv_heads, int64_t dim) {
  const PagedView paged = paged_heads(launch.op, name, x, call.hnd);
  check_pages(launch.op, name, paged, call.page_size, kv_heads, dim);
  if (call.page_size < 1) {
    throw argument_error(ErrorKind::ValueError, launch.op, name)
        << "has shape " << Shape{x} << ", which is pages of no slots";
  }
  check_attention_rows(launch, name, x);
  return {paged.data<const T>(), paged.page_pitch, paged.slot_pitch, paged.head_pitch};
}

template <typename T>
void make_keys(const Launch& launch, const AttentionCall& call, int64_t kv_heads,
               attention::HeadDims dims, attention::PagedKeys<T>* keys) {
  keys->k = paged_rows<T>(launch, call.paged_k, call.k, call, kv_heads, dims.keys);
  keys->v = paged_rows<T>(launch, call.paged_v, call.v, call, kv_heads, dims.values);
  keys->pages = required_numbers<const int32_t>(launch, "pages", call.pages);
  keys->page_size = device::Divisor(static_cast<int>(call.page_size));
  keys->page_count = call.pages->numel();
}

// The indices of pages come as two rows, of keys and of values, which may overlap.
template <typename T>
void make_keys(const Launch& launch, const AttentionCall& call, int64_t kv_heads,
               attention::HeadDims dims, attention::OwnPagedKeys<T>* keys) {
  keys->k = paged_rows<T>(launch, call.paged_k, call.k, call, kv_heads, dims.keys);
  keys->v = paged_rows<T>(launch, call.paged_v, call.v, call, kv_heads, dims.values);
  if (call.pages == nullptr || call.pages->ndim() != 2 || call.pages->size(0) != 2) {
    throw argument_error(ErrorKind::ValueError, launch.op, "pages")
        << "is not of two rows: keys and values have a table each";
  }
  detail::check_attention_dtype<int32_t>(launch, "pages", *call.pages);
  keys->pages = call.pages->template data<const int32_t>();
  keys->page_size = device::Divisor(static_cast<int>(call.page_size));
  keys->apart = pitch(*call.pages, 0);
}

// The scales of paged keys or values of four bits: blocks_k and blocks_v, or scale_k and scale_v.
inline device::PagedRows<const uint8_t> fp4_scales(const Launch& launch, const View* scales,
                                                   const AttentionCall& call, int64_t kv_heads,
                                                   int64_t dim, int64_t pages) {
  constexpr const char* kName = "kv_cache_sf";
  if (scales == nullptr) {
    throw argument_error(ErrorKind::ValueError, launch.op, kName)
        << "is missing: keys of 4 bits have a scale for each " << attention::kFp4Block;
  }
  const View x = *scales;
  if (!same_dtype(x.dtype(), kFloat8E4M3) && !same_dtype(x.dtype(), kUInt8)) {
    throw argument_error(ErrorKind::TypeError, launch.op, kName)
        << "has dtype " << x.dtype() << "; accepted: float8_e4m3fn, uint8";
  }
  const int64_t bytes = dim / attention::kFp4Block;
  const PagedView paged = paged_heads(launch.op, kName, x, call.hnd);
  check_pages(launch.op, kName, paged, call.page_size, kv_heads, bytes);
  const int64_t start = reinterpret_cast<int64_t>(paged.data<const uint8_t>());
  const bool aligned =
      (start | paged.page_pitch | paged.slot_pitch | paged.head_pitch) % bytes == 0;
  if (!aligned || x.stride(-1) != 1 || x.size(0) < pages) {
    throw argument_error(ErrorKind::ValueError, launch.op, kName)
        << "has shape " << Shape{x} << " and strides " << Strides{x} << "; it has the cache's "
        << pages << " pages, and rows contiguous and aligned to " << bytes << " bytes";
  }
  return {paged.data<const uint8_t>(), paged.page_pitch, paged.slot_pitch, paged.head_pitch};
}

inline void make_keys(const Launch& launch, const AttentionCall& call, int64_t kv_heads,
                      attention::HeadDims dims, attention::PagedFp4Keys* keys) {
  using Pair = attention::Fp4x2;
  keys->k = paged_rows<Pair>(launch, call.paged_k, call.k, call, kv_heads, dims.keys / 2);
  keys->v = paged_rows<Pair>(launch, call.paged_v, call.v, call, kv_heads, dims.values / 2);
  const int64_t pages = call.k.size(0);
  const bool apart = call.blocks_k != nullptr;
  keys->k_scales =
      fp4_scales(launch, apart ? call.blocks_k : call.scale_k, call, kv_heads, dims.keys, pages);
  keys->v_scales =
      fp4_scales(launch, apart ? call.blocks_v : call.scale_v, call, kv_heads, dims.values, pages);
  keys->pages = required_numbers<const int32_t>(launch, "pages", call.pages);
  keys->page_size = device::Divisor(static_cast<int>(call.page_size));
  keys->page_count = call.pages->numel();
}

// 0 if k has no such dimension. With a page size of 1, the dimension of slots may be missing.
inline int64_t heads_of_keys(const AttentionCall& call, bool paged) {
  const View k = call.k;
  if (!paged) return k.ndim() == 3 ? k.size(call.hnd ? 0 : 1) : 0;
  return k.ndim() < 3 ? 0 : k.size(call.hnd && k.ndim() == 4 ? -3 : -2);
}

// The lists of runs come as `pages`, the entries between two of them as page_size.
template <typename T>
void make_keys(const Launch& launch, const AttentionCall& call, int64_t kv_heads,
               attention::HeadDims dims, attention::RunKeys<T>* keys) {
  keys->k = token_heads<const T>(launch, "k", call.k, call.hnd, kv_heads, dims.keys);
  keys->v = token_heads<const T>(launch, "v", call.v, call.hnd, kv_heads, dims.values);
  const auto* lists = required_numbers<const int32_t>(launch, "pages", call.pages);
  keys->lists = reinterpret_cast<const attention::Run*>(lists);
  keys->pitch = call.page_size;
}

template <typename Keys>
constexpr bool in_pages = false;
template <typename T>
constexpr bool in_pages<attention::PagedKeys<T>> = true;
template <typename T>
constexpr bool in_pages<attention::OwnPagedKeys<T>> = true;
template <>
inline constexpr bool in_pages<attention::PagedFp4Keys> = true;

inline attention::Plain variant_part(const Launch&, const AttentionCall&, Type<attention::Plain>) {
  return {};
}
inline attention::SoftCap variant_part(const Launch&, const AttentionCall& call,
                                       Type<attention::SoftCap>) {
  const auto cap = static_cast<float>(call.soft_cap);
  return {{}, cap, 1.0f / cap};
}
inline attention::Alibi variant_part(const Launch& launch, const AttentionCall& call,
                                     Type<attention::Alibi>) {
  return {{}, required_numbers<const float>(launch, "slopes", call.slopes)};
}
inline attention::CustomMask variant_part(const Launch& launch, const AttentionCall& call,
                                          Type<attention::CustomMask>) {
  return {{}, required_numbers<const uint8_t>(launch, "mask", call.mask)};
}
inline attention::DraftMask variant_part(const Launch&, const AttentionCall& call,
                                         Type<attention::DraftMask>) {
  // The binding has checked it.
  return {{}, call.mask->data<const uint16_t>(), static_cast<int>(call.mask->size(-1))};
}
// Numbers of each query, `Numbers` being int2 or int4.
template <typename Numbers>
const Numbers* of_queries(const Launch& launch, const char* name, const AttentionCall& call) {
  constexpr int64_t kCount = sizeof(Numbers) / sizeof(int32_t);
  const auto* numbers = required_numbers<const int32_t>(launch, name, call.mask);
  const bool fits = call.mask->ndim() == 2 && call.mask->size(0) >= call.q.size(0) &&
                    call.mask->size(1) == kCount;
  if (fits && reinterpret_cast<uintptr_t>(numbers) % sizeof(Numbers) == 0) {
    return reinterpret_cast<const Numbers*>(numbers);
  }
  throw argument_error(ErrorKind::ValueError, launch.op, name)
      << "has shape " << Shape{*call.mask} << "; it is (" << call.q.size(0) << ", " << kCount
      << "), aligned to " << int64_t{sizeof(Numbers)} << " bytes";
}
inline attention::Spans variant_part(const Launch& launch, const AttentionCall& call,
                                     Type<attention::Spans>) {
  return {{}, of_queries<int4>(launch, "spans", call)};
}
inline attention::CausalOrRange variant_part(const Launch& launch, const AttentionCall& call,
                                             Type<attention::CausalOrRange>) {
  const auto* windows = required_numbers<const double>(launch, "windows", call.scalars);
  return {{},
          of_queries<int2>(launch, "bidirectional_ranges", call),
          static_cast<int>(windows[0]),
          static_cast<int>(windows[1])};
}

// One number, or one for each head.
inline attention::HeadScale head_scale(const Launch& launch, const char* name, const View* scale,
                                       int64_t heads) {
  const auto* numbers = attention_numbers<const float>(launch, name, scale);
  if (numbers == nullptr) return {nullptr, 0};
  if (scale->ndim() <= 1 && (scale->numel() == 1 || scale->numel() == heads)) {
    return {numbers, scale->numel() == 1 ? 0 : 1};
  }
  throw argument_error(ErrorKind::ValueError, launch.op, name)
      << "has shape " << Shape{*scale} << "; it is (" << heads << "), a number a head, or (1)";
}
inline attention::HeadScales variant_part(const Launch& launch, const AttentionCall& call,
                                          Type<attention::HeadScales>) {
  const int64_t kv_heads = heads_of_keys(call, call.pages != nullptr);
  return {{},
          head_scale(launch, "scale_q", call.scale_q, call.q.size(-2)),
          head_scale(launch, "scale_k", call.scale_k, kv_heads),
          head_scale(launch, "scale_v", call.scale_v, kv_heads)};
}
template <typename User>
User variant_part(const Launch& launch, const AttentionCall& call, Type<User>) {
  return User::of(attention_numbers<const double>(launch, "scalars", call.scalars));
}
template <typename... Parts>
attention::All<Parts...> variant_part(const Launch& launch, const AttentionCall& call,
                                      Type<attention::All<Parts...>>) {
  return {variant_part(launch, call, Type<Parts>())...};
}

// A list of records of int32, (count, sizeof(Record) / 4).
template <typename Record>
const Record* work_list(const Launch& launch, const char* name, View x) {
  constexpr int64_t kNumbers = sizeof(Record) / sizeof(int32_t);
  if (x.numel() != 0 && (x.ndim() != 2 || x.size(1) != kNumbers)) {
    throw argument_error(ErrorKind::ValueError, launch.op, name)
        << "has shape " << Shape{x} << "; it is (count, " << kNumbers << ")";
  }
  return reinterpret_cast<const Record*>(attention_numbers<const int32_t>(launch, name, &x));
}

// Why the launcher copies: had Python done so, the GPU would wait for all that Python does between
// its copy and the kernels.
constexpr int64_t kMostPut = 4000;

inline void copy_list(const Launch& launch, const AttentionCall& call) {
  if (call.list == nullptr || call.list->numel() == 0) return;
  const auto* numbers = attention_numbers<const int32_t>(launch, "list", call.list);
  const int64_t room = call.items.numel() + call.merges.numel();
  if (call.list->numel() != room || call.list->device().device_type != kDLCPU) {
    throw argument_error(ErrorKind::ValueError, launch.op, "list")
        << "has " << call.list->numel()
        << " numbers; it is on the host, and as long as items and merges: " << room;
  }
  auto* to = call.items.data<int32_t>();
  if (room <= kMostPut) {
    CUDA_CHECK(launch,
               device::put(to, numbers, room, launch.stream, launch.pdl && call.enable_pdl));
  } else {
    CUDA_CHECK(launch, cudaMemcpyAsync(to, numbers, room * sizeof(int32_t), cudaMemcpyHostToDevice,
                                       launch.stream));
  }
}

}  // namespace detail

template <typename Config>
attention::Problem<Config> attention_problem(const Launch& launch, const AttentionCall& call) {
  using Q = typename Config::Q;
  using O = typename Config::O;
  using KV = typename Config::Keys::Element;
  constexpr attention::HeadDims kDims = {Config::kHeadDim, attention::kValueDimOf<Config>};
  detail::check_attention_dtype<Q>(launch, "q", call.q);
  constexpr bool paged = detail::in_pages<typename Config::Keys>;
  detail::check_attention_dtype<KV>(launch, paged ? call.paged_k : "k", call.k);
  detail::check_attention_dtype<KV>(launch, paged ? call.paged_v : "v", call.v);
  detail::check_attention_dtype<O>(launch, "out", call.out);
  const int64_t heads = call.q.size(-2);
  const int64_t kv_heads = detail::heads_of_keys(call, paged);
  if (heads < 1 || kv_heads < 1 || heads % kv_heads != 0) {
    throw argument_error(ErrorKind::ValueError, launch.op, "q")
        << "has shape " << Shape{call.q} << " and 'k' has " << Shape{call.k} << ": " << heads
        << " heads are not shared out to " << kv_heads;
  }
  if (!(call.sm_scale > 0.0)) {
    throw argument_error(ErrorKind::ValueError, launch.op, "sm_scale")
        << "is " << call.sm_scale << "; it is above 0";
  }
  detail::copy_list(launch, call);
  typename Config::Keys keys{};
  detail::make_keys(launch, call, kv_heads, kDims, &keys);
  constexpr float kUnit = attention::kIsFp4<typename Config::Keys> ? attention::kFp4Unit : 1.0f;
  const bool all = call.window_left < 0 || call.window_left > INT_MAX;
  return {
      detail::token_heads<const Q>(launch, "q", call.q, false, heads, kDims.keys),
      keys,
      detail::token_heads<O>(launch, "out", call.out, false, heads, kDims.values),
      detail::attention_numbers<float>(launch, "lse", call.lse),
      detail::attention_numbers<const float>(launch, "sinks", call.sinks),
      detail::attention_numbers<float>(launch, "workspace_out", call.workspace_out),
      detail::attention_numbers<float>(launch, "workspace_lse", call.workspace_lse),
      detail::work_list<attention::Item>(launch, "items", call.items),
      static_cast<int>(call.items.size(0)),
      detail::work_list<attention::Merge>(launch, "merges", call.merges),
      static_cast<int>(call.merges.size(0)),
      static_cast<int>(kv_heads),
      device::Divisor(static_cast<int>(heads / kv_heads)),
      static_cast<float>(call.sm_scale) * kUnit,
      static_cast<float>(call.v_scale) * kUnit,
      all ? INT_MAX : static_cast<int>(call.window_left),
      call.causal,
      rope::Frequencies(kDims.keys, call.rope_scale, call.rope_theta, {}),
      detail::variant_part(launch, call, Type<typename Config::Variant>()),
  };
}

}  // namespace fictl
