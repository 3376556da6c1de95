// Bulk copies: what those of plain memory and those of tensors share.
#pragma once

#include <string>
#include <vector>

#include "checker.h"
#include "engine.h"
#include "tensor_map.h"

namespace fictl_emu {

// The place of a copy in the shared memory of one block, and the barrier there that counts it.
struct Destination {
  Block* block;
  uint32_t offset;
  uint32_t barrier;

  char* memory() const;
};

// An operation that writes to shared memory and completes its bytes at a barrier there.
class Load : public Operation {
 public:
  // A non-zero `mask` names the blocks of a multicast. Stops the kernel where there is no such
  // block, or no barrier.
  Load(Thread& thread, const void* pc, const void* to, const void* barrier, uint32_t mask,
       const char* name);
  bool is_awaited() const override { return true; }
  bool writes_to(const Block& block) const override;
  void poison() override;
  void complete() override;

 protected:
  // Bytes that complete at the barrier of each destination.
  virtual uint32_t bytes() const = 0;
  // Of the tensor of a map; null where there is none.
  virtual const void* base() const { return nullptr; }
  // The byte of shared memory for a byte of the copy. Pieces of 16 bytes stay together.
  virtual Swizzle swizzle() const { return Swizzle::kNone; }
  // Writes the data.
  virtual void write(const Destination& to) = 0;

  // Tells check mode what will be written; constructors of derived classes end with it.
  void announce();
  void put(const Destination& to, uint32_t at, const char* from, uint32_t count) const;

  std::vector<Destination> destinations_;
  check::Ticket ticket_;

 private:
  void tell(const Destination& to, check::AsyncWay way) const;
};

// An operation that reads shared memory and writes to global memory, in a bulk group.
class Store : public Operation {
 public:
  Store(Thread& thread, const void* pc, const void* from);
  void complete() override;
  void read_source() override;

 protected:
  virtual uint32_t bytes() const = 0;
  virtual Swizzle swizzle() const { return Swizzle::kNone; }
  virtual const void* base() const { return nullptr; }
  // Tells check mode which bytes are read and used.
  virtual void tell_source() const;
  void tell_read(uint32_t at, uint32_t count) const;
  // Writes what has been read.
  virtual void write(const char* content) = 0;

  // Tells check mode what is read; constructors of derived classes end with it.
  void announce();

  check::Ticket ticket_;

 private:
  const char* source_;  // in shared memory of the thread's block
  std::vector<char> content_;
};

// A thread returns, with its stores.
void bulk_after_exit(Thread& thread);

void require_multiple(const void* address, uint32_t of, const char* what, const void* pc);
[[noreturn]] void stop_bulk(const char* kind, const std::string& what, const char* cause,
                            const void* pc);

}  // namespace fictl_emu
