// Checks of tensors that have a part for each rank.
#pragma once

#include <binding/checks.h>

namespace fictl {

// `whole` is `ranks` of `part`, one after another in the first dimension.
inline void check_parts(const char* op, const char* whole_name, View whole, const char* part_name,
                        View part, int64_t ranks) {
  bool fits =
      part.ndim() > 0 && whole.ndim() == part.ndim() && whole.size(0) == ranks * part.size(0);
  for (int dim = 1; fits && dim < part.ndim(); ++dim) fits = whole.size(dim) == part.size(dim);
  if (fits) return;
  raise(argument_error(ErrorKind::ValueError, op, part_name)
        << "has shape " << Shape{part} << ", '" << whole_name << "' has " << Shape{whole} << "; of "
        << ranks << " ranks, the first dimension of '" << whole_name << "' is " << ranks
        << " times that of '" << part_name << "'");
}

}  // namespace fictl
