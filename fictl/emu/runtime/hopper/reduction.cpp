#include "reduction.h"

#include <fictl_emu/abi.h>
#include <fictl_emu/ptx/formats.h>

#include <cstring>

namespace fictl_emu {

namespace {

template <class T>
struct Plain {
  using Memory = T;
  static T read(Memory value) { return value; }
  static Memory write(T value) { return value; }
};
struct Half {
  using Memory = uint16_t;
  static float read(Memory code) { return ptx::half_to_float(code); }
  static Memory write(float value) { return ptx::float_to_half(value); }
};
struct BFloat16 {
  using Memory = uint16_t;
  static float read(Memory code) { return ptx::bfloat_to_float(code); }
  static Memory write(float value) { return ptx::float_to_bfloat(value); }
};

template <class Element, class Combine>
void combine(char* to, const char* from, size_t bytes, Combine change) {
  using Memory = typename Element::Memory;
  for (size_t at = 0; at < bytes; at += sizeof(Memory)) {
    Memory old, given;
    memcpy(&old, to + at, sizeof old);
    memcpy(&given, from + at, sizeof given);
    old = Element::write(change(Element::read(old), Element::read(given)));
    memcpy(to + at, &old, sizeof old);
  }
}

template <class Element>
void reduce_numbers(char* to, const char* from, size_t bytes, int reduction) {
  if (reduction == FICTL_EMU_ADD) {
    combine<Element>(to, from, bytes,
                     [](auto a, auto b) { return static_cast<decltype(a)>(a + b); });
  } else if (reduction == FICTL_EMU_MIN) {
    combine<Element>(to, from, bytes, [](auto a, auto b) { return b < a ? b : a; });
  } else {
    combine<Element>(to, from, bytes, [](auto a, auto b) { return a < b ? b : a; });
  }
}

void reduce_bits(char* to, const char* from, size_t bytes, int reduction) {
  using Byte = Plain<uint8_t>;
  if (reduction == FICTL_EMU_BIT_AND) {
    combine<Byte>(to, from, bytes, [](int a, int b) { return static_cast<uint8_t>(a & b); });
  } else if (reduction == FICTL_EMU_BIT_OR) {
    combine<Byte>(to, from, bytes, [](int a, int b) { return static_cast<uint8_t>(a | b); });
  } else {
    combine<Byte>(to, from, bytes, [](int a, int b) { return static_cast<uint8_t>(a ^ b); });
  }
}

}  // namespace

size_t bytes_of_element(int element) {
  switch (element) {
    case FICTL_EMU_F16:
    case FICTL_EMU_BF16:
      return 2;
    case FICTL_EMU_U64:
    case FICTL_EMU_S64:
    case FICTL_EMU_F64:
      return 8;
    default:
      return 4;
  }
}

bool can_reduce(int reduction, int element) {
  if (reduction == FICTL_EMU_ADD) return true;
  if (reduction >= FICTL_EMU_BIT_AND) return element <= FICTL_EMU_S64;
  return element != FICTL_EMU_F32 && element != FICTL_EMU_F64;
}

void reduce_into(char* to, const char* from, size_t bytes, int reduction, int element) {
  if (reduction >= FICTL_EMU_BIT_AND) return reduce_bits(to, from, bytes, reduction);
  switch (element) {
    case FICTL_EMU_U32:
      return reduce_numbers<Plain<uint32_t>>(to, from, bytes, reduction);
    case FICTL_EMU_S32:
      if (reduction == FICTL_EMU_ADD) break;
      return reduce_numbers<Plain<int32_t>>(to, from, bytes, reduction);
    case FICTL_EMU_U64:
      return reduce_numbers<Plain<uint64_t>>(to, from, bytes, reduction);
    case FICTL_EMU_S64:
      if (reduction == FICTL_EMU_ADD) break;
      return reduce_numbers<Plain<int64_t>>(to, from, bytes, reduction);
    case FICTL_EMU_F16:
      return reduce_numbers<Half>(to, from, bytes, reduction);
    case FICTL_EMU_BF16:
      return reduce_numbers<BFloat16>(to, from, bytes, reduction);
    case FICTL_EMU_F32:
      return reduce_numbers<Plain<float>>(to, from, bytes, reduction);
    case FICTL_EMU_F64:
      return reduce_numbers<Plain<double>>(to, from, bytes, reduction);
    default:
      break;
  }
  // Sums of signed integers wrap, as those of unsigned ones.
  const bool wide = element == FICTL_EMU_S64;
  reduce_into(to, from, bytes, reduction, wide ? FICTL_EMU_U64 : FICTL_EMU_U32);
}

}  // namespace fictl_emu
