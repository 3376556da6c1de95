// st.async: a store into shared memory of a block of the cluster that counts as bytes at a barrier
// there.
#include <cstring>

#include "bulk.h"
#include "scheduler.h"

namespace fictl_emu {

namespace {

class AsyncStore : public Load {
 public:
  AsyncStore(Thread& thread, const void* pc, const void* to, const void* value, uint32_t bytes,
             const void* barrier)
      : Load(thread, pc, to, barrier, 0, "st.async"), bytes_(bytes) {
    memcpy(value_, value, bytes);
    announce();
  }
  std::string text() const override {
    return "an asynchronous store of " + std::to_string(bytes_) + " bytes";
  }

 protected:
  uint32_t bytes() const override { return bytes_; }
  void write(const Destination& to) override { put(to, 0, value_, bytes_); }

 private:
  char value_[16];
  uint32_t bytes_;
};

}  // namespace

}  // namespace fictl_emu

extern "C" void fictl_emu_async_store(void* to, const void* value, uint32_t bytes, void* barrier) {
  using namespace fictl_emu;
  const void* pc = __builtin_return_address(0);
  require_multiple(to, bytes, "an asynchronous store to an address", pc);
  team->engine->issue(std::make_unique<AsyncStore>(*current(), pc, to, value, bytes, barrier));
}
