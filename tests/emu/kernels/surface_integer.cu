// Integer intrinsics: bits, multiplications, dot products, SIMD on halfwords and bytes, DPX.
#include "surface.cuh"

__device__ int S(unsigned x) { return static_cast<int>(x); }
__device__ long long wide(unsigned high, unsigned low) {
  return static_cast<long long>(static_cast<unsigned long long>(high) << 32 | low);
}
__device__ unsigned long long uwide(unsigned high, unsigned low) {
  return static_cast<unsigned long long>(high) << 32 | low;
}

// clang-format off
#define EXPRESSIONS(F)                                                                           \
  F(__popc(x)) F(__popcll(uwide(x, y))) F(__clz(S(x))) F(__clz(0)) F(__clzll(wide(x, y)))        \
  F(__clzll(0)) F(__ffs(S(x))) F(__ffs(0)) F(__ffsll(wide(x, y))) F(__brev(x))                   \
  F(__brevll(uwide(x, y))) F(__byte_perm(x, y, z)) F(__fns(x, y % 32, S(z % 9) - 4))             \
  F(__funnelshift_l(x, y, z)) F(__funnelshift_r(x, y, z)) F(__funnelshift_lc(x, y, z % 64))      \
  F(__funnelshift_rc(x, y, z % 64)) F(__mulhi(S(x), S(y))) F(__umulhi(x, y))                     \
  F(__mul64hi(wide(x, y), wide(y, z))) F(__umul64hi(uwide(x, y), uwide(y, z)))                   \
  F(__mul24(S(x), S(y))) F(__umul24(x, y)) F(__dp4a(S(x), S(y), S(z))) F(__dp4a(x, y, z))        \
  F(__dp2a_lo(S(x), S(y), S(z))) F(__dp2a_lo(x, y, z)) F(__dp2a_hi(S(x), S(y), S(z)))            \
  F(__dp2a_hi(x, y, z)) F(__hadd(S(x), S(y))) F(__rhadd(S(x), S(y))) F(__uhadd(x, y))            \
  F(__urhadd(x, y)) F(__sad(S(x), S(y), z)) F(__usad(x, y, z)) F(min(S(x), S(y)))                \
  F(max(S(x), S(y))) F(min(x, y)) F(max(x, y)) F(min(S(x), y)) F(max(x, S(y)))                   \
  F(min(wide(x, y), wide(z, y))) F(max(uwide(x, y), uwide(z, y))) F(__vabs2(x)) F(__vabsss2(x))  \
  F(__vneg2(x)) F(__vnegss2(x)) F(__vadd2(x, y)) F(__vaddss2(x, y)) F(__vaddus2(x, y))           \
  F(__vsub2(x, y)) F(__vsubss2(x, y)) F(__vsubus2(x, y)) F(__vavgs2(x, y)) F(__vavgu2(x, y))     \
  F(__vhaddu2(x, y)) F(__vabsdiffs2(x, y)) F(__vabsdiffu2(x, y)) F(__vmaxs2(x, y))               \
  F(__vmaxu2(x, y)) F(__vmins2(x, y)) F(__vminu2(x, y)) F(__vsads2(x, y)) F(__vsadu2(x, y))      \
  F(__vcmpeq2(x, y)) F(__vcmpne2(x, y)) F(__vcmpges2(x, y)) F(__vcmpgeu2(x, y))                  \
  F(__vcmpgts2(x, y)) F(__vcmpgtu2(x, y)) F(__vcmples2(x, y)) F(__vcmpleu2(x, y))                \
  F(__vcmplts2(x, y)) F(__vcmpltu2(x, y)) F(__vseteq2(x, y)) F(__vsetgts2(x, y)) F(__vabs4(x))   \
  F(__vabsss4(x)) F(__vneg4(x)) F(__vnegss4(x)) F(__vadd4(x, y)) F(__vaddss4(x, y))              \
  F(__vaddus4(x, y)) F(__vsub4(x, y)) F(__vsubss4(x, y)) F(__vsubus4(x, y)) F(__vavgs4(x, y))    \
  F(__vavgu4(x, y)) F(__vhaddu4(x, y)) F(__vabsdiffs4(x, y)) F(__vabsdiffu4(x, y))               \
  F(__vmaxs4(x, y)) F(__vmaxu4(x, y)) F(__vmins4(x, y)) F(__vminu4(x, y)) F(__vsads4(x, y))      \
  F(__vsadu4(x, y)) F(__vcmpeq4(x, y)) F(__vcmpltu4(x, y)) F(__vcmpges4(x, y))                   \
  F(__vsetne4(x, y)) F(__vsetleu4(x, y)) F(__vsetlts4(x, y)) F(__vimax3_s32(S(x), S(y), S(z)))   \
  F(__vimin3_u32(x, y, z)) F(__vimax3_s16x2(x, y, z)) F(__vimin3_u16x2(x, y, z))                 \
  F(__viaddmax_s32(S(x), S(y), S(z))) F(__viaddmin_u32(x, y, z)) F(__viaddmax_s16x2(x, y, z))    \
  F(__vimax_s32_relu(S(x), S(y))) F(__vimin_s16x2_relu(x, y))                                    \
  F(__vimin3_s32_relu(S(x), S(y), S(z))) F(__viaddmax_s16x2_relu(x, y, z))
// clang-format on

SURFACE(integers, unsigned, EXPRESSIONS)
