// Integers and bits: reinterpretation, counting, permuting, and the multiplications and dot
// products that C++ has no operator for.
#pragma once

#include <fictl_emu/abi.h>

namespace fictl_emu {

template <class To, class From>
inline To bits_as(const From& from) {
  static_assert(sizeof(To) == sizeof(From), "the same number of bits");
  To to;
  __builtin_memcpy(static_cast<void*>(&to), static_cast<const void*>(&from), sizeof to);
  return to;
}

// Element `i` of a register that packs several.
template <class T>
inline T packed(uint32_t all, int i) {
  return static_cast<T>(all >> (8 * sizeof(T) * i));
}

inline uint64_t joined(uint32_t low, uint32_t high) {
  return static_cast<uint64_t>(high) << 32 | low;
}

// The sum of the products of the bytes of `b` with as many elements of `a` from element `first` on.
template <class A, class B, class Sum>
inline Sum dot(uint32_t a, uint32_t b, Sum sum, int first, int count) {
  for (int i = 0; i < count; ++i) sum += packed<A>(a, i) * packed<B>(b, first + i);
  return sum;
}

template <class T>
inline T distance(T x, T y) {
  return x < y ? y - x : x - y;
}

}  // namespace fictl_emu

// ---- the same bits as another type ----

inline int __float_as_int(float x) { return ::fictl_emu::bits_as<int>(x); }
inline unsigned __float_as_uint(float x) { return ::fictl_emu::bits_as<unsigned>(x); }
inline float __int_as_float(int x) { return ::fictl_emu::bits_as<float>(x); }
inline float __uint_as_float(unsigned x) { return ::fictl_emu::bits_as<float>(x); }
inline long long __double_as_longlong(double x) { return ::fictl_emu::bits_as<long long>(x); }
inline double __longlong_as_double(long long x) { return ::fictl_emu::bits_as<double>(x); }
inline int __double2loint(double x) { return static_cast<int>(__double_as_longlong(x)); }
inline int __double2hiint(double x) { return static_cast<int>(__double_as_longlong(x) >> 32); }
inline double __hiloint2double(int high, int low) {
  return ::fictl_emu::bits_as<double>(
      ::fictl_emu::joined(static_cast<uint32_t>(low), static_cast<uint32_t>(high)));
}

// ---- counting and searching ----

inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }
inline int __clzll(long long x) {
  return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x));
}
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }

// The place of the |offset|-th set bit from `base` on, upwards or, if negative, downwards.
inline unsigned __fns(unsigned mask, unsigned base, int offset) {
  if (offset == 0) return mask >> base & 1 ? base : 0xffffffffu;
  const int step = offset < 0 ? -1 : 1;
  int left = offset * step;
  for (int place = static_cast<int>(base); place >= 0 && place < 32; place += step) {
    if ((mask >> place & 1) != 0 && --left == 0) return static_cast<unsigned>(place);
  }
  return 0xffffffffu;
}

// ---- permuting ----

inline unsigned long long __brevll(unsigned long long x) {
  x = (x >> 1 & 0x5555555555555555u) | (x & 0x5555555555555555u) << 1;
  x = (x >> 2 & 0x3333333333333333u) | (x & 0x3333333333333333u) << 2;
  x = (x >> 4 & 0x0f0f0f0f0f0f0f0fu) | (x & 0x0f0f0f0f0f0f0f0fu) << 4;
  return __builtin_bswap64(x);
}
inline unsigned __brev(unsigned x) { return static_cast<unsigned>(__brevll(x) >> 32); }
inline unsigned short __nv_bswap16(unsigned short x) { return __builtin_bswap16(x); }
inline unsigned __nv_bswap32(unsigned x) { return __builtin_bswap32(x); }
inline unsigned long long __nv_bswap64(unsigned long long x) { return __builtin_bswap64(x); }

inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  const uint64_t bytes = ::fictl_emu::joined(x, y);
  unsigned result = 0;
  for (int i = 0; i < 4; ++i) {
    const unsigned choice = selector >> (4 * i) & 0xf;
    const uint8_t byte = static_cast<uint8_t>(bytes >> (8 * (choice & 7)));
    const uint8_t sign = byte & 0x80 ? 0xff : 0;
    result |= static_cast<unsigned>(choice & 8 ? sign : byte) << (8 * i);
  }
  return result;
}

inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>(::fictl_emu::joined(low, high) << (shift & 31) >> 32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>(::fictl_emu::joined(low, high) >> (shift & 31));
}
inline unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
  return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
inline unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
  return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}

// ---- multiplying ----

inline int __mulhi(int x, int y) { return static_cast<int>(static_cast<int64_t>(x) * y >> 32); }
inline unsigned __umulhi(unsigned x, unsigned y) {
  return static_cast<unsigned>(static_cast<uint64_t>(x) * y >> 32);
}
inline long long __mul64hi(long long x, long long y) {
  return static_cast<long long>(static_cast<__int128>(x) * y >> 64);
}
inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  return static_cast<unsigned long long>(static_cast<unsigned __int128>(x) * y >> 64);
}
inline int __mul24(int x, int y) {
  return static_cast<int>(static_cast<unsigned>(x) << 8) / 256 *
         (static_cast<int>(static_cast<unsigned>(y) << 8) / 256);
}
inline unsigned __umul24(unsigned x, unsigned y) { return (x & 0xffffff) * (y & 0xffffff); }

inline int __dp4a(int a, int b, int c) { return ::fictl_emu::dot<int8_t, int8_t>(a, b, c, 0, 4); }
inline unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
  return ::fictl_emu::dot<uint8_t, uint8_t>(a, b, c, 0, 4);
}
inline int __dp2a_lo(int a, int b, int c) {
  return ::fictl_emu::dot<int16_t, int8_t>(a, b, c, 0, 2);
}
inline unsigned __dp2a_lo(unsigned a, unsigned b, unsigned c) {
  return ::fictl_emu::dot<uint16_t, uint8_t>(a, b, c, 0, 2);
}
inline int __dp2a_hi(int a, int b, int c) {
  return ::fictl_emu::dot<int16_t, int8_t>(a, b, c, 2, 2);
}
inline unsigned __dp2a_hi(unsigned a, unsigned b, unsigned c) {
  return ::fictl_emu::dot<uint16_t, uint8_t>(a, b, c, 2, 2);
}

inline int __dp4a(char4 a, char4 b, int c) {
  return __dp4a(::fictl_emu::bits_as<int>(a), ::fictl_emu::bits_as<int>(b), c);
}
inline unsigned __dp4a(uchar4 a, uchar4 b, unsigned c) {
  return __dp4a(::fictl_emu::bits_as<unsigned>(a), ::fictl_emu::bits_as<unsigned>(b), c);
}
inline int __dp2a_lo(short2 a, char4 b, int c) {
  return __dp2a_lo(::fictl_emu::bits_as<int>(a), ::fictl_emu::bits_as<int>(b), c);
}
inline int __dp2a_hi(short2 a, char4 b, int c) {
  return __dp2a_hi(::fictl_emu::bits_as<int>(a), ::fictl_emu::bits_as<int>(b), c);
}
inline unsigned __dp2a_lo(ushort2 a, uchar4 b, unsigned c) {
  return __dp2a_lo(::fictl_emu::bits_as<unsigned>(a), ::fictl_emu::bits_as<unsigned>(b), c);
}
inline unsigned __dp2a_hi(ushort2 a, uchar4 b, unsigned c) {
  return __dp2a_hi(::fictl_emu::bits_as<unsigned>(a), ::fictl_emu::bits_as<unsigned>(b), c);
}

// ---- averages and distances ----

inline int __hadd(int x, int y) { return static_cast<int>((static_cast<int64_t>(x) + y) >> 1); }
inline int __rhadd(int x, int y) {
  return static_cast<int>((static_cast<int64_t>(x) + y + 1) >> 1);
}
inline unsigned __uhadd(unsigned x, unsigned y) {
  return static_cast<unsigned>((static_cast<uint64_t>(x) + y) >> 1);
}
inline unsigned __urhadd(unsigned x, unsigned y) {
  return static_cast<unsigned>((static_cast<uint64_t>(x) + y + 1) >> 1);
}
inline unsigned __sad(int x, int y, unsigned z) {
  return static_cast<unsigned>(::fictl_emu::distance<int64_t>(x, y)) + z;
}
inline unsigned __usad(unsigned x, unsigned y, unsigned z) {
  return ::fictl_emu::distance(x, y) + z;
}
