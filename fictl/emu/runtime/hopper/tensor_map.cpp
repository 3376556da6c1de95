#include "tensor_map.h"

#include <dlfcn.h>

#include <cstring>

#include "fiber.h"
#include "report.h"
#include "scheduler.h"

namespace fictl_emu {

namespace {

template <class T>
std::string braced(const T* values, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += (i == 0 ? "" : ", ") + std::to_string(values[i]);
  return "{" + text + "}";
}

}  // namespace

uint32_t TensorMap::box_bytes() const {
  uint32_t bytes = element_bytes();
  for (int i = 0; i < rank; ++i) bytes *= box[i];
  return bytes;
}

TensorMap read_map(const void* address, const void* pc) {
  if (reinterpret_cast<uintptr_t>(address) % 64 != 0) {
    stop("misaligned", "a tensor map at an address that is not a multiple of 64",
         "a struct of parameters has lost the map's alignment: keep CUtensorMap a parameter of its "
         "own, or declare the struct's member alignas(64)",
         pc);
  }
  if (current()->block->shared.contains(address)) {
    stop("bad-tensor-map", "a tensor map in shared memory",
         "a copy takes its map from a __grid_constant__ parameter, constant or global memory", pc);
  }
  TensorMap map;
  memcpy(&map, address, sizeof map);
  if (map.magic != TensorMap::kMagic) {
    stop("bad-tensor-map", "a tensor copy with something that is not a tensor map",
         "cuTensorMapEncodeTiled has not been called for it, or has returned an error; or the "
         "kernel's parameter is not const __grid_constant__",
         pc);
  }
  return map;
}

bool may_change(const void* address) {
  if (stacks->contains(address)) return false;  // a parameter
  Dl_info info;
  return dladdr(address, &info) == 0;
}

std::string in_braces(const uint16_t* values, int count) { return braced(values, count); }
std::string in_braces(const int32_t* values, int count) { return braced(values, count); }

}  // namespace fictl_emu
