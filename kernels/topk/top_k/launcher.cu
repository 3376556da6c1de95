#include <binding/indices.h>
#include <binding/row_pitch.h>

#include <fictl/topk/top_k.cuh>

namespace fictl::topk {

namespace {

constexpr int64_t kLarge = 2;  // TopKTieBreak.LARGE

// None where there is no tensor.
device::Indices indices_of(const Launch& launch, const char* name, const View* x, int64_t count) {
  return x == nullptr ? device::Indices() : indices<device::Indices>(launch, name, *x, count);
}

template <typename T>
void run(const Launch& launch, const char* name, View input, const Sink<T>& sink,
         device::Indices starts, RowLengths lengths, int64_t k, int64_t order, int64_t tie_break,
         int64_t algorithm, bool enable_pdl) {
  const TopKRows<T> rows{input.data<const T>(), row_pitch(launch.op, name, input),
                         static_cast<int>(input.size(1)), starts, lengths};
  CUDA_CHECK(launch, TopK(rows, sink, input.size(0), static_cast<int>(k), static_cast<Order>(order),
                          tie_break == kLarge, launch.sm_count, launch.stream,
                          launch.pdl && enable_pdl, static_cast<TopKAlgorithm>(algorithm)));
}

}  // namespace

void top_k(const Launch& launch, View values, View indices, View input, int64_t k, int64_t order,
           int64_t tie_break, int64_t algorithm, bool enable_pdl) {
  const int64_t values_pitch = WRITTEN_ROW_PITCH(launch, values);
  const int64_t indices_pitch = WRITTEN_ROW_PITCH(launch, indices);
  DISPATCH_DTYPE(launch, input, T, (__half, __nv_bfloat16, float), {
    Sink<T> sink;
    sink.values = values.data<T>();
    sink.values_pitch = values_pitch;
    sink.indices = indices.data<int64_t>();
    sink.indices_pitch = indices_pitch;
    run<T>(launch, "input", input, sink, {}, {}, k, order, tie_break, algorithm, enable_pdl);
  });
}

void top_k_page_table_transform(const Launch& launch, View out, const View* out_raw_indices,
                                View input, View src_page_table, View lengths,
                                const View* row_to_batch, const View* row_starts,
                                const View* page_table_row_starts, int64_t k, int64_t page_size,
                                int64_t order, int64_t tie_break, int64_t algorithm,
                                bool enable_pdl) {
  const int64_t rows = input.size(0);
  const auto starts = indices_of(launch, "row_starts", row_starts, rows);
  const auto sizes = indices_of(launch, "lengths", &lengths, rows);
  PageTable pages;
  pages.data = src_page_table.data<const int32_t>();
  pages.pitch = ROW_PITCH(launch, src_page_table);
  pages.rows = static_cast<int>(src_page_table.size(0));
  pages.cols = static_cast<int>(src_page_table.size(1));
  while (int64_t{1} << pages.page_bits < page_size) ++pages.page_bits;
  pages.row_to_batch = indices_of(launch, "row_to_batch", row_to_batch, rows);
  pages.starts = page_table_row_starts == nullptr
                     ? starts
                     : indices_of(launch, "page_table_row_starts", page_table_row_starts, rows);
  const int64_t out_pitch = WRITTEN_ROW_PITCH(launch, out);
  const int64_t raw_pitch =
      out_raw_indices == nullptr
          ? 0
          : row_pitch(launch.op, "out_raw_indices", *out_raw_indices, /*written=*/true);
  DISPATCH_DTYPE(launch, input, T, (__half, __nv_bfloat16, float), {
    Sink<T> sink;
    sink.out = out.data<int32_t>();
    sink.out_pitch = out_pitch;
    sink.raw = out_raw_indices == nullptr ? nullptr : out_raw_indices->data<int32_t>();
    sink.raw_pitch = raw_pitch;
    sink.has_pages = true;
    sink.pages = pages;
    run<T>(launch, "input", input, sink, starts, {sizes}, k, order, tie_break, algorithm,
           enable_pdl);
  });
}

void top_k_ragged_transform(const Launch& launch, View out, View input, View offsets, View lengths,
                            const View* row_starts, int64_t k, int64_t order, int64_t tie_break,
                            int64_t algorithm, bool enable_pdl) {
  const int64_t rows = input.size(0);
  const auto starts = indices_of(launch, "row_starts", row_starts, rows);
  const auto sizes = indices_of(launch, "lengths", &lengths, rows);
  const int64_t out_pitch = WRITTEN_ROW_PITCH(launch, out);
  DISPATCH_DTYPE(launch, input, T, (__half, __nv_bfloat16, float), {
    Sink<T> sink;
    sink.out = out.data<int32_t>();
    sink.out_pitch = out_pitch;
    sink.offsets = indices_of(launch, "offsets", &offsets, rows);
    run<T>(launch, "input", input, sink, starts, {sizes}, k, order, tie_break, algorithm,
           enable_pdl);
  });
}

void top_k_varlen(const Launch& launch, View out_indices, const View* out_values, View logits,
                  View seq_lens, int64_t k, int64_t compress_ratio, int64_t next_n, int64_t order,
                  int64_t tie_break, int64_t algorithm, bool enable_pdl) {
  const RowLengths lengths{indices_of(launch, "seq_lens", &seq_lens, logits.size(0) / next_n),
                           device::Divisor(static_cast<int>(next_n)),
                           device::Divisor(static_cast<int>(compress_ratio))};
  const int64_t out_pitch = WRITTEN_ROW_PITCH(launch, out_indices);
  const int64_t values_pitch =
      out_values == nullptr ? 0 : row_pitch(launch.op, "out_values", *out_values, /*written=*/true);
  DISPATCH_DTYPE(launch, logits, T, (__half, __nv_bfloat16, float), {
    Sink<T> sink;
    sink.out = out_indices.data<int32_t>();
    sink.out_pitch = out_pitch;
    sink.values = out_values == nullptr ? nullptr : out_values->data<T>();
    sink.values_pitch = values_pitch;
    run<T>(launch, "logits", logits, sink, {}, lengths, k, order, tie_break, algorithm, enable_pdl);
  });
}

}  // namespace fictl::topk
