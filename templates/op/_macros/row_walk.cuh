  // Calls body(i, where it starts) for each vector of this thread, `start` elements into the row.
  template <typename Body>
  __device__ void each(int64_t start, Body body) {
    const int64_t left = size_ - start;
#pragma unroll
    for (int i = 0; i < kVecs; ++i) {
      const int at = (i * blockDim.x + threadIdx.x) * N;
      if (at < left) body(i, start + at);
    }
  }

  // The same for the whole row, with the vectors at hand.
  template <typename Body>
  __device__ void walk(Body body) {
    const auto visit = [&](int i, int64_t at) {
{% for each in names %}
      keep_packed({{ each }}_vec_[i]);
{% endfor %}
      body(i, at);
    };
    if constexpr (kHeld) {
      each(0, visit);
    } else {
      for (int64_t start = 0; start < size_; start += blockDim.x * N * kVecs) {
        load(start);
        each(start, visit);
      }
    }
  }

{% if vectors %}
  // Loads data that stays in L1 from row to row. Why not __ldg: under programmatic dependent launch
  // L1 may hold values of before the kernel that this one waited for, and only an ordinary load is
  // sure to see that kernel's.
  __device__ static Vec load_l1(const T* from) {
    Vec vec;
    vec.bits() = __ldca(reinterpret_cast<const typename Vec::Bits*>(from));
    return vec;
  }

{% endif %}
  // Why: without it the compiler holds 16-bit values as fp32 while the row waits for the others,
  // which takes twice the registers and spills.
  __device__ static void keep_packed(Vec& vec) {
    if constexpr (sizeof(Vec) == device::kVecBytes) {
      uint4& words = vec.bits();
      asm volatile("" : "+r"(words.x), "+r"(words.y), "+r"(words.z), "+r"(words.w));
    }
  }
