#include "elements.h"

#include <algorithm>

namespace fictl_emu::ptx {

namespace {

template <Element type>
float decode(uint32_t code) {
  if constexpr (type == Element::kF16) return half_to_float(static_cast<uint16_t>(code));
  if constexpr (type == Element::kBF16) return bfloat_to_float(static_cast<uint16_t>(code));
  if constexpr (type == Element::kTF32) return bits<float>(code & 0xffffe000u);  // reads no more
  if constexpr (type == Element::kE4M3) return e4m3_to_float(static_cast<uint8_t>(code));
  if constexpr (type == Element::kE5M2) return e5m2_to_float(static_cast<uint8_t>(code));
  if constexpr (type == Element::kS8) return static_cast<int8_t>(code);
  if constexpr (type == Element::kU8) return static_cast<uint8_t>(code);
  if constexpr (type == Element::kS4) return static_cast<int8_t>(code << 4) >> 4;
  return static_cast<float>(code & 15);
}

template <Element type>
void decode_all(const uint32_t* words, int count, float* to) {
  constexpr int kPer = 32 / width(type);
  for (int i = 0; i < count; ++i) {
    for (int e = 0; e < kPer; ++e) to[i * kPer + e] = decode<type>(words[i] >> width(type) * e);
  }
}

}  // namespace

void decode_all(Element type, const uint32_t* words, int count, float* to) {
  using Decoder = void (*)(const uint32_t*, int, float*);
  static constexpr Decoder kDecoders[] = {
      // in the order of Element
      decode_all<Element::kF16>, decode_all<Element::kBF16>, decode_all<Element::kTF32>,
      decode_all<Element::kS8>,  decode_all<Element::kU8>,   decode_all<Element::kS4>,
      decode_all<Element::kU4>,  decode_all<Element::kE4M3>, decode_all<Element::kE5M2>,
  };
  kDecoders[static_cast<int>(type)](words, count, to);
}

uint32_t add(Accumulator kind, uint32_t c, float products) {
  const int64_t sum = static_cast<int32_t>(c) + static_cast<int64_t>(products);
  if (kind == Accumulator::kS32) return static_cast<uint32_t>(sum);
  return static_cast<uint32_t>(std::min<int64_t>(std::max<int64_t>(sum, INT32_MIN), INT32_MAX));
}

}  // namespace fictl_emu::ptx
