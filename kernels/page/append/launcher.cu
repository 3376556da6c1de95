#include <binding/indices.h>
#include <binding/launch.h>
#include <binding/paged.h>

#include <fictl/page/append.cuh>

namespace fictl::page {

namespace {

void check_rows(const Launch& launch, const char* name, View x, int ndim, int64_t tokens) {
  if (x.ndim() == ndim && x.size(0) == tokens) return;
  FICTL_THROW(ValueError) << launch.op << ": argument '" << name << "' has shape " << Shape{x}
                          << "; it is (" << tokens << (ndim == 3 ? ", heads, dim)" : ", dim)");
}

void check_neighbours(const Launch& launch, const char* name, View x) {
  if (x.size(-1) <= 1 || x.stride(-1) == 1) return;
  FICTL_THROW(ValueError) << launch.op << ": argument '" << name << "' has strides " << Strides{x}
                          << ": the elements of a row are not neighbours; pass " << name
                          << ".contiguous()";
}

void check_cache(const Launch& launch, const char* name, const PagedView& cache,
                 const char* append_name, View append) {
  check_neighbours(launch, name, cache.tensor);
  const int64_t heads = append.ndim() == 3 ? append.size(1) : 1;
  if (cache.heads == heads && cache.dim == append.size(-1) && cache.page_size > 0) return;
  FICTL_THROW(ValueError) << launch.op << ": argument '" << name << "' has shape "
                          << Shape{cache.tensor} << ", which is pages of " << cache.page_size
                          << " slots of " << cache.heads << " x " << cache.dim << "; '"
                          << append_name << "' has shape " << Shape{append};
}

AppendRows rows_of(View append, const PagedView& cache) {
  const int64_t bytes = append.dtype().bits / 8;
  const bool headed = append.ndim() == 3;
  return {append.data<const char>(),
          pitch(append, 0) * bytes,
          headed ? pitch(append, 1) * bytes : 0,
          {cache.tensor.data<char>() + cache.start * bytes, cache.page_pitch * bytes,
           cache.slot_pitch * bytes, cache.head_pitch * bytes},
          cache.heads,
          cache.dim * bytes};
}

// What is the same for both: the tokens, where they go, and the table of pages.
struct Tokens {
  View batch_indices;
  View positions;
  View kv_indices;
  View kv_indptr;
  View kv_last_page_len;

  void append(const Launch& launch, const AppendRows& first, const AppendRows& second,
              int64_t tokens, int64_t page_size, bool enable_pdl) const {
    const int64_t batch = kv_last_page_len.numel();
    indices<device::Indices>(launch, "kv_last_page_len", kv_last_page_len, batch);
    const device::PageTable table{
        indices<device::Indices>(launch, "kv_indices", kv_indices, kv_indices.numel()),
        indices<device::Indices>(launch, "kv_indptr", kv_indptr, batch + 1),
        device::Divisor(static_cast<int>(page_size)),
    };
    CUDA_CHECK(launch,
               Append(first, second, table,
                      indices<device::Indices>(launch, "batch_indices", batch_indices, tokens),
                      indices<device::Indices>(launch, "positions", positions, tokens), tokens,
                      launch.stream, launch.pdl && enable_pdl));
  }
};

}  // namespace

void append_paged_kv_cache(const Launch& launch, View append_key, View append_value,
                           View batch_indices, View positions, View k_cache, View v_cache,
                           bool stacked, bool hnd, View kv_indices, View kv_indptr,
                           View kv_last_page_len, bool enable_pdl) {
  constexpr const char* kCache = "paged_kv_cache";
  const int64_t tokens = append_key.size(0);
  check_rows(launch, "append_key", append_key, 3, tokens);
  check_rows(launch, "append_value", append_value, 3, tokens);
  check_neighbours(launch, "append_key", append_key);
  check_neighbours(launch, "append_value", append_value);
  const PagedView keys = paged_heads(launch, kCache, k_cache, hnd, stacked ? 0 : -1);
  const PagedView values = paged_heads(launch, kCache, v_cache, hnd, stacked ? 1 : -1);
  check_cache(launch, kCache, keys, "append_key", append_key);
  check_cache(launch, kCache, values, "append_value", append_value);
  if (keys.page_size != values.page_size) {
    FICTL_THROW(ValueError) << launch.op << ": argument '" << kCache << "' has pages of "
                            << keys.page_size << " keys and of " << values.page_size << " values";
  }
  const Tokens where{batch_indices, positions, kv_indices, kv_indptr, kv_last_page_len};
  where.append(launch, rows_of(append_key, keys), rows_of(append_value, values), tokens,
               keys.page_size, enable_pdl);
}

// Without the cache of a part, nothing becomes of that part.
void append_paged_mla_kv_cache(const Launch& launch, View append_ckv, View append_kpe,
                               View batch_indices, View positions, const View* ckv_cache,
                               const View* kpe_cache, View kv_indices, View kv_indptr,
                               View kv_last_page_len, bool enable_pdl) {
  const int64_t tokens = append_ckv.size(0);
  int64_t page_size = 0;
  const auto rows = [&](const char* name, View append, const char* cache_name, const View* cache) {
    check_rows(launch, name, append, 2, tokens);
    if (cache == nullptr) return AppendRows{};
    check_neighbours(launch, name, append);
    const PagedView paged = paged_latent(launch, cache_name, *cache);
    check_cache(launch, cache_name, paged, name, append);
    if (page_size != 0 && paged.page_size != page_size) {
      FICTL_THROW(ValueError) << launch.op << ": argument '" << cache_name << "' has pages of "
                              << paged.page_size << " slots, 'ckv_cache' of " << page_size;
    }
    page_size = paged.page_size;
    return rows_of(append, paged);
  };
  const AppendRows ckv = rows("append_ckv", append_ckv, "ckv_cache", ckv_cache);
  const AppendRows kpe = rows("append_kpe", append_kpe, "kpe_cache", kpe_cache);
  if (page_size == 0) return;
  const Tokens where{batch_indices, positions, kv_indices, kv_indptr, kv_last_page_len};
  where.append(launch, ckv, kpe, tokens, page_size, enable_pdl);
}

}  // namespace fictl::page
