#include <binding/ffi.h>

namespace fictl::segment {
void segment_sum(const Launch& launch, View out, View input, View pieces, View units, View merges,
                 View workspace, int64_t units_a_walker, bool enable_pdl);
}

namespace {

using fictl::ErrorKind;
using fictl::Shape;
using fictl::Strides;
using fictl::View;

constexpr const char* kOp = "SegmentSum";

void check_size(const char* name, View x, int dim, int64_t wanted, const char* why) {
  if (x.size(dim) == wanted) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, kOp, name)
               << "has shape " << Shape{x} << "; " << why << " " << wanted);
}

void check_row_count(View input, int64_t rows) {
  if (input.size(0) >= rows) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, kOp, "input")
               << "has shape " << Shape{input} << ", the plan is for " << rows << " rows");
}

void check_no_overlap(View out) {
  if (out.size(0) <= 1 || out.stride(0) >= out.size(1)) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, kOp, "out")
               << "has shape " << Shape{out} << " and strides " << Strides{out}
               << ": its rows overlap; pass a contiguous out");
}

// What plan() made, which nobody else is to make: that it is for this device and these sizes.
void check_planned(const char* name, View x, View input, int64_t rows, DLDataType dtype) {
  fictl::check_same_device(kOp, name, x, "input", input);
  fictl::check_contiguous(kOp, name, x);
  const bool fits = x.ndim() > 0 && x.size(0) >= rows && fictl::same_dtype(x.dtype(), dtype);
  if (fits) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, kOp, name)
               << "has shape " << Shape{x} << " and dtype " << x.dtype() << "; wanted are at least "
               << rows << " rows of " << dtype);
}

void check_tactic(int64_t units) {
  constexpr int64_t kMost = 64;
  if (units >= 0 && units <= kMost) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, kOp, "tactic")
               << "has " << units << " units; a walker takes 1 to " << kMost
               << ", and 0 leaves it to the kernel");
}

void segment_sum(View out, View input, View pieces, View units, View merges, View workspace,
                 int64_t rows, int64_t segments, int64_t partials, int64_t units_a_walker,
                 bool enable_pdl) {
  constexpr DLDataType kInt{kDLInt, 32, 1};
  constexpr DLDataType kFloat{kDLFloat, 32, 1};
  fictl::check_device(kOp, "input", input);
  fictl::check_same_device(kOp, "out", out, "input", input);
  fictl::check_same_dtype(kOp, "out", out, "input", input);
  fictl::check_dim(kOp, "input", input, 2);
  fictl::check_dim(kOp, "out", out, 2);
  check_row_count(input, rows);
  check_size("out", out, 0, segments, "the segments of the plan are");
  check_size("out", out, 1, input.size(1), "the columns of 'input' are");
  fictl::check_neighbours(kOp, "input", input);
  fictl::check_neighbours(kOp, "out", out);
  check_no_overlap(out);
  check_planned("pieces", pieces, input, 1, kInt);
  check_planned("units", units, input, 1, kInt);
  check_planned("merges", merges, input, 1, kInt);
  check_planned("workspace", workspace, input, partials, kFloat);
  fictl::check_dim(kOp, "workspace", workspace, 2);
  check_size("workspace", workspace, 1, input.size(1), "the columns of 'input' are");
  check_tactic(units_a_walker);
  fictl::call(kOp, input, fictl::segment::segment_sum, out, input, pieces, units, merges, workspace,
              units_a_walker, enable_pdl);
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(segment_sum, segment_sum);
