// The planner with C's calling convention, as bindings export it otherwise.
#include <binding/attention_plan.h>

#include <fictl/attention/plan.cuh>

extern "C" void plan(int64_t qo_indptr, int64_t kv_indptr, int64_t last_page_len, int64_t kv_lens,
                     int64_t requests, int64_t q_len, int64_t page_size, int64_t rows,
                     int64_t group, int64_t kv_heads, int64_t slots, bool causal,
                     int64_t window_left, bool custom_mask, bool split, int64_t fixed_split,
                     int64_t most_queries, int64_t list, int64_t room, int64_t counts) {
  fictl::plan_attention<fictl::attention::Planner>(
      qo_indptr, kv_indptr, last_page_len, kv_lens, requests, q_len, page_size, rows, group,
      kv_heads, slots, causal, window_left, custom_mask, split, fixed_split, most_queries, list,
      room, counts);
}
