// The random state of a sampling call: a seed and an offset, each either a number for all rows or a
// tensor of one number, (1,), or of one per row, (rows,).
#pragma once

#include <binding/launch.h>

namespace fictl {

namespace detail {

// The data of an optional tensor, or null; `step` is the stride from one row's number to the next.
inline const uint64_t* draw_numbers(const Launch& launch, const char* name, const View* x,
                                    int64_t rows, int* step) {
  *step = 0;
  if (x == nullptr) return nullptr;
  if (!same_dtype(x->dtype(), kInt64) && !same_dtype(x->dtype(), kUInt64)) {
    throw argument_error(ErrorKind::TypeError, launch.op, name)
        << "has dtype " << x->dtype() << "; accepted: int64, uint64";
  }
  if (x->ndim() != 1 || (x->size(0) != 1 && x->size(0) != rows)) {
    throw argument_error(ErrorKind::ValueError, launch.op, name)
        << "has shape " << Shape{*x} << "; it is one number, (1,), or one a row, (" << rows << ",)";
  }
  if (!x->contiguous()) {
    throw argument_error(ErrorKind::ValueError, launch.op, name)
        << "is not contiguous: shape " << Shape{*x} << ", strides " << Strides{*x} << "; pass "
        << name << ".contiguous()";
  }
  *step = x->size(0) > 1 ? 1 : 0;
  return x->data<const uint64_t>();
}

}  // namespace detail

// Fills a sampling::Draws, passed as a template argument so that this header includes no kernel.
// The numbers are used where there are no tensors; a negative one is taken as the bits of its
// int64.
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
