#include <binding/launch.h>
#include <binding/row_pitch.h>

#include <fictl/cascade/merge_state.cuh>

namespace fictl::cascade {

void merge_state(const Launch& launch, View v_merged, View s_merged, View v_a, View s_a, View v_b,
                 View s_b, bool enable_pdl) {
  const int64_t pitch = WRITTEN_ROW_PITCH(launch, v_merged);
  const int64_t pitch_a = ROW_PITCH(launch, v_a);
  const int64_t pitch_b = ROW_PITCH(launch, v_b);
  DISPATCH_DTYPE(launch, v_a, T, (__half, __nv_bfloat16, float), {
    const States<const T> a{v_a.data<const T>(), s_a.data<const float>(), pitch_a};
    const States<const T> b{v_b.data<const T>(), s_b.data<const float>(), pitch_b};
    const States<T> to{v_merged.data<T>(), s_merged.data<float>(), pitch};
    CUDA_CHECK(launch, MergeState(a, b, to, nullptr, s_a.numel(), v_a.size(1), v_a.size(2),
                                  launch.stream, launch.pdl && enable_pdl));
  });
}

void merge_state_in_place(const Launch& launch, View v, View s, View v_other, View s_other,
                          const View* mask, bool enable_pdl) {
  const int64_t pitch = WRITTEN_ROW_PITCH(launch, v);
  const int64_t pitch_other = ROW_PITCH(launch, v_other);
  const uint8_t* merges = mask == nullptr ? nullptr : mask->data<const uint8_t>();
  DISPATCH_DTYPE(launch, v, T, (__half, __nv_bfloat16, float), {
    const States<T> to{v.data<T>(), s.data<float>(), pitch};
    const States<const T> a{to.v, to.s, pitch};
    const States<const T> b{v_other.data<const T>(), s_other.data<const float>(), pitch_other};
    CUDA_CHECK(launch, MergeState(a, b, to, merges, s.numel(), v.size(1), v.size(2), launch.stream,
                                  launch.pdl && enable_pdl));
  });
}

void merge_states(const Launch& launch, View v_merged, View s_merged, View v, View s,
                  bool enable_pdl) {
  const int64_t pitch = WRITTEN_ROW_PITCH(launch, v_merged);
  const int64_t pitch_in = ROW_PITCH(launch, v);
  DISPATCH_DTYPE(launch, v, T, (__half, __nv_bfloat16, float), {
    const States<const T> from{v.data<const T>(), s.data<const float>(), pitch_in};
    const States<T> to{v_merged.data<T>(), s_merged.data<float>(), pitch};
    CUDA_CHECK(launch, MergeStates(from, to, s_merged.numel(), v.size(1), v.size(2), v.size(3),
                                   launch.stream, launch.pdl && enable_pdl));
  });
}

}  // namespace fictl::cascade
