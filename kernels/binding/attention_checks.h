// Checks that the bindings of attention have in common.
#pragma once

#include <binding/ffi.h>

namespace fictl {

// Sinks, where there are any: one for each head.
inline void check_sinks(const char* op, const ::tvm::ffi::Optional<View>& sinks, int64_t heads) {
  if (!sinks.has_value() || (*sinks).numel() == heads) return;
  raise(argument_error(ErrorKind::ValueError, op, "sinks")
        << "has shape " << Shape{*sinks} << "; there are " << heads << " heads");
}

}  // namespace fictl
