#include "words.h"

#include <dlfcn.h>

#include "hopper/peers.h"

namespace fictl_emu::check {

namespace {

std::string adjective(bool strong, bool is_volatile) {
  return is_volatile ? "volatile " : strong ? "atomic " : "";
}

Location locate_shared(const SharedMemory& shared, const char* address) {
  const auto offset = address - shared.base;
  const SharedPart* part = part_that_holds(shared, offset);
  if (part != nullptr) return {"shared", in_words(*part), offset - part->offset, part->bytes, ""};
  Location found{"shared", "dynamic shared memory", offset, shared.dynamic_bytes, ""};
  if (offset < int64_t{shared.static_begin}) return found;
  for (const SharedVariable& variable : shared.variables) {
    if (offset < int64_t{variable.offset} - int64_t{SharedMemory::kGap} / 2) break;
    found = {"shared", std::string("__shared__ ") + variable.name, offset - variable.offset,
             variable.bytes, ""};
  }
  return found;
}

// Names of variables are known where the module exports them.
Location locate_variable(const char* address) {
  Dl_info info;
  const bool named = dladdr(address, &info) != 0 && info.dli_sname != nullptr;
  if (!named) return {"variable", "a variable of the module", 0, 0, ""};
  return {"variable", info.dli_sname, address - static_cast<const char*>(info.dli_saddr), 0, ""};
}

}  // namespace

std::string count(size_t n, const std::string& thing) {
  return std::to_string(n) + " " + thing + (n == 1 ? "" : "s");
}

std::string verb(const Access& access) {
  switch (access.way) {
    case Way::kRead:
      if (access.actor == Actor::kProduct) return "read by wgmma";
      if (access.is_bulk()) return "read by a bulk copy";
      return adjective(access.strong(), access.is_volatile()) + "read";
    case Way::kWrite:
      return adjective(access.strong(), access.is_volatile()) + "write";
    case Way::kUpdate:
      return "atomic update";
    case Way::kCopyIssued:
    case Way::kCopyLanded:
      return access.actor == Actor::kStore  ? "bulk store"
             : access.actor == Actor::kLoad ? "bulk copy"
                                            : "cp.async";
  }
  return "";
}

std::string verb(const Stamp& stamp, bool wrote) {
  if (stamp.actor() == Actor::kProduct) return "read by wgmma";
  if (stamp.is_bulk()) return wrote ? "bulk copy" : "read by a bulk copy";
  if (stamp.in_flight || stamp.actor() == Actor::kCopy) return "cp.async";
  return adjective(stamp.strong, stamp.is_volatile) + (wrote ? "write" : "read");
}

std::string in_words(const SharedPart& part) {
  return std::string("part '") + part.name + "' of shared memory";
}

const SharedPart* part_that_holds(const SharedMemory& shared, size_t offset) {
  const SharedPart* best = nullptr;
  for (const SharedPart& part : shared.parts) {
    if (part.contains(offset, 1) && (best == nullptr || part.bytes < best->bytes)) best = &part;
  }
  return best;
}

Location locate(const Thread& thread, const char* address, size_t bytes) {
  const Block* owner = holder(*thread.block, address);
  if (owner != nullptr) {
    Location found = locate_shared(owner->shared, address);
    if (owner != thread.block) found.name += " of block " + std::to_string(owner->place.rank);
    return found;
  }
  if (record().host.contains(address)) return locate_variable(address);
  const Tensor* tensor = record().tensors.nearest(address, bytes);
  if (tensor == nullptr) return {};
  return {"tensor", tensor->name(), address - tensor->begin(), tensor->bytes(),
          tensor->element(address)};
}

void add(Report& report, const Access& access, const Location& location) {
  report.text("access", verb(access)).number("bytes", access.bytes);
  if (*location.space == 0) return;
  report.text(location.space, location.name);
  report.number("byte", location.byte).number("size", location.bytes);
  if (!location.element.empty()) report.text("element", location.element);
}

std::string sentence(const Access& access) {
  const std::string what = verb(access);
  return (what[0] == 'a' ? "an " : "a ") + what + " of " + count(access.bytes, "byte");
}

}  // namespace fictl_emu::check
