#include <binding/launch.h>

#include <fictl/attention/block_sparse_rows.cuh>

namespace fictl::attention {

namespace {

Run* runs(View lists) { return reinterpret_cast<Run*>(lists.data<int32_t>()); }

}  // namespace

void list_mask(const Launch& launch, View lists, View row_starts, View col_starts, View fault,
               View selected, View row_sizes, View col_sizes, bool enable_pdl) {
  const BlockMask mask{
      selected.data<const uint8_t>(),
      row_sizes.data<const int32_t>(),
      col_sizes.data<const int32_t>(),
      row_starts.data<int32_t>(),
      col_starts.data<int32_t>(),
      runs(lists),
      fault.data<PlanFault>(),
      static_cast<int>(selected.size(0)),
      static_cast<int>(selected.size(1)),
      static_cast<int>(selected.size(2)),
  };
  CUDA_CHECK(launch, ListMask(mask, launch.stream, launch.pdl && enable_pdl));
}

void share_mask(const Launch& launch, View items, View tile_starts, View lists, View row_starts,
                View col_starts, View fault, int64_t queries, int64_t keys, int64_t rows,
                int64_t group, bool causal, bool enable_pdl) {
  const int heads = static_cast<int>(row_starts.size(0));
  const BlockMask mask{
      nullptr,
      nullptr,
      nullptr,
      row_starts.data<int32_t>(),
      col_starts.data<int32_t>(),
      runs(lists),
      fault.data<PlanFault>(),
      heads,
      static_cast<int>(row_starts.size(1)) - 1,
      static_cast<int>(col_starts.size(1)) - 1,
  };
  const Tiling tiling{static_cast<int>(rows), static_cast<int>(group), causal};
  const MaskItems list{items.data<Item>(), tile_starts.data<int32_t>(),
                       heads == 0 ? 0 : static_cast<int>(items.size(0) / heads), queries, keys};
  CUDA_CHECK(launch, ShareMask(mask, tiling, list, launch.stream, launch.pdl && enable_pdl));
}

void plan_rows(const Launch& launch, View items, View lists, View fault, View indptr, View indices,
               const View* mask_starts, const View* mask, const View* packed, int64_t block_rows,
               int64_t block_cols, int64_t col_blocks, int64_t heads, int64_t rows, int64_t group,
               bool causal, bool enable_pdl) {
  const BlockRows matrix{
      indptr.data<const int32_t>(),
      indices.data<const int32_t>(),
      runs(lists),
      fault.data<PlanFault>(),
      indices.size(0),
      static_cast<int>(heads),
      static_cast<int>(indptr.size(0)) - 1,
      static_cast<int>(col_blocks),
      static_cast<int>(block_rows),
      static_cast<int>(block_cols),
  };
  const Tiling tiling{static_cast<int>(rows), static_cast<int>(group), causal};
  const RowItems list{items.data<Item>(),
                      mask_starts == nullptr ? nullptr : mask_starts->data<const int64_t>(),
                      static_cast<int>(tiling.tiles(block_rows))};
  CUDA_CHECK(launch,
             PlanRows(matrix, tiling, list, mask == nullptr ? nullptr : mask->data<const uint8_t>(),
                      packed == nullptr ? nullptr : packed->data<uint8_t>(), launch.stream,
                      launch.pdl && enable_pdl));
}

}  // namespace fictl::attention
