#include <binding/ffi.h>

namespace fictl::topk {
void top_k(const Launch& launch, View values, View indices, View input, int64_t k, int64_t order,
           int64_t tie_break, int64_t algorithm, bool enable_pdl);
void top_k_page_table_transform(const Launch& launch, View out, const View* out_raw_indices,
                                View input, View src_page_table, View lengths,
                                const View* row_to_batch, const View* row_starts,
                                const View* page_table_row_starts, int64_t k, int64_t page_size,
                                int64_t order, int64_t tie_break, int64_t algorithm,
                                bool enable_pdl);
void top_k_ragged_transform(const Launch& launch, View out, View input, View offsets, View lengths,
                            const View* row_starts, int64_t k, int64_t order, int64_t tie_break,
                            int64_t algorithm, bool enable_pdl);
void top_k_varlen(const Launch& launch, View out_indices, const View* out_values, View logits,
                  View seq_lens, int64_t k, int64_t compress_ratio, int64_t next_n, int64_t order,
                  int64_t tie_break, int64_t algorithm, bool enable_pdl);
}  // namespace fictl::topk

namespace {

using fictl::ErrorKind;
using fictl::Shape;
using fictl::View;
using tvm::ffi::Optional;

void check_input(const char* op, View input, const char* name = "input") {
  constexpr int64_t kMost = (int64_t{1} << 31) - 64;  // Indices of whole vectors are below 2^31.
  fictl::check_device(op, name, input);
  fictl::check_dim(op, name, input, 2);
  if (input.size(1) <= kMost) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, name)
               << "has shape " << Shape{input} << "; a row has at most " << kMost << " elements");
}

void check_k(const char* op, int64_t k, View input, bool within, const char* name = "k",
             const char* input_name = "input") {
  constexpr int64_t kMost = (int64_t{1} << 31) - 1;
  if (k >= 0 && k <= (within ? input.size(1) : kMost)) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, name)
               << "is " << k << ", '" << input_name << "' has rows of " << input.size(1)
               << " elements; pass " << (within ? "0 to as many" : "0 to 2^31 - 1"));
}

void check_tie_break(const char* op, int64_t tie_break) {
  if (tie_break >= 0 && tie_break <= 2) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, "tie_break")
               << "is " << tie_break << "; it is 0, 1 or 2: TopKTieBreak.NONE, SMALL or LARGE");
}

// An output of shape (rows, k).
void check_result(const char* op, const char* name, View x, View input, int64_t k, DLDataType dtype,
                  const char* input_name = "input") {
  fictl::check_same_device(op, name, x, input_name, input);
  fictl::check_dtype(op, name, x, dtype);
  if (x.ndim() == 2 && x.size(0) == input.size(0) && x.size(1) == k) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, name)
               << "has shape " << Shape{x} << "; it is (" << input.size(0) << ", " << k << ")");
}

// A number from 1 to 2^31 - 1.
void check_count(const char* op, const char* name, int64_t count) {
  constexpr int64_t kMost = (int64_t{1} << 31) - 1;
  if (count >= 1 && count <= kMost) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, name)
               << "is " << count << "; pass 1 to 2^31 - 1");
}

// Each request has next_n of the rows.
void check_requests(const char* op, View seq_lens, View logits, int64_t next_n) {
  fictl::check_same_device(op, "seq_lens", seq_lens, "logits", logits);
  const bool fits = seq_lens.ndim() == 1 && seq_lens.size(0) * next_n == logits.size(0);
  if (fits) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, "seq_lens")
               << "has shape " << Shape{seq_lens} << ", 'logits' has " << logits.size(0)
               << " rows and next_n is " << next_n << ": it has one length for every next_n rows");
}

void check_numbers(const char* op, const char* name, const View* x, View input) {
  if (x != nullptr) fictl::check_same_device(op, name, *x, "input", input);
}

void check_page_table(const char* op, View src_page_table, View input) {
  fictl::check_same_device(op, "src_page_table", src_page_table, "input", input);
  fictl::check_dim(op, "src_page_table", src_page_table, 2);
  fictl::check_dtype(op, "src_page_table", src_page_table, fictl::kInt32);
}

