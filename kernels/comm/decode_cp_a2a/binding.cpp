#include <binding/ffi.h>

namespace fictl::comm {
void decode_cp_a2a_alltoall(const Launch& launch, View out, View out_stats, View values, View stats,
                            View host_peers, bool enable_pdl);
void decode_cp_a2a_lse_reduce(const Launch& launch, View out, View values, View lse,
                              View host_peers, double log2_factor, bool enable_pdl);
}  // namespace fictl::comm

namespace {

using fictl::View;

constexpr DLDataType kHalf{kDLFloat, 16, 1};
constexpr DLDataType kBfloat16{kDLBfloat, 16, 1};

// Tensors as op.py passes them: (rows, ranks, size).
void check_slices(const char* op, View values, const char* stats_name, View stats) {
  fictl::check_device(op, "partial_o", values);
  fictl::check_same_device(op, stats_name, stats, "partial_o", values);
  fictl::check_dtype(op, "partial_o", values, {kHalf, kBfloat16});
  fictl::check_dtype(op, stats_name, stats, fictl::kFloat32);
  fictl::check_last_dim_contiguous(op, "partial_o", values);
  fictl::check_last_dim_contiguous(op, stats_name, stats);
  fictl::check_aligned(op, "partial_o", values, 16);
}

void decode_cp_a2a_alltoall(View out_0, View out_1, View partial_o, View softmax_stats,
                            View workspace, View host_peers, bool enable_pdl) {
  check_slices(__func__, partial_o, "softmax_stats", softmax_stats);
  fictl::check_same_device(__func__, "workspace", workspace, "partial_o", partial_o);
  fictl::check_contiguous(__func__, "out", out_0);
  fictl::check_contiguous(__func__, "out", out_1);
  fictl::check_same_shape(__func__, "out", out_0, "partial_o", partial_o);
  fictl::check_same_shape(__func__, "out", out_1, "softmax_stats", softmax_stats);
  fictl::check_same_dtype(__func__, "out", out_0, "partial_o", partial_o);
  fictl::check_same_dtype(__func__, "out", out_1, "softmax_stats", softmax_stats);
  fictl::check_aligned(__func__, "out", out_0, 16);
  fictl::call(__func__, partial_o, fictl::comm::decode_cp_a2a_alltoall, out_0, out_1, partial_o,
              softmax_stats, host_peers, enable_pdl);
}

void decode_cp_a2a_lse_reduce(View out, View partial_o, View partial_lse, View workspace,
                              View host_peers, double log2_factor, bool enable_pdl) {
  check_slices(__func__, partial_o, "partial_lse", partial_lse);
  fictl::check_same_device(__func__, "workspace", workspace, "partial_o", partial_o);
  fictl::check_contiguous(__func__, "out", out);
  fictl::check_same_dtype(__func__, "out", out, "partial_o", partial_o);
  fictl::check_aligned(__func__, "out", out, 16);
  fictl::call(__func__, partial_o, fictl::comm::decode_cp_a2a_lse_reduce, out, partial_o,
              partial_lse, host_peers, log2_factor, enable_pdl);
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(decode_cp_a2a_alltoall, decode_cp_a2a_alltoall);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(decode_cp_a2a_lse_reduce, decode_cp_a2a_lse_reduce);
