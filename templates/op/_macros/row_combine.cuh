  // Combines the values of this thread, in their order in the row.
  template <typename Op, typename Value>
  __device__ {{ real }} combine(Op op, Value value) {
    {{ real }} result = Op::kNone;
    walk([&](int i, int64_t) {
#pragma unroll
      for (int j = 0; j < N; ++j) {
{% for each in names %}
        const {{ real }} {{ each }} = device::widen({{ each }}_vec_[i][j]);
{% endfor %}
        result = op(result, value({{ names | join(", ") }}));
      }
    });
    return result;
  }

  // Combines the results of the row's threads.
  template <typename Op>
  __device__ {{ real }} share(Op op, {{ real }} mine) {
    return blockDim.x <= device::kWarpSize ? device::warp_reduce(op, mine, blockDim.x)
                                           : over_block_(op, mine);
  }
