// The planner of attention, as bindings export it.
#pragma once

#include <stdint.h>

namespace fictl {

// `Planner` is attention::Planner, a template argument so that this header includes no kernel.
// Addresses are those of int32 arrays on the host, or 0. Why addresses: lengths are on the host
// whatever the device of the kernels is. Writes the items and then the merges to `list`, which has
// room for `room` numbers, if that is enough. Writes eight int64 to `counts`: items, merges,
// partial rows, tiles, keys to a part, and the ends of queries, keys and custom mask; or, where the
// lengths are refused, minus the kind, the request, the value seen, and its bound.
template <typename Planner>
void plan_attention(int64_t qo_indptr, int64_t kv_indptr, int64_t last_page_len, int64_t kv_lens,
                    int64_t requests, int64_t q_len, int64_t page_size, int64_t rows, int64_t group,
                    int64_t kv_heads, int64_t slots, bool causal, int64_t window_left,
                    bool custom_mask, bool split, int64_t fixed_split, int64_t most_queries,
                    int64_t list, int64_t room, int64_t counts) {
  constexpr int kAll = 0x7fffffff;
  const auto numbers = [](int64_t address) { return reinterpret_cast<const int32_t*>(address); };
  const auto narrow = [](int64_t value) { return static_cast<int>(value); };
  typename Planner::Lengths lengths;
  lengths.requests = narrow(requests);
  lengths.qo_indptr = numbers(qo_indptr);
  lengths.q_len = narrow(q_len);
  lengths.kv_indptr = numbers(kv_indptr);
  lengths.page_size = narrow(page_size);
  lengths.last_page_len = numbers(last_page_len);
  lengths.kv_lens = numbers(kv_lens);
  typename Planner::Options options;
  options.rows = narrow(rows);
  options.group = narrow(group);
  options.kv_heads = narrow(kv_heads);
  options.slots = narrow(slots);
  options.causal = causal;
  options.window_left = window_left < 0 || window_left > kAll ? kAll : narrow(window_left);
  options.custom_mask = custom_mask;
  options.split = split;
  options.fixed_split = narrow(fixed_split < kAll / 2 ? fixed_split : kAll / 2);
  options.most_queries = narrow(most_queries);
  const Planner planner(lengths, options);
  const auto& refusal = planner.refusal();
  auto* numbers_out = reinterpret_cast<int64_t*>(counts);
  if (refusal.kind != 0) {
    numbers_out[0] = -int64_t{refusal.kind};
    numbers_out[1] = refusal.request;
    numbers_out[2] = refusal.found;
    numbers_out[3] = refusal.bound;
    return;
  }
  using Item = typename Planner::Work;
  using Merge = typename Planner::Merging;
  const auto& sizes = planner.sizes();
  constexpr int64_t kItem = sizeof(Item) / sizeof(int32_t);
  constexpr int64_t kMerge = sizeof(Merge) / sizeof(int32_t);
  if (sizes.items * kItem + sizes.merges * kMerge <= room) {
    auto* items = reinterpret_cast<Item*>(list);
    planner.write(items, reinterpret_cast<Merge*>(items + sizes.items));
  }
  numbers_out[0] = sizes.items;
  numbers_out[1] = sizes.merges;
  numbers_out[2] = sizes.partial_rows;
  numbers_out[3] = planner.tiles();
  numbers_out[4] = planner.part_length();
  numbers_out[5] = planner.query_end();
  numbers_out[6] = planner.key_end();
  numbers_out[7] = planner.mask_end();
}

}  // namespace fictl
