// Where a call's random numbers come from: a seed and an offset, each a number for all rows, or a
// tensor with one for all or one a row.
#pragma once

#include <binding/launch.h>

namespace fictl {

namespace detail {

// The numbers of a tensor, or null where there is none; `step` is from a row's to the next one's.
inline const uint64_t* draw_numbers(const Launch& launch, const char* name, const View* x,
                                    int64_t rows, int* step) {
  *step = 0;
  if (x == nullptr) return nullptr;
  const DLDataType dtype = x->dtype();
  const bool integers = dtype.code == kDLInt || dtype.code == kDLUInt;
  if (!integers || dtype.bits != 64 || dtype.lanes != 1) {
    throw Error(ErrorKind::TypeError) << launch.op << ": argument '" << name << "' has dtype "
                                      << dtype << "; accepted: int64, uint64";
  }
  if (x->ndim() != 1 || (x->size(0) != 1 && x->size(0) != rows)) {
    throw Error(ErrorKind::ValueError)
        << launch.op << ": argument '" << name << "' has shape " << Shape{*x}
        << "; it is one number, (1,), or one a row, (" << rows << ",)";
  }
  if (!x->contiguous()) {
    throw Error(ErrorKind::ValueError)
        << launch.op << ": argument '" << name << "' is not contiguous: shape " << Shape{*x}
        << ", strides " << Strides{*x} << "; pass " << name << ".contiguous()";
  }
  *step = x->size(0) > 1 ? 1 : 0;
  return x->data<const uint64_t>();
}

}  // namespace detail

// As sampling::Draws, which this header need not know. The numbers count where there are no
// tensors; negative ones have the bits of their int64.
template <typename Draws>
Draws draws_of(const Launch& launch, const View* seeds, const View* offsets, int64_t seed,
               int64_t offset, int64_t rows) {
  Draws draws;
  draws.seeds = detail::draw_numbers(launch, "seed", seeds, rows, &draws.seed_step);
  draws.offsets = detail::draw_numbers(launch, "offset", offsets, rows, &draws.offset_step);
  draws.seed = static_cast<uint64_t>(seed);
  draws.offset = static_cast<uint64_t>(offset);
  return draws;
}

}  // namespace fictl
