#include <binding/attention_checks.h>
#include <binding/attention_planned.h>
#include <binding/ffi.h>

namespace fictl::attention {
void attend_planned(const Launch& launch, PlannedCall call);
}  // namespace fictl::attention

namespace {

using fictl::ErrorKind;
using fictl::Shape;
using fictl::View;

constexpr DLDataType kUInt32{kDLUInt, 32, 1};
constexpr DLDataType kUInt16{kDLUInt, 16, 1};

// Lengths or offsets: so many of them, on the device, one after another.
void check_lengths(const char* op, const char* name, View x, int64_t count) {
  fictl::check_dtype(op, name, x, {fictl::kInt32, kUInt32});
  fictl::check_contiguous(op, name, x);
  if (x.numel() == count) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, op, name)
               << "has shape " << Shape{x} << "; by 'block_tables' it has " << count
               << " elements");
}

void attend_planned(std::string op, View out, tvm::ffi::Optional<View> lse, View q, View k, View v,
                    View pages, View kv_lens, tvm::ffi::Optional<View> q_starts, bool hnd,
                    int64_t q_len, tvm::ffi::Optional<View> workspace_counters,
                    View workspace_parts, int64_t reserved, tvm::ffi::Optional<View> mask,
                    tvm::ffi::Optional<View> sinks, tvm::ffi::Optional<View> scale_q,
                    tvm::ffi::Optional<View> scale_k, tvm::ffi::Optional<View> scale_v,
                    double sm_scale, double v_scale, int64_t window_left, bool enable_pdl,
                    int64_t most_sms, tvm::ffi::Optional<View> blocks_k,
                    tvm::ffi::Optional<View> blocks_v, int64_t pages_apart, int64_t likely_keys) {
  const char* name = op.c_str();
  fictl::check_device(name, "query", q);
  const auto beside_q = [&](const char* argument, View x) {
    fictl::check_same_device(name, argument, x, "query", q);
  };
  beside_q("out", out);
  beside_q("k_cache", k);
  beside_q("v_cache", v);
  beside_q("block_tables", pages);
  beside_q("seq_lens", kv_lens);
  beside_q("workspace_buffer", workspace_parts);
  // Without counters of their own, they are at the beginning of the other workspace.
  const View counters = workspace_counters.has_value() ? *workspace_counters : workspace_parts;
  beside_q("semaphores", counters);
  for (const auto& [argument, x] : {std::pair("lse", &lse),
                                    {"cum_seq_lens_q", &q_starts},
                                    {"mask", &mask},
                                    {"sinks", &sinks},
                                    {"scale of queries", &scale_q},
                                    {"scale of scores", &scale_k},
                                    {"scale of values", &scale_v},
                                    {"kv_cache_sf", &blocks_k},
                                    {"kv_cache_sf", &blocks_v}}) {
    if (x->has_value()) beside_q(argument, **x);
  }
  fictl::check_dim(name, "query", q, 3);
  fictl::check_dim(name, "block_tables", pages, 2);
  fictl::check_dtype(name, "block_tables", pages, fictl::kInt32);
  fictl::check_last_dim_contiguous(name, "block_tables", pages);
  const int64_t requests = pages.size(0);
  check_lengths(name, "seq_lens", kv_lens, requests);
  if (q_starts.has_value()) check_lengths(name, "cum_seq_lens_q", *q_starts, requests + 1);
  if (!q_starts.has_value() && q.size(0) != requests * q_len) {
    fictl::raise(fictl::argument_error(ErrorKind::ValueError, name, "query")
                 << "has shape " << Shape{q} << "; " << requests << " rows of 'block_tables' with "
                 << q_len << " queries each make " << requests * q_len << " tokens");
  }
  if (out.ndim() != 3 || out.size(0) != q.size(0) || out.size(1) != q.size(1)) {
    fictl::raise(fictl::argument_error(ErrorKind::ValueError, name, "out")
                 << "has shape " << Shape{out} << ", 'query' has " << Shape{q});
  }
  fictl::check_no_overlap(name, "out", out);
  if (lse.has_value() && (*lse).numel() != q.size(0) * q.size(1)) {
    fictl::raise(fictl::argument_error(ErrorKind::ValueError, name, "lse")
                 << "has shape " << Shape{*lse} << "; it is (" << q.size(0) << ", " << q.size(1)
                 << ")");
  }
  fictl::check_sinks(name, sinks, q.size(1));
  if (mask.has_value()) {
    fictl::check_dtype(name, "mask", *mask, kUInt16);
    fictl::check_contiguous(name, "mask", *mask);
    const int64_t words = 2 * ((q_len + 31) / 32);
    if ((*mask).ndim() == 0 || (*mask).size(-1) != words || (*mask).numel() != q.size(0) * words) {
      fictl::raise(fictl::argument_error(ErrorKind::ValueError, name, "mask")
                   << "has shape " << Shape{*mask} << "; for " << q.size(0) << " queries, " << q_len
                   << " of a request at most, it is (..., " << words << ") with "
                   << q.size(0) * words << " words of 16 bits");
    }
  }
  fictl::check_contiguous(name, "semaphores", counters);
  fictl::check_aligned(name, "semaphores", counters, sizeof(int32_t));
  fictl::check_contiguous(name, "workspace_buffer", workspace_parts);
  fictl::check_aligned(name, "workspace_buffer", workspace_parts, 16);
  const fictl::PlannedCall arguments{
      out,
      fictl::pointer(lse),
      q,
      k,
      v,
      pages,
      kv_lens,
      fictl::pointer(q_starts),
      hnd,
      q_len,
      counters,
      workspace_parts,
      reserved,
      fictl::pointer(mask),
      fictl::pointer(sinks),
      fictl::pointer(scale_q),
      fictl::pointer(scale_k),
      fictl::pointer(scale_v),
      sm_scale,
      v_scale,
      window_left,
      enable_pdl,
      most_sms,
      fictl::pointer(blocks_k),
      fictl::pointer(blocks_v),
      pages_apart,
      likely_keys,
  };
  fictl::call(name, q, fictl::attention::attend_planned, arguments);
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(attend_planned, attend_planned);
