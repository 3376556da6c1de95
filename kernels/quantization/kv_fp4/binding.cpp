#include <binding/ffi.h>
#include <binding/paged_fp4.h>

namespace fictl::quantization {
void quantize_kv(const Launch& launch, View out, View out_sf, View input, View global_scale,
                 bool enable_pdl);
void dequantize_kv(const Launch& launch, View out, View fp4_data, View block_scales,
                   View global_scale, bool enable_pdl);
void dequantize_paged_kv(const Launch& launch, const Fp4Pages& keys, const Fp4Pages& values,
                         View block_tables, View seq_lens, View k_scale, View v_scale,
                         View output_k, View output_v, bool enable_pdl);
}  // namespace fictl::quantization

namespace {

namespace quantization = fictl::quantization;
using fictl::ErrorKind;
using fictl::Fp4Pages;
using fictl::NamedTensor;
using fictl::Shape;
using fictl::View;
using tvm::ffi::Optional;

constexpr int64_t kBlock = fictl::kFp4CacheBlock;

void check_scale(const char* op, const char* name, View scale, const NamedTensor& first) {
  fictl::check_same_device(op, name, scale, first.name, first.tensor);
  fictl::check_dtype(op, name, scale, fictl::kFloat32);
  if (scale.numel() == 1) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, name)
               << "has shape " << Shape{scale} << "; it is one number");
}

void check_matrix(const char* op, const NamedTensor& x, const NamedTensor& first, int64_t rows,
                  int64_t cols) {
  fictl::check_same_device(op, x.name, x.tensor, first.name, first.tensor);
  if (x.tensor.ndim() == 2 && x.tensor.size(0) == rows && x.tensor.size(1) == cols) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, x.name)
               << "has shape " << Shape{x.tensor} << "; it is (" << rows << ", " << cols << ")");
}

void check_cols(const char* op, const NamedTensor& x, int64_t values) {
  constexpr int64_t kMostRows = 2'000'000'000;
  fictl::check_device(op, x.name, x.tensor);
  fictl::check_dim(op, x.name, x.tensor, 2);
  if (values % kBlock == 0 && x.tensor.size(0) <= kMostRows) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, x.name)
               << "has shape " << Shape{x.tensor} << ", rows of " << values << " values; pass at "
               << "most " << kMostRows << " rows of a multiple of " << kBlock);
}

void nvfp4_kv_quantize(View out, View out_sf, View input, View global_scale, bool enable_pdl) {
  const NamedTensor first{"input", input};
  fictl::check_dim(__func__, "input", input, 2);
  check_cols(__func__, first, input.size(1));
  check_matrix(__func__, {"out", out}, first, input.size(0), input.size(1) / 2);
  check_matrix(__func__, {"out_sf", out_sf}, first, input.size(0), input.size(1) / kBlock);
  fictl::check_dtype(__func__, "out", out, fictl::kUInt8);
  fictl::check_dtype(__func__, "out_sf", out_sf, {fictl::kUInt8, fictl::kFloat8E4M3});
  fictl::check_contiguous(__func__, "out_sf", out_sf);
  check_scale(__func__, "global_scale", global_scale, first);
  fictl::call(__func__, input, quantization::quantize_kv, out, out_sf, input, global_scale,
              enable_pdl);
}

void nvfp4_kv_dequantize(View out, View fp4_data, View block_scales, View global_scale,
                         bool enable_pdl) {
  const NamedTensor first{"fp4_data", fp4_data};
  fictl::check_dim(__func__, "fp4_data", fp4_data, 2);
  const int64_t cols = 2 * fp4_data.size(1);
  check_cols(__func__, first, cols);
  fictl::check_dtype(__func__, "fp4_data", fp4_data, fictl::kUInt8);
  fictl::check_dtype(__func__, "block_scales", block_scales, {fictl::kUInt8, fictl::kFloat8E4M3});
  check_matrix(__func__, {"block_scales", block_scales}, first, fp4_data.size(0), cols / kBlock);
  check_matrix(__func__, {"out", out}, first, fp4_data.size(0), cols);
  check_scale(__func__, "global_scale", global_scale, first);
  fictl::call(__func__, fp4_data, quantization::dequantize_kv, out, fp4_data, block_scales,
              global_scale, enable_pdl);
}

