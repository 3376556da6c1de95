#include <binding/ffi.h>

#include <cmath>

namespace my_kernels::histogram {
void histogram(const fictl::Launch& launch, fictl::View counts, fictl::View x, int64_t bins,
               double low, double high);
}

namespace {

using fictl::ErrorKind;
using fictl::Shape;
using fictl::View;

constexpr const char* kOp = "histogram";

void check_bins(int64_t bins, double low, double high) {
  constexpr int64_t kMost = int64_t{1} << 24;  // whose numbers fp32 holds
  if (bins < 1 || bins > kMost) {
    fictl::raise(fictl::argument_error(ErrorKind::ValueError, kOp, "bins")
                 << "is " << bins << "; there are 1 to " << kMost);
  }
  const float width = static_cast<float>(high) - static_cast<float>(low);
  if (width > 0 && std::isfinite(static_cast<float>(bins) / width) && std::isfinite(width)) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, kOp, "high")
               << "is " << high << ", low is " << low << "; in fp32, high is above low");
}

void check_counts(View counts, View x, int64_t bins) {
  fictl::check_same_device(kOp, "counts", counts, "x", x);
  fictl::check_dtype(kOp, "counts", counts, fictl::kInt32);
  fictl::check_contiguous(kOp, "counts", counts);
  const int64_t rows = x.size(0);
  const bool fits = counts.ndim() == 2 && counts.size(0) == rows;
  if (fits && counts.size(1) == bins) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, kOp, "counts")
               << "has shape " << Shape{counts} << "; it is (" << rows << ", " << bins << ")");
}

void histogram(View counts, View x, int64_t bins, double low, double high) {
  fictl::check_device(kOp, "x", x);
  fictl::check_dim(kOp, "x", x, 2);
  check_bins(bins, low, high);
  check_counts(counts, x, bins);
  fictl::call(kOp, x, my_kernels::histogram::histogram, counts, x, bins, low, high);
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(histogram, histogram);
