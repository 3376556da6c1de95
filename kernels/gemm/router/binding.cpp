#include <binding/ffi.h>
#include <binding/gemm_checks.h>

namespace fictl::gemm {
void router(const Launch& launch, View out, View a, View b, const View* bias, bool enable_pdl);
}  // namespace fictl::gemm

namespace {

using fictl::View;

void router(std::string op, std::string a_name, std::string b_name, View out, View a, View b,
            tvm::ffi::Optional<View> bias, bool enable_pdl) {
  fictl::check_gemm(op.c_str(),
                    {a_name.c_str(), b_name.c_str(), out, a, b, nullptr, fictl::pointer(bias)}, 1);
  fictl::call(op.c_str(), a, fictl::gemm::router, out, a, b, fictl::pointer(bias), enable_pdl);
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(router, router);
