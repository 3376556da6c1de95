// The memory that a kernel may touch, by name: the tensors that Python passes to it, and what
// cudaMalloc() has given out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shadow.h"

#pragma GCC visibility push(default)
extern "C" {

struct FictlEmuTensor {
  void* data;
  const char* name;
  int32_t itemsize;
  int32_t ndim;
  const int64_t* shape;
  const int64_t* strides;  // in elements
  int32_t writable;
};
// These and no others, from the next launch on. Two may share memory: what one may write is
// writable.
void fictl_emu_watch(const struct FictlEmuTensor* tensors, int count);
}
#pragma GCC visibility pop

namespace fictl_emu::check {

// Memory that cudaMalloc() and similar functions have allocated and freed.
void allocated(void* data, size_t bytes);
void freed(void* data);
// True if the address is in memory that was freed and not allocated again.
bool was_freed(const char* address);

class Tensor {
 public:
  explicit Tensor(const FictlEmuTensor& given);

  const std::string& name() const { return name_; }
  const char* begin() const { return begin_; }
  const char* end() const { return begin_ + extent_; }
  size_t bytes() const { return extent_; }
  size_t itemsize() const { return itemsize_; }
  bool writable() const { return writable_; }
  size_t row_bytes() const { return row_bytes_; }

  bool contains(const char* address, size_t bytes) const {
    const size_t offset = address - begin_;
    if (offset >= extent_ || bytes > extent_ - offset) return false;
    return rows_.empty() || in_a_row(offset, bytes);
  }
  // `[3, 17]`; empty for an address outside of it.
  std::string element(const char* address) const;

  Region* region = nullptr;

 private:
  struct Axis {
    int64_t length;
    int64_t stride;  // in bytes
    int position;    // in the shape
  };
  bool in_a_row(size_t offset, size_t bytes) const;
  void find_rows();

  std::string name_;
  const char* begin_;
  size_t extent_ = 0;  // to the end of its last element
  size_t itemsize_;
  bool writable_;
  int dimensions_;
  std::vector<Axis> axes_;  // longest stride first
  std::vector<Axis> rows_;  // those whose steps leave gaps
  size_t row_bytes_ = 0;    // without a gap
};

// The tensors of the launch that runs.
class Tensors {
 public:
  // Takes over what was watched, allocated and freed since the last launch. Blocks have serials
  // from `serial` on.
  void update(uint32_t serial);
  void forget_accesses();
  // Accesses of blocks before this one to tensors that are not watched any more.
  void forget_before(uint32_t serial);
  // Records of accesses to this memory by earlier launches, which had other tensors.
  std::vector<Region*> former(const char* address);

  bool empty() const { return all_.empty(); }
  // The one that holds all of these bytes, preferably a writable one for a write. `pc` is the place
  // that asks: most places in the code work on one tensor.
  const Tensor* find(const char* address, size_t bytes, bool write, const void* pc);
  const Tensor* nearest(const char* address, size_t bytes) const;
  // Those of different names that hold all of these bytes, writable ones first.
  std::vector<const Tensor*> sharing(const char* address, size_t bytes) const;

 private:
  void make_regions(uint32_t serial);

  uint64_t version_ = 0;
  std::vector<Tensor> all_;  // writable ones first
  std::vector<Region> regions_;
  struct Former {
    Region region;
    uint32_t until;  // the first serial after its accesses
  };
  std::vector<Former> former_;
  const Tensor* recent_[64] = {};
};

}  // namespace fictl_emu::check
