// Scans over the lanes of a group.
#pragma once

#include <cooperative_groups.h>
#include <cooperative_groups/details/functional.h>

namespace cooperative_groups {

namespace details {

template <class T, class Operation>
void inclusive_step(void* const* arguments, uint32_t lanes) {
  const Members<T, Operation> members(arguments, lanes);
  for (int i = 1; i < members.count; ++i) {
    members.value(i) = members.apply(i, members.value(i - 1), members.value(i));
  }
}

template <class T, class Operation>
void exclusive_step(void* const* arguments, uint32_t lanes) {
  inclusive_step<T, Operation>(arguments, lanes);
  const Members<T, Operation> members(arguments, lanes);
  for (int i = members.count - 1; i > 0; --i) members.value(i) = members.value(i - 1);
  members.value(0) = T{};
}

}  // namespace details

#define FICTL_EMU_SCAN(name, step)                                                            \
  template <class Group, class T, class Operation>                                            \
  auto name(const Group& group, T&& value, Operation&& operation, FICTL_EMU_HERE)             \
      -> decltype(operation(value, value)) {                                                  \
    using Value = details::Plain<T>;                                                          \
    using Function = std::remove_reference_t<Operation>;                                      \
    return details::together<Value, Function>("group " #name, group.mask(), value, operation, \
                                              details::step<Value, Function>, file, line);    \
  }                                                                                           \
  template <class Group, class T>                                                             \
  details::Plain<T> name(const Group& group, T&& value, FICTL_EMU_HERE) {                     \
    return name(group, value, plus<details::Plain<T>>(), file, line);                         \
  }
FICTL_EMU_SCAN(inclusive_scan, inclusive_step)
FICTL_EMU_SCAN(exclusive_scan, exclusive_step)
#undef FICTL_EMU_SCAN

}  // namespace cooperative_groups
