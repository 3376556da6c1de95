#include <binding/ffi.h>
#include <binding/parts.h>

namespace fictl::comm {
void reduce_scatter(const Launch& launch, View output, View input, View host_peers,
                    bool enable_pdl);
}

namespace {

void reduce_scatter(fictl::View out, fictl::View input, fictl::View workspace,
                    fictl::View host_peers, int64_t ranks, bool enable_pdl) {
  fictl::check_device(__func__, "input", input);
  fictl::check_same_device(__func__, "out", out, "input", input);
  fictl::check_same_device(__func__, "workspace", workspace, "input", input);
  fictl::check_same_dtype(__func__, "out", out, "input", input);
  fictl::check_contiguous(__func__, "input", input);
  fictl::check_contiguous(__func__, "out", out);
  fictl::check_parts(__func__, "input", input, "out", out, ranks);
  fictl::call(__func__, input, fictl::comm::reduce_scatter, out, input, host_peers, enable_pdl);
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(reduce_scatter, reduce_scatter);
