// The arguments of qk_rmsnorm_rope beside its tensors. Apart from the kernel, because bindings
// include it too.
#pragma once

#include <stdint.h>

namespace fictl::norm {

// The maximum number of elements of a token's q, k or v: what a block can hold.
constexpr int kQKRopeMaxHidden = 16384;

struct QKRopeShape {
  int64_t tokens;
  int64_t heads[3];     // of q, k and v
  int64_t head_dim;     // 64, 128 or 256
  int64_t channels[3];  // of a head, that turn with the frame, the row and the column
  int64_t patches[3];   // frames of a video, rows of a frame, columns of a row

  int64_t heads_of_token() const { return heads[0] + heads[1] + heads[2]; }
  int64_t patches_of_video() const { return patches[0] * patches[1] * patches[2]; }
};

// Pair i of the channels of a coordinate turns as fast as without YARN up to i = low, and by
// 1 / factor as fast from i = high on.
struct QKRopeAngles {
  bool interleaved;  // a pair is adjacent, not half a head apart
  double base;
  double factor;
  double low;
  double high;
  double attention_factor;  // on every cosine and sine
};

// The normalization of q and k before rotation, and the scales of the results.
struct QKRopeNorm {
  bool is_on;
  double eps;
  double qk_scale;
  double v_scale;
};

}  // namespace fictl::norm
