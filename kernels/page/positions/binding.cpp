#include <binding/ffi.h>

namespace fictl::page {
void get_batch_indices_positions(const Launch& launch, View batch_indices, View positions,
                                 View append_indptr, View seq_lens, bool enable_pdl);
void get_seq_lens(const Launch& launch, View out, View kv_indptr, View kv_last_page_len,
                  int64_t page_size, bool enable_pdl);
}  // namespace fictl::page

namespace {

using fictl::ErrorKind;
using fictl::Shape;
using fictl::View;

void check_indptr(const char* op, const char* name, View indptr) {
  fictl::check_device(op, name, indptr);
  fictl::check_dim(op, name, indptr, 1);
  fictl::check_contiguous(op, name, indptr);
  if (indptr.size(0) > 0 && indptr.size(0) <= INT32_MAX) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, name)
               << "has shape " << Shape{indptr} << "; of n requests it has n + 1 elements");
}

// An input or output of shape (requests,).
void check_of_requests(const char* op, const char* name, View x, const char* indptr_name,
                       View indptr) {
  fictl::check_same_device(op, name, x, indptr_name, indptr);
  fictl::check_dim(op, name, x, 1);
  fictl::check_contiguous(op, name, x);
  if (x.size(0) == indptr.size(0) - 1) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, name)
               << "has " << x.size(0) << " elements, '" << indptr_name << "' of " << indptr.size(0)
               << " has " << indptr.size(0) - 1 << " requests");
}

// An output of shape (nnz,).
void check_of_entries(const char* op, const char* name, View x, View indptr, int64_t nnz) {
  fictl::check_same_device(op, name, x, "append_indptr", indptr);
  fictl::check_dtype(op, name, x, fictl::kInt32);
  fictl::check_dim(op, name, x, 1);
  fictl::check_contiguous(op, name, x);
  if (x.size(0) == nnz && nnz <= INT32_MAX) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, name)
               << "has shape " << Shape{x} << "; nnz is " << nnz);
}

void get_batch_indices_positions(View batch_indices, View positions, View append_indptr,
                                 View seq_lens, int64_t nnz, bool enable_pdl) {
  check_indptr(__func__, "append_indptr", append_indptr);
  check_of_requests(__func__, "seq_lens", seq_lens, "append_indptr", append_indptr);
  check_of_entries(__func__, "batch_indices", batch_indices, append_indptr, nnz);
  check_of_entries(__func__, "positions", positions, append_indptr, nnz);
  fictl::call(__func__, append_indptr, fictl::page::get_batch_indices_positions, batch_indices,
              positions, append_indptr, seq_lens, enable_pdl);
}

void get_seq_lens(View out, View kv_indptr, View kv_last_page_len, int64_t page_size,
                  bool enable_pdl) {
  check_indptr(__func__, "kv_indptr", kv_indptr);
  check_of_requests(__func__, "kv_last_page_len", kv_last_page_len, "kv_indptr", kv_indptr);
  const bool second_is_wider = kv_last_page_len.dtype().bits > kv_indptr.dtype().bits;
  fictl::check_same_shape(__func__, "out", out, "kv_last_page_len", kv_last_page_len);
  fictl::check_same_device(__func__, "out", out, "kv_indptr", kv_indptr);
  fictl::check_contiguous(__func__, "out", out);
  fictl::check_dtype(__func__, "out", out,
                     second_is_wider ? kv_last_page_len.dtype() : kv_indptr.dtype());
  fictl::call(__func__, kv_indptr, fictl::page::get_seq_lens, out, kv_indptr, kv_last_page_len,
              page_size, enable_pdl);
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(get_batch_indices_positions, get_batch_indices_positions);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(get_seq_lens, get_seq_lens);
