// Copies into shared memory by all threads of a group, with cp.async where the alignment allows it.
#pragma once

#include <cooperative_groups.h>
#include <fictl_emu/memory.h>

namespace cooperative_groups {

namespace details {

// Bytes that one cp.async may copy between these addresses; 1 if it cannot.
inline int copy_width(const void* to, const void* from) {
  const size_t addresses = reinterpret_cast<size_t>(to) | reinterpret_cast<size_t>(from);
  if (addresses % 4 != 0 || !__isShared(to) || __isShared(from)) return 1;
  return addresses % 16 == 0 ? 16 : addresses % 8 == 0 ? 8 : 4;
}

template <class Group>
void copy_async(const Group& group, char* to, const char* from, size_t bytes, const char* file,
                int line) {
  const size_t width = copy_width(to, from), whole = width == 1 ? 0 : bytes / width * width;
  const size_t rank = group.thread_rank(), threads = group.num_threads();
  for (size_t at = rank * width; at < whole; at += threads * width) {
    fictl_emu_copy_async(to + at, from + at, static_cast<int>(width), static_cast<int>(width));
  }
  for (size_t at = whole + rank; at < bytes; at += threads) to[at] = from[at];
  fictl_emu_copy_commit();
}

}  // namespace details

// `bytes` may be a cuda::aligned_size_t.
template <class Group, class T, class Size>
void memcpy_async(const Group& group, T* to, const T* from, const Size& bytes, FICTL_EMU_HERE) {
  details::copy_async(group, reinterpret_cast<char*>(to), reinterpret_cast<const char*>(from),
                      static_cast<size_t>(bytes), file, line);
}

// With the numbers of elements that there are at either end.
template <class Group, class T, class ToSize, class FromSize>
void memcpy_async(const Group& group, T* to, const ToSize& to_count, const T* from,
                  const FromSize& from_count, FICTL_EMU_HERE) {
  const size_t fit = static_cast<size_t>(to_count), there = static_cast<size_t>(from_count);
  details::copy_async(group, reinterpret_cast<char*>(to), reinterpret_cast<const char*>(from),
                      (fit < there ? fit : there) * sizeof(T), file, line);
}

template <unsigned Pending, class Group>
void wait_prior(const Group& group, FICTL_EMU_HERE) {
  fictl_emu_copy_wait(Pending);
  group.sync(file, line);
}

template <class Group>
void wait(const Group& group, FICTL_EMU_HERE) {
  wait_prior<0>(group, file, line);
}

}  // namespace cooperative_groups
