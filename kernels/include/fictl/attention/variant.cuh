// A variant of attention: a change to scores, outputs or masks. It is a struct of its own numbers,
// which travels to the kernel by value, and three functions of a place.
//
//   struct Mine : Plain {
//     float most;                                             // an extra scalar of run()
//     static constexpr bool kTransforms = true;
//     __device__ float transform(float logit, const Place& at) const { return fminf(logit, most); }
//   };
//
// Kernels ask its flags, so that functions which it does not have cost nothing. All<A, B, …> joins
// variants: transforms apply in this order, and a score is kept if all masks keep it.
#pragma once

#include <math.h>
#include <stdint.h>

#include <type_traits>

#include <fictl/device/functions.cuh>

namespace fictl::attention {

// The place of one score: its query and key, by their numbers in the request, and their heads.
struct Place {
  int request;
  int query;
  int key;
  int head;     // of the queries
  int kv_head;  // of the keys
  int q_len;
  int kv_len;
  int mask;     // the byte at which the request's custom mask begins
  int q_start;  // the request's first query, among those of all

  // The position of the query among the keys.
  __device__ int position() const { return kv_len - q_len + query; }
};

// The plain variant, which changes nothing. Others replace what they need.
struct Plain {
  static constexpr bool kTransforms = false;  // logits: scores with their scale, before the softmax
  static constexpr bool kMasks = false;       // keeps() may say no
  static constexpr bool kWords = false;       // and words() says it of 64 keys at once
  static constexpr bool kOutputs = false;     // outputs, where the place's key has no meaning

  __device__ float transform(float logit, const Place&) const { return logit; }
  __device__ bool keeps(const Place&) const { return true; }
  // The mask of 64 keys from the place's key on, the first in the lowest bit. Bits after the last
  // key may be anything.
  __device__ uint64_t words(const Place&) const { return ~uint64_t{0}; }
  __device__ float output(float value, const Place&, int /*dim*/) const { return value; }
};

// Logits bent to stay within (-cap, cap): cap * tanh(logit / cap). Why by the instruction for tanh:
// with the weight's own it is two for special functions a score, where an exponential and a
// division make three, which take longer than the products. It is exact to 2^-11 of the result, as
// logits of 16-bit queries and keys are at best.
struct SoftCap : Plain {
  float cap;
  float inverse;  // 1 / cap

  static constexpr bool kTransforms = true;
  __device__ float transform(float logit, const Place&) const {
    return cap * device::approximate_tanh(logit * inverse);
  }
};

// A bias that grows with the distance, by a slope of the head.
struct Alibi : Plain {
  const float* slopes;  // [heads of queries]

  static constexpr bool kTransforms = true;
  __device__ float transform(float logit, const Place& at) const {
    return logit + slopes[at.head] * static_cast<float>(at.key - at.position());
  }
};

// A bit a score, from the lowest of a byte on: rows of queries, behind one another.
struct CustomMask : Plain {
  const uint8_t* bits;

  static constexpr bool kMasks = true;
  static constexpr bool kWords = true;

  __device__ bool keeps(const Place& at) const {
    const int64_t bit = number(at);
    return bits[at.mask + bit / 8] >> (bit % 8) & 1;
  }

  __device__ uint64_t words(const Place& at) const {
    const int64_t bit = number(at);
    const uint8_t* from = bits + at.mask + bit / 8;
    const int shift = static_cast<int>(bit % 8);
    const int keys = at.kv_len - at.key < 64 ? at.kv_len - at.key : 64;
    // Why not always: the bytes beyond those of the keys may be beyond the mask.
    if (shift == 0 && keys == 64 && reinterpret_cast<uintptr_t>(from) % 8 == 0) {
      return *reinterpret_cast<const uint64_t*>(from);
    }
    uint64_t word = 0;
    const int bytes = (shift + keys + 7) / 8;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      if (i < bytes) word |= static_cast<uint64_t>(from[i]) << (8 * i);
    }
    word >>= shift;
    if (bytes == 9) word |= static_cast<uint64_t>(from[8]) << (64 - shift);
    return word;
  }

 private:
  __device__ static int64_t number(const Place& at) {
    return static_cast<int64_t>(at.query) * at.kv_len + at.key;
  }
};

// A scale of each head, or one of all; null is 1.
struct HeadScale {
  const float* scales;
  int step;  // 0: one of all

  __device__ float of(int head) const { return scales == nullptr ? 1.0f : scales[head * step]; }
};

// The scales of queries, keys and values of 8 bits.
struct HeadScales : Plain {
  HeadScale q;
  HeadScale k;
  HeadScale v;

  static constexpr bool kTransforms = true;
  static constexpr bool kOutputs = true;

  __device__ float transform(float logit, const Place& at) const {
    return logit * (q.of(at.head) * k.of(at.kv_head));
  }
  __device__ float output(float value, const Place& at, int /*dim*/) const {
    return value * v.of(at.kv_head);
  }
};

// Spans of keys that a query sees, both ends included; one that ends before it begins has none.
struct SpanMask : Plain {
  static constexpr bool kMasks = true;
  static constexpr bool kWords = true;

