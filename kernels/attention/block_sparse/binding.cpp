#include <binding/ffi.h>

namespace fictl::attention {
void list_mask(const Launch& launch, View lists, View row_starts, View col_starts, View fault,
               View selected, View row_sizes, View col_sizes, bool enable_pdl);
void share_mask(const Launch& launch, View items, View tile_starts, View lists, View row_starts,
                View col_starts, View fault, int64_t queries, int64_t keys, int64_t rows,
                int64_t group, bool causal, bool enable_pdl);
void plan_rows(const Launch& launch, View items, View lists, View fault, View indptr, View indices,
               const View* mask_starts, const View* mask, const View* packed, int64_t block_rows,
               int64_t block_cols, int64_t col_blocks, int64_t heads, int64_t rows, int64_t group,
               bool causal, bool enable_pdl);
}  // namespace fictl::attention

namespace {

using fictl::View;

// Memory that op.py allocates, or has checked in words: contiguous, and where the others are.
void check_numbers(const char* op, const char* name, View x, DLDataType dtype, View beside) {
  fictl::check_same_device(op, name, x, "fault", beside);
  fictl::check_dtype(op, name, x, dtype);
  fictl::check_contiguous(op, name, x);
}

void list_mask(std::string op, View workspace_lists, View workspace_row_starts,
               View workspace_col_starts, View workspace_fault, View selected, View row_sizes,
               View col_sizes, bool enable_pdl) {
  const char* name = op.c_str();
  fictl::check_device(name, "block_mask_map", selected);
  fictl::check_dim(name, "block_mask_map", selected, 3);
  check_numbers(name, "block_mask_map", selected, fictl::kBool, workspace_fault);
  check_numbers(name, "block_row_sz", row_sizes, fictl::kInt32, workspace_fault);
  check_numbers(name, "block_col_sz", col_sizes, fictl::kInt32, workspace_fault);
  check_numbers(name, "lists", workspace_lists, fictl::kInt32, workspace_fault);
  check_numbers(name, "row_starts", workspace_row_starts, fictl::kInt32, workspace_fault);
  check_numbers(name, "col_starts", workspace_col_starts, fictl::kInt32, workspace_fault);
  check_numbers(name, "fault", workspace_fault, fictl::kInt64, selected);
  fictl::call(name, workspace_fault, fictl::attention::list_mask, workspace_lists,
              workspace_row_starts, workspace_col_starts, workspace_fault, selected, row_sizes,
              col_sizes, enable_pdl);
}

void share_mask(std::string op, View workspace_items, View workspace_tile_starts, View lists,
                View row_starts, View col_starts, View workspace_fault, int64_t queries,
                int64_t keys, int64_t rows, int64_t group, bool causal, bool enable_pdl) {
  const char* name = op.c_str();
  check_numbers(name, "items", workspace_items, fictl::kInt32, workspace_fault);
  check_numbers(name, "tile_starts", workspace_tile_starts, fictl::kInt32, workspace_fault);
  check_numbers(name, "lists", lists, fictl::kInt32, workspace_fault);
  check_numbers(name, "row_starts", row_starts, fictl::kInt32, workspace_fault);
  check_numbers(name, "col_starts", col_starts, fictl::kInt32, workspace_fault);
  fictl::call(name, workspace_fault, fictl::attention::share_mask, workspace_items,
              workspace_tile_starts, lists, row_starts, col_starts, workspace_fault, queries, keys,
              rows, group, causal, enable_pdl);
}

void plan_rows(std::string op, View workspace_items, View workspace_lists, View workspace_fault,
               View indptr, View indices, tvm::ffi::Optional<View> mask_starts,
               tvm::ffi::Optional<View> mask, tvm::ffi::Optional<View> packed, int64_t block_rows,
               int64_t block_cols, int64_t col_blocks, int64_t heads, int64_t rows, int64_t group,
               bool causal, bool enable_pdl) {
  const char* name = op.c_str();
  fictl::check_device(name, "indptr", indptr);
  check_numbers(name, "indptr", indptr, fictl::kInt32, workspace_fault);
  check_numbers(name, "indices", indices, fictl::kInt32, workspace_fault);
  check_numbers(name, "items", workspace_items, fictl::kInt32, workspace_fault);
  check_numbers(name, "lists", workspace_lists, fictl::kInt32, workspace_fault);
  if (mask_starts.has_value()) {
    check_numbers(name, "mask_starts", *mask_starts, fictl::kInt64, workspace_fault);
  }
  if (mask.has_value()) check_numbers(name, "mask", *mask, fictl::kBool, workspace_fault);
  if (packed.has_value()) {
    check_numbers(name, "packed_mask", *packed, fictl::kUInt8, workspace_fault);
  }
  fictl::call(name, workspace_fault, fictl::attention::plan_rows, workspace_items, workspace_lists,
              workspace_fault, indptr, indices, fictl::pointer(mask_starts), fictl::pointer(mask),
              fictl::pointer(packed), block_rows, block_cols, col_blocks, heads, rows, group,
              causal, enable_pdl);
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(list_mask, list_mask);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(share_mask, share_mask);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(plan_rows, plan_rows);