void check_output(const char* op, const NamedTensor& out, const NamedTensor& first) {
  const auto& [name, x] = out;
  fictl::check_same_device(op, name, x, first.name, first.tensor);
  fictl::check_same_dtype(op, name, x, first.name, first.tensor);
  bool same = x.ndim() == 4;
  for (int dim = 0; same && dim < 3; ++dim) same = x.size(dim) == first.tensor.size(dim);
  if (!same) {
    fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, name)
                 << "has shape " << Shape{x} << "; it is (requests, positions, heads, dim), as '"
                 << first.name << "' of shape " << Shape{first.tensor});
  }
  fictl::check_last_dim_contiguous(op, name, x);
  fictl::check_no_overlap(op, name, x);
}

void check_tables(const char* op, View block_tables, const NamedTensor& first, int64_t page_size) {
  fictl::check_same_device(op, "block_tables", block_tables, first.name, first.tensor);
  fictl::check_dtype(op, "block_tables", block_tables, {fictl::kInt32, fictl::kInt64});
  const int64_t requests = first.tensor.size(0);
  const int64_t positions = first.tensor.size(1);
  if (block_tables.ndim() != 2 || block_tables.size(0) != requests ||
      block_tables.size(1) * page_size < positions) {
    fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, "block_tables")
                 << "has shape " << Shape{block_tables} << "; " << requests << " requests of "
                 << positions << " positions take (" << requests << ", "
                 << (positions + page_size - 1) / page_size << ") pages of " << page_size);
  }
  if (requests * positions <= INT32_MAX) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, first.name)
               << "has shape " << Shape{first.tensor} << ", more than " << INT32_MAX
               << " tokens; pass fewer requests at a time");
}

struct Cache {
  View first;
  const View* second;

  View of(int part) const { return part == 1 && second != nullptr ? *second : first; }
  int stacked(int part) const { return second == nullptr ? part : -1; }
};

Fp4Pages heads_of(const char* op, const Cache& cache, const Cache& scales, int part, bool hnd,
                  View out) {
  const NamedTensor from{"paged_kv_cache", cache.of(part)};
  const NamedTensor of{"kv_cache_sf", scales.of(part)};
  fictl::check_same_device(op, from.name, from.tensor, "output_k", out);
  fictl::check_same_device(op, of.name, of.tensor, "output_k", out);
  return fictl::translate([&] {
    return fictl::fp4_heads(op, from, cache.stacked(part), of, scales.stacked(part), hnd,
                            out.size(2), out.size(3));
  });
}

// paged_kv_cache, kv_cache_sf: keys and values in one tensor, or the keys if the next one is given.
void nvfp4_kv_dequantize_paged(View paged_kv_cache, Optional<View> paged_kv_cache_1,
                               View kv_cache_sf, Optional<View> kv_cache_sf_1, View block_tables,
                               View seq_lens, View k_scale, View v_scale, View output_k,
                               View output_v, std::string kv_layout, bool enable_pdl) {
  const NamedTensor first{"output_k", output_k};
  fictl::check_device(__func__, "output_k", output_k);
  check_output(__func__, first, first);
  check_output(__func__, {"output_v", output_v}, first);
  fictl::check_same_device(__func__, "seq_lens", seq_lens, "output_k", output_k);
  check_scale(__func__, "k_scale", k_scale, first);
  check_scale(__func__, "v_scale", v_scale, first);
  fictl::translate([&] { fictl::check_kv_layout(__func__, kv_layout.c_str()); });
  const bool hnd = kv_layout == "HND";
  const Cache cache{paged_kv_cache, pointer(paged_kv_cache_1)};
  const Cache scales{kv_cache_sf, pointer(kv_cache_sf_1)};
  const Fp4Pages keys = heads_of(__func__, cache, scales, 0, hnd, output_k);
  const Fp4Pages values = heads_of(__func__, cache, scales, 1, hnd, output_v);
  if (values.pages() != keys.pages() || values.page_size() != keys.page_size()) {
    fictl::raise(fictl::argument_error(ErrorKind::ValueError, __func__, "paged_kv_cache")
                 << "has " << keys.pages() << " pages of " << keys.page_size() << " slots of keys, "
                 << values.pages() << " of " << values.page_size() << " of values");
  }
  check_tables(__func__, block_tables, first, keys.page_size());
  fictl::call(__func__, output_k, quantization::dequantize_paged_kv, keys, values, block_tables,
              seq_lens, k_scale, v_scale, output_k, output_v, enable_pdl);
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(nvfp4_kv_quantize, nvfp4_kv_quantize);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(nvfp4_kv_dequantize, nvfp4_kv_dequantize);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(nvfp4_kv_dequantize_paged, nvfp4_kv_dequantize_paged);
