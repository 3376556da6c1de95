// One thread of a group does something: alone, or for the others, too.
#pragma once

namespace cooperative_groups {

template <class Group, class Function, class... Arguments>
void invoke_one(const Group& group, Function&& function, Arguments&&... arguments) {
  if (group.thread_rank() == 0) {
    std::forward<Function>(function)(std::forward<Arguments>(arguments)...);
  }
}

template <class Group, class Function, class... Arguments>
auto invoke_one_broadcast(const Group& group, Function&& function, Arguments&&... arguments)
    -> decltype(function(std::forward<Arguments>(arguments)...)) {
  using Result = decltype(function(std::forward<Arguments>(arguments)...));
  Result result{};
  if (group.thread_rank() == 0) {
    result = std::forward<Function>(function)(std::forward<Arguments>(arguments)...);
  }
  return group.shfl(result, 0);
}

}  // namespace cooperative_groups
