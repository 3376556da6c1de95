#include <binding/ffi.h>
#include <binding/paged.h>

namespace fictl::rope {
void rope_quantize_fp8(const Launch& launch, View q_rope, View k_rope, const View* q_nope,
                       const View* k_nope, View cos_sin_cache, View pos_ids, View q_rope_out,
                       View k_rope_out, const View* q_nope_out, const View* k_nope_out,
                       double quant_scale_q, double quant_scale_kv, bool is_neox, bool enable_pdl);
void rope_quantize_fp8_append_paged_kv_cache(const Launch& launch, View q_rope, View k_rope,
                                             const View* q_nope, const View* k_nope, const View* v,
                                             View cos_sin_cache, View pos_ids,
                                             const PagedView& first, const PagedView& second,
                                             View kv_indices, View kv_indptr, View batch_indices,
                                             View positions, View q_rope_out,
                                             const View* q_nope_out, double quant_scale_q,
                                             double quant_scale_kv, bool is_neox, bool enable_pdl);
}  // namespace fictl::rope

namespace {

using fictl::argument_error;
using fictl::ErrorKind;
using fictl::PagedView;
using fictl::raise;
using fictl::Shape;
using fictl::View;
using tvm::ffi::Optional;

// Queries or keys: (tokens, heads, dim), or (tokens, dim) of keys that all queries share.
void check_heads(const char* op, const char* name, View x, bool shared) {
  fictl::check_last_dim_contiguous(op, name, x);
  if (x.ndim() == 3 || (shared && x.ndim() == 2)) return;
  raise(argument_error(ErrorKind::ValueError, op, name)
        << "has shape " << Shape{x} << "; it is (tokens, heads, dim)"
        << (shared ? ", or (tokens, dim) for MLA" : ""));
}

// x has the tokens and heads of another tensor, and heads of `dim` elements unless dim is negative.
void check_as(const char* op, const char* name, View x, const char* other_name, View other,
              int64_t dim) {
  fictl::check_same_device(op, name, x, "q_rope", other);
  fictl::check_last_dim_contiguous(op, name, x);
  bool same = x.ndim() == other.ndim() && (dim < 0 || x.size(-1) == dim);
  for (int i = 0; same && i < x.ndim() - 1; ++i) same = x.size(i) == other.size(i);
  if (same) return;
  raise(argument_error(ErrorKind::ValueError, op, name)
        << "has shape " << Shape{x} << ", '" << other_name << "' has " << Shape{other});
}

// The output of x.
void check_out(const char* op, const char* name, View out, const char* x_name, View x,
               View first_out) {
  check_as(op, name, out, x_name, x, x.size(-1));
  fictl::check_same_dtype(op, name, out, "q_rope_out", first_out);
  fictl::check_no_overlap(op, name, out);
}

// The part that is not rotated: given with its output, or both left out.
void check_nope(const char* op, const char* name, const View* x, const char* out_name,
                const View* out, const char* rope_name, View rope, View first_out) {
  if (x) {
    check_as(op, name, *x, rope_name, rope, -1);
    fictl::check_same_dtype(op, name, *x, "q_rope", rope);
  }
  if (x && out) check_out(op, out_name, *out, name, *x, first_out);
  if (!x && out && out->numel() != 0) {
    raise(argument_error(ErrorKind::ValueError, op, out_name)
          << "has shape " << Shape{*out} << ", but there is no '" << name << "'");
  }
}

void check_rotation(const char* op, View cos_sin_cache, View pos_ids, View q_rope) {
  fictl::check_same_device(op, "cos_sin_cache", cos_sin_cache, "q_rope", q_rope);
  fictl::check_same_device(op, "pos_ids", pos_ids, "q_rope", q_rope);
  fictl::check_dtype(op, "cos_sin_cache", cos_sin_cache, fictl::kFloat32);
  const int64_t dim = q_rope.size(-1);
  if (cos_sin_cache.ndim() != 2 || cos_sin_cache.size(1) != dim || dim % 2 != 0) {
    raise(argument_error(ErrorKind::ValueError, op, "cos_sin_cache")
          << "has shape " << Shape{cos_sin_cache}
          << "; it is (positions, rope_dim), of an even rope_dim as in 'q_rope', which has shape "
          << Shape{q_rope});
  }
  fictl::check_last_dim_contiguous(op, "cos_sin_cache", cos_sin_cache);
}

void check_queries_and_keys(const char* op, View q_rope, View k_rope, View cos_sin_cache,
                            View pos_ids, View q_rope_out) {
  fictl::check_device(op, "q_rope", q_rope);
  check_heads(op, "q_rope", q_rope, false);
  fictl::check_same_device(op, "k_rope", k_rope, "q_rope", q_rope);
  fictl::check_same_dtype(op, "k_rope", k_rope, "q_rope", q_rope);
  check_heads(op, "k_rope", k_rope, true);
  if (k_rope.size(0) != q_rope.size(0) || k_rope.size(-1) != q_rope.size(-1)) {
    raise(argument_error(ErrorKind::ValueError, op, "k_rope")
          << "has shape " << Shape{k_rope} << ", 'q_rope' has " << Shape{q_rope}
          << ": tokens and dim are to be the same");
  }
  check_rotation(op, cos_sin_cache, pos_ids, q_rope);
  check_out(op, "q_rope_out", q_rope_out, "q_rope", q_rope, q_rope_out);
}

void quantize(const char* op, View q_rope, View k_rope, const Optional<View>& q_nope,
              const Optional<View>& k_nope, View cos_sin_cache, View pos_ids, View q_rope_out,
              View k_rope_out, const Optional<View>& q_nope_out, const Optional<View>& k_nope_out,
              double quant_scale_q, double quant_scale_kv, bool is_neox, bool enable_pdl) {
  check_queries_and_keys(op, q_rope, k_rope, cos_sin_cache, pos_ids, q_rope_out);
  check_out(op, "k_rope_out", k_rope_out, "k_rope", k_rope, q_rope_out);
  check_nope(op, "q_nope", pointer(q_nope), "q_nope_out", pointer(q_nope_out), "q_rope", q_rope,
             q_rope_out);
  check_nope(op, "k_nope", pointer(k_nope), "k_nope_out", pointer(k_nope_out), "k_rope", k_rope,
             q_rope_out);
  fictl::call(op, q_rope, fictl::rope::rope_quantize_fp8, q_rope, k_rope, pointer(q_nope),
              pointer(k_nope), cos_sin_cache, pos_ids, q_rope_out, k_rope_out, pointer(q_nope_out),
              pointer(k_nope_out), quant_scale_q, quant_scale_kv, is_neox, enable_pdl);
}

void rope_quantize_fp8(View q_rope, View k_rope, Optional<View> q_nope, Optional<View> k_nope,
                       View cos_sin_cache, View pos_ids, View q_rope_out, View k_rope_out,
                       Optional<View> q_nope_out, Optional<View> k_nope_out, double quant_scale_q,
                       double quant_scale_kv, bool is_neox, bool enable_pdl) {
  quantize(__func__, q_rope, k_rope, q_nope, k_nope, cos_sin_cache, pos_ids, q_rope_out, k_rope_out,
           q_nope_out, k_nope_out, quant_scale_q, quant_scale_kv, is_neox, enable_pdl);
}

void mla_rope_quantize_fp8(View q_rope, View k_rope, Optional<View> q_nope, Optional<View> k_nope,
                           View cos_sin_cache, View pos_ids, View q_rope_out, View k_rope_out,
                           Optional<View> q_nope_out, Optional<View> k_nope_out,
                           double quant_scale_q, double quant_scale_kv, bool is_neox,
                           bool enable_pdl) {
  fictl::check_device(__func__, "q_rope", q_rope);
  fictl::check_dim(__func__, "k_rope", k_rope, 2);
  quantize(__func__, q_rope, k_rope, q_nope, k_nope, cos_sin_cache, pos_ids, q_rope_out, k_rope_out,
           q_nope_out, k_nope_out, quant_scale_q, quant_scale_kv, is_neox, enable_pdl);
}

void check_values(const char* op, const View* v, View k_rope) {
  const bool latent = k_rope.ndim() == 2;
  if (v == nullptr && latent) return;
  if (v != nullptr && !latent) {
    check_as(op, "v", *v, "k_rope", k_rope, -1);
    fictl::check_same_dtype(op, "v", *v, "q_rope", k_rope);
    return;
  }
  raise(argument_error(ErrorKind::ValueError, op, "v")
        << "is " << (latent ? "given" : "None") << ", but 'k_rope' has shape " << Shape{k_rope}
        << (latent ? ": MLA has no values of its own, pass None" : ": pass (tokens, heads, dim)"));
}

// MLA has one cache for each part of its keys. Other caches are one tensor that stacks keys and
// values, of 5 dimensions, or two tensors.
void check_caches(const char* op, View cache, const View* second, View k_rope, View q_rope_out) {
  if (second == nullptr && k_rope.ndim() == 2) {
    raise(argument_error(ErrorKind::ValueError, op, "paged_kv_cache")
          << "is one tensor of shape " << Shape{cache}
          << "; of MLA it is a tuple of ckv_cache and kpe_cache");
  }
  for (const View x : {cache, second ? *second : cache}) {
    fictl::check_same_device(op, "paged_kv_cache", x, "q_rope_out", q_rope_out);
    fictl::check_same_dtype(op, "paged_kv_cache", x, "q_rope_out", q_rope_out);
  }
}

void check_page(const char* op, int64_t page_size, const std::string& kv_layout) {
  if (page_size < 1) {
    raise(argument_error(ErrorKind::ValueError, op, "page_size")
          << "is " << page_size << "; it is at least 1");
  }
  if (kv_layout == "NHD" || kv_layout == "HND") return;
  raise(argument_error(ErrorKind::ValueError, op, "kv_layout")
        << "is '" << kv_layout.c_str() << "'; it is 'NHD' or 'HND'");
}

// The cache as pages of `page_size` slots of `heads` x `dim`; with `latent`, one head without a
// dimension for it.
PagedView pages_of(const char* op, View cache, bool latent, bool hnd, int part, int64_t page_size,
                   int64_t heads, int64_t dim) {
  constexpr const char* kName = "paged_kv_cache";
  fictl::check_last_dim_contiguous(op, kName, cache);
  return fictl::translate([&] {
    const PagedView pages = latent ? fictl::paged_latent(op, kName, cache)
                                   : fictl::paged_heads(op, kName, cache, hnd, part);
    fictl::check_pages(op, kName, pages, page_size, heads, dim);
    return pages;
  });
}

// paged_kv_cache: both caches in one tensor, or the first if paged_kv_cache_1 is given.
void rope_quantize_fp8_append_paged_kv_cache(
    View q_rope, View k_rope, Optional<View> q_nope, Optional<View> k_nope, Optional<View> v,
    View cos_sin_cache, View pos_ids, View paged_kv_cache, Optional<View> paged_kv_cache_1,
    View kv_indices, View kv_indptr, View batch_indices, View positions, View q_rope_out,
    Optional<View> q_nope_out, double quant_scale_q, double quant_scale_kv, int64_t page_size,
    std::string kv_layout, bool is_neox, bool enable_pdl) {
  check_queries_and_keys(__func__, q_rope, k_rope, cos_sin_cache, pos_ids, q_rope_out);
  check_nope(__func__, "q_nope", pointer(q_nope), "q_nope_out", pointer(q_nope_out), "q_rope",
             q_rope, q_rope_out);
  check_nope(__func__, "k_nope", pointer(k_nope), "", nullptr, "k_rope", k_rope, q_rope_out);
  check_values(__func__, pointer(v), k_rope);
  check_page(__func__, page_size, kv_layout);
  check_caches(__func__, paged_kv_cache, pointer(paged_kv_cache_1), k_rope, q_rope_out);
  fictl::check_same_device(__func__, "kv_indices", kv_indices, "q_rope", q_rope);
  fictl::check_same_device(__func__, "kv_indptr", kv_indptr, "q_rope", q_rope);
  fictl::check_same_device(__func__, "batch_indices", batch_indices, "q_rope", q_rope);
  fictl::check_same_device(__func__, "positions", positions, "q_rope", q_rope);
  const bool latent = !v.has_value();
  const bool stacked = !paged_kv_cache_1.has_value();
  const bool hnd = kv_layout == "HND";
  const int64_t heads = latent ? 1 : k_rope.size(1);
  const int64_t rope_dim = k_rope.size(-1);
  const int64_t nope_dim = k_nope.has_value() ? (*k_nope).size(-1) : 0;
  const PagedView first = pages_of(__func__, paged_kv_cache, latent, hnd, stacked ? 0 : -1,
                                   page_size, heads, latent ? nope_dim : rope_dim + nope_dim);
  const PagedView second =
      pages_of(__func__, paged_kv_cache_1.value_or(paged_kv_cache), latent, hnd, stacked ? 1 : -1,
               page_size, heads, latent ? rope_dim : (*v).size(-1));
  fictl::call(__func__, q_rope, fictl::rope::rope_quantize_fp8_append_paged_kv_cache, q_rope,
              k_rope, pointer(q_nope), pointer(k_nope), pointer(v), cos_sin_cache, pos_ids, first,
              second, kv_indices, kv_indptr, batch_indices, positions, q_rope_out,
              pointer(q_nope_out), quant_scale_q, quant_scale_kv, is_neox, enable_pdl);
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(rope_quantize_fp8, rope_quantize_fp8);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(mla_rope_quantize_fp8, mla_rope_quantize_fp8);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(rope_quantize_fp8_append_paged_kv_cache,
                              rope_quantize_fp8_append_paged_kv_cache);
