// CUDA and the C library give some names to different functions (__expf, __sinf, ...). This header
// includes the C library's mathematics with those names changed, so that they are free for CUDA's.
// It must come before anything that includes <math.h>.
#pragma once

#define __cosf fictl_emu_glibc_cosf
#define __exp10f fictl_emu_glibc_exp10f
#define __expf fictl_emu_glibc_expf
#define __log10f fictl_emu_glibc_log10f
#define __log2f fictl_emu_glibc_log2f
#define __logf fictl_emu_glibc_logf
#define __powf fictl_emu_glibc_powf
#define __sincosf fictl_emu_glibc_sincosf
#define __sinf fictl_emu_glibc_sinf
#define __tanf fictl_emu_glibc_tanf
#define __tanhf fictl_emu_glibc_tanhf

// The C++ library's <math.h>, which also gives the overloads for float that CUDA has.
#include <math.h>
#include <stdlib.h>

#undef __cosf
#undef __exp10f
#undef __expf
#undef __log10f
#undef __log2f
#undef __logf
#undef __powf
#undef __sincosf
#undef __sinf
#undef __tanf
#undef __tanhf
