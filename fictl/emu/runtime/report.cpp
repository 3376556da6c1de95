#include "report.h"

#include <dlfcn.h>
#include <execinfo.h>

#include <algorithm>
#include <cstdio>
#include <set>

#include "control.h"
#include "hopper/mbarrier.h"
#include "system.h"

namespace fictl_emu {

namespace {

Mutex reports_mutex;  // of what follows: blocks run on several threads of the operating system
std::string lines;
std::set<std::string> filed;

std::string triple(const uint3& v) {
  return "[" + std::to_string(v.x) + ", " + std::to_string(v.y) + ", " + std::to_string(v.z) + "]";
}

// The outermost calls that the running thread is in: one of them is the kernel.
std::string stack_json() {
  constexpr int kOutermost = 8;
  void* calls[256];
  const int depth = team == nullptr || team->current == nullptr ? 0 : backtrace(calls, 256);
  std::string json;
  for (int i = std::max(0, depth - kOutermost); i < depth; ++i) {
    json += (json.empty() ? "" : ", ") + place_json(calls[i]);
  }
  return "[" + json + "]";
}

std::string hex(const void* address) {
  char text[32];
  snprintf(text, sizeof text, "%p", address);
  return text;
}

}  // namespace

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      snprintf(escape, sizeof escape, "\\u%04x", c);
      out += escape;
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string place_json(const void* pc) {
  Dl_info info;
  if (dladdr(pc, &info) == 0 || info.dli_fname == nullptr) {
    return "{\"address\": " + quoted(hex(pc)) + "}";
  }
  const auto offset = static_cast<const char*>(pc) - static_cast<const char*>(info.dli_fbase) - 1;
  return "{\"module\": " + quoted(info.dli_fname) + ", \"offset\": " + std::to_string(offset) + "}";
}

std::string thread_json(const Thread* thread) {
  return "{\"block\": " + triple(thread->block->index) + ", \"thread\": " + triple(thread->index) +
         ", \"linear\": " + std::to_string(thread->linear) + "}";
}

std::string ranges(const std::vector<uint32_t>& sorted) {
  std::string text;
  for (size_t first = 0; first < sorted.size();) {
    size_t last = first;
    while (last + 1 < sorted.size() && sorted[last + 1] == sorted[last] + 1) ++last;
    text += (text.empty() ? "" : ",") + std::to_string(sorted[first]);
    if (last > first) text += "-" + std::to_string(sorted[last]);
    first = last + 1;
  }
  return text;
}

Report::Report(const char* kind, const Thread* thread) : identity_(kind) {
  json_ = "{\"kind\": " + quoted(kind);
  if (team != nullptr) {
    const Grid& grid = thread != nullptr ? *thread->block->grid : team->launch->grids.front();
    kernel(grid.asked);
    if (team->launch->ranks > 1) number("rank", grid.rank);
  }
  if (thread != nullptr) raw("at", thread_json(thread));
}

Report& Report::raw(const char* name, const std::string& json) {
  json_ += ", " + quoted(name) + ": " + json;
  return *this;
}

Report& Report::kernel(const FictlEmuLaunch& launch) {
  text("kernel", launch.kernel);
  if (launch.function != nullptr) {
    return raw("function", place_json(static_cast<const char*>(launch.function) + 1));
  }
  return raw("stack", stack_json());
}

Report& Report::text(const char* name, const std::string& value) {
  return raw(name, quoted(value));
}

Report& Report::number(const char* name, int64_t value) { return raw(name, std::to_string(value)); }

Report& Report::site(const Site& site) {
  if (site.file == nullptr || site.line == 0) return *this;
  identity_ += std::string(" ") + site.file + ":" + std::to_string(site.line);
  return text("file", site.file).number("line", site.line);
}

Report& Report::place(const void* pc) {
  identity_ += " " + hex(pc);
  return raw("place", place_json(pc));
}

Report& Report::other(const std::string& what, const Thread* thread, const void* pc) {
  identity_ += " " + hex(pc);
  const bool has_rank = thread != nullptr && team != nullptr && team->launch->ranks > 1;
  const std::string by = has_rank ? " of rank " + std::to_string(thread->block->grid->rank) : "";
  std::string json = "{\"what\": " + quoted(what + by) + ", \"place\": " + place_json(pc);
  if (thread != nullptr) json += ", \"at\": " + thread_json(thread);
  return raw("other", json + "}");
}

bool Report::file() {
  const std::string barriers = named_barriers_json();
  if (barriers != "[]") raw("barriers", barriers);
  const Lock lock(reports_mutex);
  if (!filed.insert(identity_).second) return false;
  lines += json_ + "}\n";
  return true;
}

void stop(const char* kind, const std::string& what, const char* cause, const void* pc) {
  Report report(kind, current());
  report.place(pc);
  report.text("what", what).text("cause", cause);
  report.file();
  stop_kernel();
}

}  // namespace fictl_emu

extern "C" {

const char* fictl_emu_take_reports() {
  using namespace fictl_emu;
  static std::string taken;
  const Lock lock(reports_mutex);
  taken.swap(lines);
  lines.clear();
  filed.clear();
  return taken.c_str();
}

void fictl_emu_stop(const char* kind, const char* what, const char* file, int line) {
  using namespace fictl_emu;
  Report report(kind, current());
  report.site({file, line});
  report.text("what", what);
  report.file();
  stop_kernel();
}

void fictl_emu_missing(const char* what, const char* file, int line) {
  fictl_emu_stop("missing", what, file, line);
}
}
