#include <binding/indices.h>
#include <binding/launch.h>
#include <binding/paged.h>

#include <fictl/page/append.cuh>

namespace fictl::page {

namespace {

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

// The arguments that both ops share: which request and position each token has, and the page table.
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
                           View batch_indices, View positions, const PagedView& keys,
                           const PagedView& values, View kv_indices, View kv_indptr,
                           View kv_last_page_len, bool enable_pdl) {
  const Tokens tokens{batch_indices, positions, kv_indices, kv_indptr, kv_last_page_len};
  tokens.append(launch, rows_of(append_key, keys), rows_of(append_value, values),
                append_key.size(0), keys.page_size, enable_pdl);
}

// A part without a cache is not appended.
void append_paged_mla_kv_cache(const Launch& launch, View append_ckv, View append_kpe,
                               View batch_indices, View positions, const PagedView* ckv_cache,
                               const PagedView* kpe_cache, View kv_indices, View kv_indptr,
                               View kv_last_page_len, bool enable_pdl) {
  if (ckv_cache == nullptr && kpe_cache == nullptr) return;
  const Tokens tokens{batch_indices, positions, kv_indices, kv_indptr, kv_last_page_len};
  const int64_t page_size = (ckv_cache != nullptr ? ckv_cache : kpe_cache)->page_size;
  const AppendRows ckv = ckv_cache ? rows_of(append_ckv, *ckv_cache) : AppendRows{};
  const AppendRows kpe = kpe_cache ? rows_of(append_kpe, *kpe_cache) : AppendRows{};
  tokens.append(launch, ckv, kpe, append_ckv.size(0), page_size, enable_pdl);
}

}  // namespace fictl::page
