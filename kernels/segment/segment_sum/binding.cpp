#include <binding/ffi.h>

namespace fictl::segment {
void segment_sum(const Launch& launch, View out, View input, View pieces, View units, View merges,
                 View workspace, int64_t units_a_walker, bool enable_pdl);
}

namespace {

using fictl::ErrorKind;
using fictl::Shape;
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

// A tensor of the plan: made by plan() for this device and for at least this many rows.
void check_planned(const char* name, View x, View input, int64_t rows, DLDataType dtype) {
  fictl::check_same_device(kOp, name, x, "input", input);
  fictl::check_contiguous(kOp, name, x);
  fictl::check_dtype(kOp, name, x, dtype);
  if (x.ndim() > 0 && x.size(0) >= rows) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, kOp, name)
               << "has shape " << Shape{x} << "; expected at least " << rows << " rows");
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
  fictl::check_device(kOp, "input", input);
  fictl::check_same_device(kOp, "out", out, "input", input);
  fictl::check_same_dtype(kOp, "out", out, "input", input);
  fictl::check_dim(kOp, "input", input, 2);
  fictl::check_dim(kOp, "out", out, 2);
  check_row_count(input, rows);
  check_size("out", out, 0, segments, "the segments of the plan are");
  check_size("out", out, 1, input.size(1), "the columns of 'input' are");
  fictl::check_last_dim_contiguous(kOp, "input", input);
  fictl::check_last_dim_contiguous(kOp, "out", out);
  fictl::check_no_overlap(kOp, "out", out);
  check_planned("pieces", pieces, input, 1, fictl::kInt32);
  check_planned("units", units, input, 1, fictl::kInt32);
  check_planned("merges", merges, input, 1, fictl::kInt32);
  check_planned("workspace", workspace, input, partials, fictl::kFloat32);
  fictl::check_dim(kOp, "workspace", workspace, 2);
  check_size("workspace", workspace, 1, input.size(1), "the columns of 'input' are");
  check_tactic(units_a_walker);
  fictl::call(kOp, input, fictl::segment::segment_sum, out, input, pieces, units, merges, workspace,
              units_a_walker, enable_pdl);
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(segment_sum, segment_sum);
