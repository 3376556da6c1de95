// The planner of attention, as bindings export it.
#pragma once

#include <stdint.h>

namespace fictl {

// `Planner` is attention::Planner, which this header need not know. Addresses are of int32 on the
// host, 0 where there is none. The list goes to `list`, if `room` numbers are enough: items, then
// merges. Eight numbers of int64 go to `counts`: of items, merges, partial rows, tiles, keys to a
// part, and where queries, keys and the custom mask end; or a refusal, whose first number is below
// 0: kind, request, what was found, and its bound. Why addresses: lengths are on the host whatever
// the device of the kernels is.
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
  auto* found = reinterpret_cast<int64_t*>(counts);
  if (refusal.kind != 0) {
    found[0] = -int64_t{refusal.kind};
    found[1] = refusal.request;
    found[2] = refusal.found;
    found[3] = refusal.bound;
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
  found[0] = sizes.items;
  found[1] = sizes.merges;
  found[2] = sizes.partial_rows;
  found[3] = planner.tiles();
  found[4] = planner.part_length();
  found[5] = planner.query_end();
  found[6] = planner.key_end();
  found[7] = planner.mask_end();
}

}  // namespace fictl
