#include <binding/ffi.h>

namespace fictl::comm {
void all_reduce(const Launch& launch, View output, View input, View host_peers,
                int64_t lamport_bytes, int64_t flag_bytes, int64_t protocol, bool two_shot,
                bool enable_pdl);
}

namespace {

void all_reduce(fictl::View out, fictl::View input, fictl::View workspace, fictl::View host_peers,
                int64_t lamport_bytes, int64_t flag_bytes, int64_t protocol, bool two_shot,
                bool enable_pdl) {
  fictl::check_device(__func__, "input", input);
  fictl::check_same_device(__func__, "out", out, "input", input);
  fictl::check_same_device(__func__, "workspace", workspace, "input", input);
  fictl::check_same_dtype(__func__, "out", out, "input", input);
  fictl::check_same_shape(__func__, "out", out, "input", input);
  fictl::check_contiguous(__func__, "input", input);
  fictl::check_contiguous(__func__, "out", out);
  fictl::call(__func__, input, fictl::comm::all_reduce, out, input, host_peers, lamport_bytes,
              flag_bytes, protocol, two_shot, enable_pdl);
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(all_reduce, all_reduce);
