#include <binding/launch.h>

#include <algorithm>

#include <fictl/attention/planned_prefill.cuh>

namespace fictl::attention {

namespace {

const int32_t* numbers(const View* x) { return x == nullptr ? nullptr : x->data<const int32_t>(); }

}  // namespace

void list_work(const Launch& launch, View items, View merges, const View* kv_lens,
               const View* q_lens, const View* q_starts, const View* kv_starts, int64_t requests,
               int64_t q_unit, int64_t kv_unit, int64_t q_len, int64_t queries, int64_t keys,
               int64_t pitch, int64_t rows, int64_t group, int64_t slots, int64_t window_left,
               bool causal, bool enable_pdl) {
  Requests batch{};
  batch.count = static_cast<int>(requests);
  batch.kv_lens = numbers(kv_lens);
  batch.q_lens = numbers(q_lens);
  batch.q_starts = numbers(q_starts);
  batch.kv_starts = numbers(kv_starts);
  batch.q_unit = device::Divisor(std::max(static_cast<int>(q_unit), 1));
  batch.kv_unit = device::Divisor(std::max(static_cast<int>(kv_unit), 1));
  batch.q_len = static_cast<int>(q_len);
  batch.queries = static_cast<int>(queries);
  batch.keys = static_cast<int>(keys);
  batch.pitch = static_cast<int>(pitch);
  const bool all = window_left < 0 || window_left > INT_MAX;
  const Sight sight{static_cast<int>(group), causal, all ? INT_MAX : static_cast<int>(window_left)};
  const int parts = static_cast<int>(merges.size(0));
  constexpr int kStep = 128;  // keys of a stage of any kernel, or whole stages
  const Sharing sharing{static_cast<int>(rows), static_cast<int>(slots), kStep, parts};
  const WorkRoom room{reinterpret_cast<Item*>(items.data<int32_t>()),
                      static_cast<int>(items.size(0)),
                      reinterpret_cast<Merge*>(merges.data<int32_t>()), parts};
  CUDA_CHECK(launch,
             ListWork(batch, sight, sharing, room, launch.stream, launch.pdl && enable_pdl));
}

}  // namespace fictl::attention