void check_pages(const char* op, int64_t page_size, const View* row_starts, const View* starts) {
  constexpr int64_t kMost = int64_t{1} << 30;
  if (page_size < 1 || page_size > kMost || (page_size & (page_size - 1)) != 0) {
    fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, "page_size")
                 << "is " << page_size << "; it is a power of two up to 2^30");
  }
  if (page_size > 1 && row_starts != nullptr && starts == nullptr) {
    fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, "page_table_row_starts")
                 << "is None, row_starts is given and page_size is " << page_size
                 << ": row_starts counts scores, not pages; pass both");
  }
}

void top_k(View values, View indices, View input, int64_t k, int64_t order, int64_t tie_break,
           int64_t algorithm, bool enable_pdl) {
  check_input(__func__, input);
  check_k(__func__, k, input, /*within=*/true);
  check_tie_break(__func__, tie_break);
  check_result(__func__, "values", values, input, k, input.dtype());
  check_result(__func__, "indices", indices, input, k, fictl::kInt64);
  fictl::call(__func__, input, fictl::topk::top_k, values, indices, input, k, order, tie_break,
              algorithm, enable_pdl);
}

void top_k_page_table_transform(View out, Optional<View> out_raw_indices, View input,
                                View src_page_table, View lengths, Optional<View> row_to_batch,
                                Optional<View> row_starts, Optional<View> page_table_row_starts,
                                int64_t k, int64_t page_size, int64_t order, int64_t tie_break,
                                int64_t algorithm, bool enable_pdl) {
  const View* raw = pointer(out_raw_indices);
  const View* batches = pointer(row_to_batch);
  const View* starts = pointer(row_starts);
  const View* table_starts = pointer(page_table_row_starts);
  check_input(__func__, input);
  check_k(__func__, k, input, /*within=*/false);
  check_tie_break(__func__, tie_break);
  check_page_table(__func__, src_page_table, input);
  check_pages(__func__, page_size, starts, table_starts);
  check_numbers(__func__, "lengths", &lengths, input);
  check_numbers(__func__, "row_to_batch", batches, input);
  check_numbers(__func__, "row_starts", starts, input);
  check_numbers(__func__, "page_table_row_starts", table_starts, input);
  check_result(__func__, "out", out, input, k, fictl::kInt32);
  if (raw != nullptr) check_result(__func__, "out_raw_indices", *raw, input, k, fictl::kInt32);
  fictl::call(__func__, input, fictl::topk::top_k_page_table_transform, out, raw, input,
              src_page_table, lengths, batches, starts, table_starts, k, page_size, order,
              tie_break, algorithm, enable_pdl);
}

void top_k_ragged_transform(View out, View input, View offsets, View lengths,
                            Optional<View> row_starts, int64_t k, int64_t order, int64_t tie_break,
                            int64_t algorithm, bool enable_pdl) {
  const View* starts = pointer(row_starts);
  check_input(__func__, input);
  check_k(__func__, k, input, /*within=*/false);
  check_tie_break(__func__, tie_break);
  check_numbers(__func__, "offsets", &offsets, input);
  check_numbers(__func__, "lengths", &lengths, input);
  check_numbers(__func__, "row_starts", starts, input);
  check_result(__func__, "out", out, input, k, fictl::kInt32);
  fictl::call(__func__, input, fictl::topk::top_k_ragged_transform, out, input, offsets, lengths,
              starts, k, order, tie_break, algorithm, enable_pdl);
}

void top_k_varlen(View out_indices, Optional<View> out_values, View logits, View seq_lens,
                  int64_t k, int64_t compress_ratio, int64_t next_n, int64_t order,
                  int64_t tie_break, int64_t algorithm, bool enable_pdl) {
  const View* values = pointer(out_values);
  check_input(__func__, logits, "logits");
  check_k(__func__, k, logits, /*within=*/false, "top_k", "logits");
  check_count(__func__, "compress_ratio", compress_ratio);
  check_count(__func__, "next_n", next_n);
  check_tie_break(__func__, tie_break);
  check_requests(__func__, seq_lens, logits, next_n);
  check_result(__func__, "out_indices", out_indices, logits, k, fictl::kInt32, "logits");
  if (values != nullptr) {
    check_result(__func__, "out_values", *values, logits, k, logits.dtype(), "logits");
  }
  fictl::call(__func__, logits, fictl::topk::top_k_varlen, out_indices, values, logits, seq_lens, k,
              compress_ratio, next_n, order, tie_break, algorithm, enable_pdl);
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(top_k, top_k);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(top_k_page_table_transform, top_k_page_table_transform);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(top_k_ragged_transform, top_k_ragged_transform);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(top_k_varlen, top_k_varlen);
