#include <binding/ffi.h>
#include <binding/gemm_checks.h>

namespace fictl::gemm {
void dense(const Launch& launch, GemmCall call);
int64_t dense_workspace(const GemmSizes& sizes);
}  // namespace fictl::gemm

namespace {

using fictl::View;

// The bytes of workspace that dense() needs for such tensors. Why numbers: torch.compile has no
// tensors to ask with.
int64_t dense_workspace(int64_t batch, int64_t m, int64_t n, int64_t k, int64_t a_batch,
                        int64_t a_row, int64_t a_k, bool a_aligned, int64_t b_batch, int64_t b_row,
                        int64_t b_k, bool b_aligned, int64_t parts, int64_t sms) {
  return fictl::gemm::dense_workspace(
      {batch, m, n, k, a_batch, a_row, a_k, a_aligned, b_batch, b_row, b_k, b_aligned, parts, sms});
}

void dense(std::string op, std::string a_name, std::string b_name, View out, View a, View b,
           tvm::ffi::Optional<View> c, tvm::ffi::Optional<View> bias,
           tvm::ffi::Optional<View> workspace, double alpha, double beta,
           int64_t columns_per_output, int64_t parts, int64_t group, int64_t num_sms,
           bool enable_pdl) {
  const fictl::GemmCall call{a_name.c_str(),
                             b_name.c_str(),
                             out,
                             a,
                             b,
                             fictl::pointer(c),
                             fictl::pointer(bias),
                             fictl::pointer(workspace),
                             alpha,
                             beta,
                             parts,
                             group,
                             num_sms,
                             enable_pdl};
  fictl::check_gemm(op.c_str(), call, columns_per_output);
  fictl::call(op.c_str(), a, fictl::gemm::dense, call);
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(dense_workspace, dense_workspace);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(dense, dense);
