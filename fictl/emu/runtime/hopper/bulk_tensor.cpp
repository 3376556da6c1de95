// Bulk copies of boxes of tensors: cp.async.bulk.tensor and cp.reduce.async.bulk.tensor.
#include <cuda.h>

#include <algorithm>
#include <cstring>

#include "bulk.h"
#include "reduction.h"
#include "scheduler.h"

namespace fictl_emu {

namespace {

constexpr uint32_t kLongestRow = 256 * 8;  // bytes
constexpr int kNaN = 0xFF;

[[noreturn]] void stop_edited(const std::string& copy, const void* pc) {
  stop_bulk("map-edited", "the tensor map has changed while a copy of " + copy + " was under way",
            "the copy engine reads a map in global memory until the copy ends: wait for all copies "
            "that use it before it is edited, or make a map for each tensor on the host",
            pc);
}

// A box of a tensor: its map, and where it begins.
class Box {
 public:
  Box(const void* address, const int32_t* at, int rank, const void* pc)
      : map_(read_map(address, pc)), changing_(may_change(address) ? address : nullptr) {
    std::copy(at, at + rank, at_);
    if (map_.rank != rank) {
      stop_bulk("bad-tensor-map",
                "a copy of " + std::to_string(rank) + " dimensions with a map of " +
                    std::to_string(map_.rank),
                "the instruction, its coordinates and the map must have one number of dimensions",
                pc);
    }
  }

  const TensorMap& map() const { return map_; }
  const void* base() const { return reinterpret_cast<const void*>(map_.base); }
  bool is_outside() const {
    bool any = false;
    rows([&](uint32_t, uint32_t, const char*, uint32_t count) { any |= count != 0; });
    return !any;
  }
  // Stops where the kernel has changed the map in the meantime.
  void require_unchanged(const void* pc) {
    if (changing_ == nullptr) return;
    const TensorMap now = read_map(changing_, pc);
    if (memcmp(&now, &map_, sizeof now) != 0) stop_edited(text(), pc);
  }
  std::string text() const {
    return "box " + in_braces(map_.box, map_.rank) + ", corner " + in_braces(at_, map_.rank);
  }

  // Calls visit(offset in the box, bytes before it in the row, address, bytes) for each row: what
  // of it the tensor has, which may be nothing.
  template <class Visit>
  void rows(Visit visit) const {
    uint32_t index[kMostDimensions] = {};
    const uint32_t size = map_.element_bytes();
    const int64_t first = std::max<int64_t>(0, -int64_t{at_[0]});
    const int64_t end = std::min<int64_t>(map_.box[0], int64_t{map_.last[0]} + 1 - at_[0]);
    const uint32_t count = map_.box_bytes() / map_.row_bytes();
    for (uint32_t row = 0; row < count; ++row) {
      const char* begin = first < end ? row_at(index) : nullptr;
      const uint32_t bytes = begin == nullptr ? 0 : static_cast<uint32_t>(end - first) * size;
      const auto before = static_cast<uint32_t>(first) * size;
      visit(row * map_.row_bytes(), before, begin == nullptr ? nullptr : begin + before, bytes);
      for (int i = 1; i < map_.rank && ++index[i] == map_.box[i]; ++i) index[i] = 0;
    }
  }

 private:
  // The address of coordinate at_[0] in this row; null if the row is outside of the tensor.
  const char* row_at(const uint32_t* index) const {
    int64_t offset = int64_t{at_[0]} * map_.element_bytes();
    for (int i = 1; i < map_.rank; ++i) {
      const int64_t coordinate = int64_t{at_[i]} + int64_t{index[i]} * map_.steps[i];
      if (coordinate < 0 || coordinate > map_.last[i]) return nullptr;
      offset += coordinate * static_cast<int64_t>(map_.strides[i]);
    }
    return reinterpret_cast<const char*>(map_.base + static_cast<uint64_t>(offset));
  }

  TensorMap map_;
  const void* changing_;
  int32_t at_[kMostDimensions] = {};
};

void require_tile(const void* address, const TensorMap& map, const char* what, const void* pc) {
  require_multiple(address, 128, what, pc);
  // A copy alone needs no more, but all that reads the tile takes its pattern to begin there.
  if (check::enabled) require_multiple(address, pattern_bytes(map.swizzle), what, pc);
}

class TensorLoad : public Load {
 public:
  TensorLoad(Thread& thread, const void* pc, const void* to, const Box& box, const void* barrier,
             uint32_t mask)
      : Load(thread, pc, to, barrier, mask, "cp.async.bulk.tensor"), box_(box) {
    announce();
    if (!check::enabled) return;
    if (box_.is_outside()) check::box_is_outside({text(), base(), pc});
    box_.rows([&](uint32_t, uint32_t, const char* from, uint32_t count) {
      if (count != 0) check::async_access(ticket_, check::AsyncWay::kReads, from, count, pc);
    });
  }
  void complete() override {
    box_.require_unchanged(pc);
    Load::complete();
  }
  std::string text() const override { return "a tensor load of " + box_.text(); }

