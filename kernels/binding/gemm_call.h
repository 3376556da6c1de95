// The arguments of a matrix product, as bindings hand them to launchers.
#pragma once

#include <binding/launch.h>

namespace fictl {

// Tensors are matrices or, all of them, batches of matrices: a is [m][k], b is [n][k], c is [m][n].
// Pointers to optional tensors may be null. The names are those that the caller has for a and b.
struct GemmCall {
  const char* a_name;
  const char* b_name;
  View out;
  View a;
  View b;
  const View* c;
  const View* bias;
  const View* workspace;
  double alpha;
  double beta;
  int64_t parts;    // of k, which are summed in their order
  int64_t group;    // rows of tiles that are computed together
  int64_t num_sms;  // that the kernel may fill; 0 is all
  bool enable_pdl;
};

// The facts that decide a workspace's size: sizes, strides in elements, and whether the operands'
// first elements are at multiples of 16 bytes. A stride of a dimension of one element is ignored.
struct GemmSizes {
  int64_t batch;
  int64_t m;
  int64_t n;
  int64_t k;
  int64_t a_batch;
  int64_t a_row;
  int64_t a_k;
  bool a_aligned;
  int64_t b_batch;
  int64_t b_row;
  int64_t b_k;
  bool b_aligned;
  int64_t parts;
  int64_t sms;  // that the kernel may fill
};

}  // namespace fictl
