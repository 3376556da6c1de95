#include <binding/ffi.h>
#include <binding/parts.h>

namespace my_kernels::comm {
void gather_rows(const fictl::Launch& launch, fictl::View out, fictl::View x,
                 fictl::View host_peers);
}  // namespace my_kernels::comm

namespace {

void gather_rows(fictl::View out, fictl::View x, fictl::View workspace, fictl::View host_peers,
                 int64_t ranks) {
  fictl::check_device(__func__, "x", x);
  fictl::check_same_device(__func__, "out", out, "x", x);
  fictl::check_same_device(__func__, "workspace", workspace, "x", x);
  fictl::check_same_dtype(__func__, "out", out, "x", x);
  fictl::check_contiguous(__func__, "x", x);
  fictl::check_aligned(__func__, "x", x, 16);
  fictl::check_contiguous(__func__, "out", out);
  fictl::check_aligned(__func__, "out", out, 16);
  fictl::check_parts(__func__, "out", out, "x", x, ranks);
  fictl::call(__func__, x, my_kernels::comm::gather_rows, out, x, host_peers);
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(gather_rows, gather_rows);