 protected:
  uint32_t bytes() const override { return box_.map().box_bytes(); }
  Swizzle swizzle() const override { return box_.map().swizzle; }
  const void* base() const override { return box_.base(); }
  void write(const Destination& to) override {
    const TensorMap& map = box_.map();
    char row[kLongestRow];
    const int fill = map.fills_with_nan ? kNaN : 0;
    box_.rows([&](uint32_t at, uint32_t before, const char* from, uint32_t count) {
      if (count != map.row_bytes()) memset(row, fill, map.row_bytes());
      if (count != 0) memcpy(row + before, from, count);
      put(to, at, row, map.row_bytes());
    });
  }

 private:
  Box box_;
};

// The element of a reduction into tensors of that type; -1 if there are no reductions into them.
int element_of(uint8_t type) {
  switch (type) {
    case CU_TENSOR_MAP_DATA_TYPE_UINT32:
      return FICTL_EMU_U32;
    case CU_TENSOR_MAP_DATA_TYPE_INT32:
      return FICTL_EMU_S32;
    case CU_TENSOR_MAP_DATA_TYPE_UINT64:
      return FICTL_EMU_U64;
    case CU_TENSOR_MAP_DATA_TYPE_INT64:
      return FICTL_EMU_S64;
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT16:
      return FICTL_EMU_F16;
    case CU_TENSOR_MAP_DATA_TYPE_BFLOAT16:
      return FICTL_EMU_BF16;
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT32:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ:
      return FICTL_EMU_F32;
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT64:
      return FICTL_EMU_F64;
    default:
      return -1;
  }
}

class TensorStore : public Store {
 public:
  TensorStore(Thread& thread, const void* pc, const Box& box, const void* from, int reduction)
      : Store(thread, pc, from), box_(box), reduction_(reduction) {
    announce();
    if (check::enabled && box_.is_outside()) check::box_is_outside({text(), base(), pc});
    if (is_plain()) tell(check::AsyncWay::kWillWrite);
  }
  void complete() override {
    box_.require_unchanged(pc);
    Store::complete();
  }
  std::string text() const override {
    return std::string("a tensor ") + (is_plain() ? "store" : "reduction") + " of " + box_.text();
  }

 protected:
  uint32_t bytes() const override { return box_.map().box_bytes(); }
  Swizzle swizzle() const override { return box_.map().swizzle; }
  const void* base() const override { return box_.base(); }
  // Nothing is done with what lies beyond the tensor.
  void tell_source() const override {
    box_.rows([&](uint32_t at, uint32_t before, const char*, uint32_t count) {
      if (count != 0) tell_read(at + before, count);
    });
  }
  void write(const char* content) override {
    tell(is_plain() ? check::AsyncWay::kHasWritten : check::AsyncWay::kUpdates);
    const int element = element_of(box_.map().type);
    box_.rows([&](uint32_t at, uint32_t before, const char* address, uint32_t count) {
      char* to = const_cast<char*>(address);
      if (is_plain()) {
        if (count != 0) memcpy(to, content + at + before, count);
      } else {
        reduce_into(to, content + at + before, count, reduction_, element);
      }
    });
  }

 private:
  bool is_plain() const { return reduction_ == FICTL_EMU_NO_REDUCTION; }
  void tell(check::AsyncWay way) const {
    if (!check::enabled) return;
    box_.rows([&](uint32_t, uint32_t, const char* address, uint32_t count) {
      if (count != 0) check::async_access(ticket_, way, address, count, pc);
    });
  }

  Box box_;
  int reduction_;
};

}  // namespace

}  // namespace fictl_emu

extern "C" {

void fictl_emu_tensor_load(void* to, const void* map, const int32_t* at, int rank, void* barrier,
                           uint32_t mask) {
  using namespace fictl_emu;
  const void* pc = __builtin_return_address(0);
  const Box box(map, at, rank, pc);
  require_tile(to, box.map(), "a tensor load to an address", pc);
  team->engine->issue(std::make_unique<TensorLoad>(*current(), pc, to, box, barrier, mask));
}

void fictl_emu_tensor_store(const void* map, const int32_t* at, int rank, const void* from,
                            int reduction) {
  using namespace fictl_emu;
  const void* pc = __builtin_return_address(0);
  const Box box(map, at, rank, pc);
  require_tile(from, box.map(), "a tensor store from an address", pc);
  const int element = element_of(box.map().type);
  if (reduction != FICTL_EMU_NO_REDUCTION && (element < 0 || !can_reduce(reduction, element))) {
    stop_bulk("bad-tensor-map", "a reduction that a tensor of this type does not have",
              "reductions by addition exist for integers of 32 and 64 bits and for floating point; "
              "minimum and maximum for integers and for 16-bit floating point",
              pc);
  }
  team->engine->issue(std::make_unique<TensorStore>(*current(), pc, box, from, reduction));
}
}
