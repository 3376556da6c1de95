#include "host_memory.h"

#include <link.h>
#include <pthread.h>

#include <algorithm>

namespace fictl_emu::check {

void HostMemory::launch_begins(const Launch& launch) {
  fresh_ = false;
  arguments_.clear();
  for (const Grid& grid : launch.grids) {
    const char* begin = static_cast<const char*>(grid.asked.arguments);
    arguments_.push_back({begin, begin + grid.asked.argument_bytes, false});
  }
}

const HostMemory::Range* HostMemory::find(const char* address) {
  const Range* found = find_known(address);
  if (found != nullptr || fresh_) return found;
  look_around();
  return find_known(address);
}

const HostMemory::Range* HostMemory::find_known(const char* address) {
  if (recent_.contains(address)) return &recent_;
  const auto found = std::find_if(ranges_.begin(), ranges_.end(), [address](const Range& range) {
    return range.contains(address);
  });
  if (found == ranges_.end()) return nullptr;
  recent_ = *found;
  return &recent_;
}

Region* HostMemory::variables_at(const char* address) {
  constexpr unsigned kGranuleLog2 = 2;
  const Range* range = find(address);
  if (range == nullptr || !range->variables) return nullptr;
  const char* begin = range->begin - reinterpret_cast<uintptr_t>(range->begin) % 4;
  return &regions_.try_emplace(begin, Region{begin, range->end, kGranuleLog2, true, nullptr})
              .first->second;
}

void HostMemory::look_around() {
  fresh_ = true;
  recent_ = {};
  ranges_ = arguments_;
  pthread_attr_t attributes;
  void* stack;
  size_t bytes;
  pthread_getattr_np(pthread_self(), &attributes);
  pthread_attr_getstack(&attributes, &stack, &bytes);
  pthread_attr_destroy(&attributes);
  ranges_.push_back({static_cast<char*>(stack), static_cast<char*>(stack) + bytes, false});
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        auto& ranges = *static_cast<std::vector<Range>*>(data);
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& header = info->dlpi_phdr[i];
          const char* begin = nullptr;
          if (header.p_type == PT_LOAD) {
            begin = reinterpret_cast<const char*>(info->dlpi_addr + header.p_vaddr);
          } else if (header.p_type == PT_TLS) {
            begin = static_cast<const char*>(info->dlpi_tls_data);
          }
          const bool variables = header.p_type == PT_LOAD && (header.p_flags & PF_W) != 0;
          if (begin != nullptr) ranges.push_back({begin, begin + header.p_memsz, variables});
        }
        return 0;
      },
      &ranges_);
}

}  // namespace fictl_emu::check
