// One specialisation of Wgmma: an instruction of one width and pair of types.
#pragma once

#include <fictl/device/hopper/wgmma.cuh>

#define FICTL_WGMMA_OPERANDS(...) __VA_ARGS__

// For types of 16 bits: tiles along K or along M and N.
#define FICTL_WGMMA_ANY_MAJOR(T, NAME, N, TEXT, D, i0, i1, i2, i3, i4, i5, i6)                    \
  template <>                                                                                     \
  struct Wgmma<T, T, N> {                                                                         \
    template <Major kMajorA, Major kMajorB>                                                       \
    __device__ static void shared(float (&d)[N / 2], TileDescriptor a, TileDescriptor b,          \
                                  bool adds) {                                                    \
      asm volatile(                                                                               \
          "{\n"                                                                                   \
          ".reg .pred adds;\n"                                                                    \
          "setp.ne.b32 adds, " i2                                                                 \
          ", 0;\n"                                                                                \
          "wgmma.mma_async.sync.aligned.m64n" #N "k16.f32." NAME "." NAME " {" TEXT "}, " i0      \
          ", " i1 ", adds, 1, 1, " i3 ", " i4                                                     \
          ";\n"                                                                                   \
          "}"                                                                                     \
          : FICTL_WGMMA_OPERANDS D                                                                \
          : "l"(a.bits()), "l"(b.bits()), "r"(static_cast<int>(adds)),                            \
            "n"(static_cast<int>(kMajorA == Major::kMN)),                                         \
            "n"(static_cast<int>(kMajorB == Major::kMN)));                                        \
    }                                                                                             \
    template <Major kMajorB>                                                                      \
    __device__ static void registers(float (&d)[N / 2], const uint32_t (&a)[4], TileDescriptor b, \
                                     bool adds) {                                                 \
      asm volatile(                                                                               \
          "{\n"                                                                                   \
          ".reg .pred adds;\n"                                                                    \
          "setp.ne.b32 adds, " i5                                                                 \
          ", 0;\n"                                                                                \
          "wgmma.mma_async.sync.aligned.m64n" #N "k16.f32." NAME "." NAME " {" TEXT "}, {" i0     \
          ", " i1 ", " i2 ", " i3 "}, " i4 ", adds, 1, 1, " i6                                    \
          ";\n"                                                                                   \
          "}"                                                                                     \
          : FICTL_WGMMA_OPERANDS D                                                                \
          : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b.bits()),                            \
            "r"(static_cast<int>(adds)), "n"(static_cast<int>(kMajorB == Major::kMN)));           \
    }                                                                                             \
  };

// For types of 8 and 32 bits: tiles along K alone.
#define FICTL_WGMMA_K_MAJOR(A, B, NAMES, K, N, TEXT, D, i0, i1, i2, i3, i4, i5, i6)                \
  template <>                                                                                      \
  struct Wgmma<A, B, N> {                                                                          \
    template <Major kMajorA, Major kMajorB>                                                        \
    __device__ static void shared(float (&d)[N / 2], TileDescriptor a, TileDescriptor b,           \
                                  bool adds) {                                                     \
      static_assert(kMajorA == Major::kK && kMajorB == Major::kK, "16-bit types alone have both"); \
      asm volatile(                                                                                \
          "{\n"                                                                                    \
          ".reg .pred adds;\n"                                                                     \
          "setp.ne.b32 adds, " i2                                                                  \
          ", 0;\n"                                                                                 \
          "wgmma.mma_async.sync.aligned.m64n" #N "k" K ".f32." NAMES " {" TEXT "}, " i0 ", " i1    \
          ", adds, 1, 1;\n"                                                                        \
          "}"                                                                                      \
          : FICTL_WGMMA_OPERANDS D                                                                 \
          : "l"(a.bits()), "l"(b.bits()), "r"(static_cast<int>(adds)));                            \
    }                                                                                              \
    template <Major kMajorB>                                                                       \
    __device__ static void registers(float (&d)[N / 2], const uint32_t (&a)[4], TileDescriptor b,  \
                                     bool adds) {                                                  \
      static_assert(kMajorB == Major::kK, "16-bit types alone have both");                         \
      asm volatile(                                                                                \
          "{\n"                                                                                    \
          ".reg .pred adds;\n"                                                                     \
          "setp.ne.b32 adds, " i5                                                                  \
          ", 0;\n"                                                                                 \
          "wgmma.mma_async.sync.aligned.m64n" #N "k" K ".f32." NAMES " {" TEXT "}, {" i0 ", " i1   \
          ", " i2 ", " i3 "}, " i4                                                                 \
          ", adds, 1, 1;\n"                                                                        \
          "}"                                                                                      \
          : FICTL_WGMMA_OPERANDS D                                                                 \
          : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b.bits()),                             \
            "r"(static_cast<int>(adds)));                                                          \
    }                                                                                              \
  };
