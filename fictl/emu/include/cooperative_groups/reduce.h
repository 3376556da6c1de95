// Reductions over the lanes of a group.
#pragma once

#include <cooperative_groups.h>
#include <cooperative_groups/details/functional.h>

namespace cooperative_groups {

namespace details {

// Halves against halves, as shuffles do it on a GPU; what is over goes in first.
template <class T, class Operation>
void reduce_step(void* const* arguments, uint32_t lanes) {
  const Members<T, Operation> members(arguments, lanes);
  int whole = 1;
  while (whole * 2 <= members.count) whole *= 2;
  for (int i = whole; i < members.count; ++i) {
    members.value(i - whole) = members.apply(0, members.value(i - whole), members.value(i));
  }
  for (int half = whole / 2; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) {
      members.value(i) = members.apply(0, members.value(i), members.value(i + half));
    }
  }
  for (int i = 1; i < members.count; ++i) members.value(i) = members.value(0);
}

}  // namespace details

template <class Group, class T, class Operation>
auto reduce(const Group& group, T&& value, Operation&& operation, FICTL_EMU_HERE)
    -> decltype(operation(value, value)) {
  using Value = details::Plain<T>;
  using Function = std::remove_reference_t<Operation>;
  if constexpr (std::is_base_of<details::LaneGroup, Group>::value) {
    return details::together<Value, Function>("group reduce", group.mask(), value, operation,
                                              details::reduce_step<Value, Function>, file, line);
  } else {
    Group::missing("reduce()", file, line);
  }
}

}  // namespace cooperative_groups
