#include <binding/ffi.h>

namespace my_kernels::moe {
void route(const fictl::Launch& launch, fictl::View weights, fictl::View ids, fictl::View logits,
           int64_t top_k, int64_t groups, int64_t top_groups, bool sigmoid, bool renormalize,
           double scale, const fictl::View* bias);
}

namespace {

using fictl::ErrorKind;
using fictl::Shape;
using fictl::View;
using tvm::ffi::Optional;

constexpr const char* kOp = "route";

// The choice: top_k experts of `top_groups` of so many equal groups.
void check_choice(View logits, int64_t top_k, int64_t groups, int64_t top_groups) {
  const int64_t experts = logits.size(1);
  if (groups < 1 || experts % groups != 0) {
    fictl::raise(fictl::argument_error(ErrorKind::ValueError, kOp, "groups")
                 << "is " << groups << ", which does not divide " << experts << " experts");
  }
  if (top_groups < 1 || top_groups > groups) {
    fictl::raise(fictl::argument_error(ErrorKind::ValueError, kOp, "top_groups")
                 << "is " << top_groups << " of " << groups << " groups");
  }
  const int64_t most = experts / groups * top_groups;
  if (top_k >= 0 && top_k <= most) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, kOp, "top_k")
               << "is " << top_k << "; it is chosen from " << most << " experts");
}

void check_bias(View bias, View logits) {
  fictl::check_same_device(kOp, "bias", bias, "logits", logits);
  fictl::check_dtype(kOp, "bias", bias, fictl::kFloat32);
  fictl::check_contiguous(kOp, "bias", bias);
  if (bias.ndim() == 1 && bias.size(0) == logits.size(1)) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, kOp, "bias")
               << "has shape " << Shape{bias} << "; it is (" << logits.size(1)
               << ",), one for each expert");
}

// One for each chosen expert of every token.
void check_chosen(const char* name, View chosen, View logits, int64_t top_k, DLDataType dtype) {
  fictl::check_same_device(kOp, name, chosen, "logits", logits);
  fictl::check_dtype(kOp, name, chosen, dtype);
  fictl::check_contiguous(kOp, name, chosen);
  const int64_t tokens = logits.size(0);
  if (chosen.ndim() == 2 && chosen.size(0) == tokens && chosen.size(1) == top_k) return;
  fictl::raise(fictl::argument_error(ErrorKind::ValueError, kOp, name)
               << "has shape " << Shape{chosen} << "; it is (" << tokens << ", " << top_k << ")");
}

void route(View weights, View ids, View logits, int64_t top_k, int64_t groups, int64_t top_groups,
           bool sigmoid, bool renormalize, double scale, Optional<View> bias) {
  fictl::check_device(kOp, "logits", logits);
  fictl::check_dim(kOp, "logits", logits, 2);
  check_choice(logits, top_k, groups, top_groups);
  if (bias.has_value()) check_bias(*bias, logits);
  check_chosen("weights", weights, logits, top_k, fictl::kFloat32);
  check_chosen("ids", ids, logits, top_k, fictl::kInt32);
  fictl::call(kOp, logits, my_kernels::moe::route, weights, ids, logits, top_k, groups, top_groups,
              sigmoid, renormalize, scale, pointer(bias));
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(route, route);
