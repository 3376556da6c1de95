// Bulk copies of plain memory: cp.async.bulk and cp.reduce.async.bulk.
#include <cstring>

#include "bulk.h"
#include "peers.h"
#include "reduction.h"
#include "scheduler.h"

namespace fictl_emu {

namespace {

constexpr uint32_t kMultiple = 16;

void require_multiples(const void* to, const void* from, uint32_t bytes, const void* pc) {
  require_multiple(to, kMultiple, "a bulk copy to an address", pc);
  require_multiple(from, kMultiple, "a bulk copy from an address", pc);
  if (bytes % kMultiple == 0) return;
  stop_bulk("misaligned",
            "a bulk copy of " + std::to_string(bytes) + " bytes, not a multiple of 16",
            "copy the rest by ordinary loads and stores", pc);
}

// A copy from global memory, or from shared memory of the thread's block to another block.
class MemoryLoad : public Load {
 public:
  MemoryLoad(Thread& thread, const void* pc, const void* to, const void* from, uint32_t bytes,
             const void* barrier, uint32_t mask)
      : Load(thread, pc, to, barrier, mask, "cp.async.bulk"),
        from_(static_cast<const char*>(from)),
        bytes_(bytes) {
    announce();
    check::async_access(ticket_, check::AsyncWay::kReads, from, bytes, pc);
  }
  std::string text() const override {
    return "a bulk copy of " + std::to_string(bytes_) + " bytes into shared memory";
  }

 protected:
  uint32_t bytes() const override { return bytes_; }
  void write(const Destination& to) override { put(to, 0, from_, bytes_); }

 private:
  const char* from_;
  uint32_t bytes_;
};

class MemoryStore : public Store {
 public:
  MemoryStore(Thread& thread, const void* pc, void* to, const void* from, uint32_t bytes,
              int reduction, int element)
      : Store(thread, pc, from),
        to_(static_cast<char*>(to)),
        bytes_(bytes),
        reduction_(reduction),
        element_(element) {
    announce();
    if (is_plain()) tell(check::AsyncWay::kWillWrite);
  }
  std::string text() const override {
    return "a bulk " + std::string(is_plain() ? "store" : "reduction") + " of " +
           std::to_string(bytes_) + " bytes to global memory";
  }

 protected:
  uint32_t bytes() const override { return bytes_; }
  void write(const char* content) override {
    tell(is_plain() ? check::AsyncWay::kHasWritten : check::AsyncWay::kUpdates);
    if (is_plain()) {
      memcpy(to_, content, bytes_);
    } else {
      reduce_into(to_, content, bytes_, reduction_, element_);
    }
  }

 private:
  bool is_plain() const { return reduction_ == FICTL_EMU_NO_REDUCTION; }
  void tell(check::AsyncWay way) const { check::async_access(ticket_, way, to_, bytes_, pc); }

  char* to_;
  uint32_t bytes_;
  int reduction_;
  int element_;
};

}  // namespace

}  // namespace fictl_emu

extern "C" {

void fictl_emu_bulk_load(void* to, const void* from, uint32_t bytes, void* barrier, uint32_t mask) {
  using namespace fictl_emu;
  const void* pc = __builtin_return_address(0);
  require_multiples(to, from, bytes, pc);
  team->engine->issue(std::make_unique<MemoryLoad>(*current(), pc, to, from, bytes, barrier, mask));
}

void fictl_emu_bulk_store(void* to, const void* from, uint32_t bytes, int reduction, int element) {
  using namespace fictl_emu;
  const void* pc = __builtin_return_address(0);
  require_multiples(to, from, bytes, pc);
  team->engine->issue(
      std::make_unique<MemoryStore>(*current(), pc, to, from, bytes, reduction, element));
}
}