 protected:
  // The bits of a span among 64 keys.
  __device__ static uint64_t word(int first, int last, int key) {
    if (last < key || last < first) return 0;
    const int low = first > key ? first - key : 0;
    const int high = last - key < 63 ? last - key : 63;
    return low > high ? 0 : ~uint64_t{0} >> (63 - high) & ~uint64_t{0} << low;
  }
};

// Two spans of each query, by its number among those of all requests.
struct Spans : SpanMask {
  const int4* of_queries;

  __device__ bool keeps(const Place& at) const { return words(at) & 1; }
  __device__ uint64_t words(const Place& at) const {
    const int4 own = of_queries[at.q_start + at.query];
    return word(own.x, own.y, at.key) | word(own.z, own.w, at.key);
  }
};

// Keys up to the query's own, and a range of any keys: one of both is enough. Windows are the
// greatest distances back to the query's own key.
struct CausalOrRange : SpanMask {
  const int2* of_queries;
  int causal_window;
  int range_window;

  __device__ bool keeps(const Place& at) const { return words(at) & 1; }
  __device__ uint64_t words(const Place& at) const {
    const int2 range = of_queries[at.q_start + at.query];
    const int own = at.position();
    const int nearest = own - range_window;
    return word(own - causal_window, own, at.key) |
           word(range.x > nearest ? range.x : nearest, range.y, at.key);
  }
};

// Drafts: a query sees all keys before those of the request's queries, and of these the ones whose
// bits are set, from the lowest of a word on. Rows of words are those of queries, behind one
// another.
struct DraftMask : Plain {
  const uint16_t* bits;
  int words_of_row;

  static constexpr bool kMasks = true;
  static constexpr bool kWords = true;

  __device__ bool keeps(const Place& at) const {
    const int draft = at.key - (at.kv_len - at.q_len);
    return draft < 0 || word(at, draft / 16) >> (draft % 16) & 1;
  }

  __device__ uint64_t words(const Place& at) const {
    const int first = at.key - (at.kv_len - at.q_len);  // draft of the lowest bit
    if (first + 63 < 0) return ~uint64_t{0};
    const int before = first < 0 ? -first : 0;
    uint64_t kept = (uint64_t{1} << before) - 1;
#pragma unroll
    for (int i = 0; i < 5; ++i) {
      const int number = (first + before) / 16 + i;
      const int to = number * 16 - first;  // where its lowest bit goes
      if (to > 63) continue;
      const uint64_t some = word(at, number);
      kept |= to < 0 ? some >> -to : some << to & ~uint64_t{0} << before;
    }
    return kept;
  }

 private:
  __device__ unsigned word(const Place& at, int number) const {
    if (number >= words_of_row) return 0;
    return bits[static_cast<int64_t>(at.q_start + at.query) * words_of_row + number];
  }
};

template <typename... Parts>
struct All : Parts... {
  static constexpr bool kTransforms = (Parts::kTransforms || ...);
  static constexpr bool kMasks = (Parts::kMasks || ...);
  static constexpr bool kWords = (Parts::kWords || ...);
  static constexpr bool kOutputs = (Parts::kOutputs || ...);

  __device__ float transform(float logit, const Place& at) const {
    ((logit = Parts::transform(logit, at)), ...);
    return logit;
  }
  __device__ bool keeps(const Place& at) const { return (Parts::keeps(at) && ...); }
  __device__ uint64_t words(const Place& at) const {
    return (~uint64_t{0} & ... & Parts::words(at));
  }
  __device__ float output(float value, const Place& at, int dim) const {
    ((value = Parts::output(value, at, dim)), ...);
    return value;
  }
};

// True of a variant that transforms logits by the scales of heads alone: by a factor of the row.
template <typename Variant>
constexpr bool scales_rows = false;
template <typename... Others>
constexpr bool scales_rows<All<HeadScales, Others...>> = !(Others::kTransforms || ... || false);

// True of a variant that changes logits by the soft cap alone: they are within a bound then.
template <typename Variant>
constexpr bool caps_alone = false;
template <typename... Parts>
constexpr bool caps_alone<All<Parts...>> =
    (std::is_same_v<Parts, SoftCap> || ... || false) &&
    ((std::is_same_v<Parts, SoftCap> || !Parts::kTransforms) && ...);

// The masks of a variant that words() does not cover: whether there are any, and what they say.
template <typename Variant>
constexpr bool masks_singly = Variant::kMasks && !Variant::kWords;
template <typename... Parts>
constexpr bool masks_singly<All<Parts...>> = (masks_singly<Parts> || ...);

template <typename Variant>
__device__ bool keeps_singly(const Variant& variant, const Place& at) {
  return !masks_singly<Variant> || variant.keeps(at);
}
template <typename... Parts>
__device__ bool keeps_singly(const All<Parts...>& variant, const Place& at) {
  return (keeps_singly(static_cast<const Parts&>(variant), at) && ...);
}

}  // namespace fictl::attention
