#include "mbarrier.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "checker.h"
#include "config.h"
#include "engine.h"
#include "peers.h"
#include "report.h"
#include "scheduler.h"

namespace fictl_emu {

namespace {

constexpr uint32_t kMostArrivals = (1u << 20) - 1;
constexpr int64_t kMostBytes = (1 << 20) - 1;

// The eight bytes in shared memory, which show that a barrier has been written over: a bit that is
// set, parity, arrivals expected and pending, bytes.
uint64_t word_of(const Mbarrier& barrier) {
  return uint64_t{1} << 63 | uint64_t{barrier.phase & 1} << 62 | uint64_t{barrier.expected} << 42 |
         uint64_t{barrier.pending} << 22 | (static_cast<uint32_t>(barrier.tx) & 0x3FFFFF);
}

char* memory_of(const Mbarrier& barrier) { return barrier.block->shared.base + barrier.offset; }

void write_word(const Mbarrier& barrier) {
  const uint64_t word = word_of(barrier);
  memcpy(memory_of(barrier), &word, sizeof word);
}

bool is_intact(const Mbarrier& barrier) {
  uint64_t word;
  memcpy(&word, memory_of(barrier), sizeof word);
  return word == word_of(barrier);
}

std::string place_of(const SharedMemory& shared, uint32_t offset) {
  for (const SharedVariable& variable : shared.variables) {
    if (offset - variable.offset >= variable.bytes) continue;
    const uint32_t inside = offset - variable.offset;
    return inside == 0 ? variable.name : variable.name + ("+" + std::to_string(inside));
  }
  return "shared+" + std::to_string(offset);
}

// An address as a place in the shared memory of a block.
struct Spot {
  Block* block;
  uint32_t offset;
};

Spot spot_of(const void* address, const char* operation, const void* pc) {
  Block* block = holder(address);
  if (block == nullptr) {
    stop("not-a-barrier", std::string(operation) + " at an address that is not of shared memory",
         "an mbarrier lies in shared memory: pass the 32-bit address that "
         "__cvta_generic_to_shared() gives",
         pc);
  }
  const char* canonical = block->shared.canonical(static_cast<const char*>(address));
  const auto offset = static_cast<uint32_t>(canonical - block->shared.base);
  if (offset % 8 != 0) {
    stop("misaligned", std::string(operation) + " at " + place_of(block->shared, offset),
         "an mbarrier has 8 bytes, and its address is a multiple of 8", pc);
  }
  return {block, offset};
}

void note_deed() {
  ++team->deeds;
  note_progress(*team);
}

// Wakes those that wait for the phase that has just ended.
void wake(Mbarrier& barrier) {
  if (config.order == FICTL_EMU_REVERSE) {
    std::reverse(barrier.waiting.begin(), barrier.waiting.end());
  }
  for (Thread* thread : barrier.waiting) {
    thread->mbarrier = nullptr;
    make_ready(*thread);
  }
  barrier.waiting.clear();
}

void changed(Mbarrier& barrier) {
  if (barrier.pending == 0 && barrier.tx == 0) {
    ++barrier.phase;
    barrier.pending = barrier.expected;
    barrier.announced = 0;
    barrier.latest.clear();
    check::barrier_advanced(barrier);
    wake(barrier);
  }
  write_word(barrier);
  note_deed();
}

void add_bytes(Mbarrier& barrier, int64_t bytes, const void* pc) {
  const int64_t tx = barrier.tx + bytes;
  if (tx > kMostBytes || tx < -kMostBytes) {
    stop("barrier-overflow",
         "mbarrier " + name_of(barrier) + " would count " + std::to_string(tx) +
             " bytes, where the most are " + std::to_string(kMostBytes),
         "bytes are expected in one phase again and again and never arrive, or arrive and are "
         "never expected",
         pc);
  }
  barrier.tx = static_cast<int32_t>(tx);
}

void expect(Mbarrier& barrier, uint32_t bytes, const void* pc) {
  add_bytes(barrier, bytes, pc);
  barrier.announced += bytes;
}

void take_arrivals(Mbarrier& barrier, uint32_t count, const void* pc) {
  if (count == 0 || count > barrier.pending) {
    stop("barrier-overflow",
         std::to_string(count) + (count == 1 ? " arrival" : " arrivals") + " at mbarrier " +
             name_of(barrier) + ", which " +
             (barrier.pending == 0 ? "has had all " : "is to have ") +
             std::to_string(barrier.pending == 0 ? barrier.expected : barrier.pending) +
             (barrier.pending == 0 ? " of this phase and waits for bytes alone" : " more"),
         "more threads arrive in one phase than the count that mbarrier.init names: often all "
         "threads of a warp where one should; or a producer comes round to a stage without waiting "
         "for it to be empty",
         pc);
  }
  barrier.pending -= count;
}

bool sleep_in(Mbarrier& barrier, const void* pc) {
  Thread& self = *current();
  self.site = {};
  self.pc = pc;
  self.mbarrier = &barrier;
  barrier.waiting.push_back(&self);
  wait(State::kMbarrier);
  const bool over = self.mbarrier == nullptr;
  self.mbarrier = nullptr;
  return over;
}

bool has_given_up(const Thread& thread) {
  return thread.given_up_at == team->deeds &&
         std::find(thread.given_up.begin(), thread.given_up.end(), thread.mbarrier) !=
             thread.given_up.end();
}

void give_up(Thread& thread) {
  if (thread.given_up_at != team->deeds) thread.given_up.clear();
  thread.given_up_at = team->deeds;
  thread.given_up.push_back(thread.mbarrier);
  std::vector<Thread*>& waiting = thread.mbarrier->waiting;
  waiting.erase(std::find(waiting.begin(), waiting.end(), &thread));
  make_ready(thread);
}

uint64_t state_token(const Mbarrier& barrier) {
  return uint64_t{barrier.phase} << 20 | barrier.pending;
}

bool is_over(const Mbarrier& barrier, uint64_t which, int how) {
  if ((how & FICTL_EMU_BY_PARITY) != 0) return (barrier.phase & 1) != (which & 1);
  return static_cast<uint32_t>(which >> 20) != barrier.phase;
}

// True for barriers of one array: side by side, initialised at one place, with one count.
bool are_of_one_array(const Mbarrier& one, const Mbarrier& next) {
  return next.offset == one.offset + 8 && next.pc == one.pc && next.expected == one.expected;
}

// The offset of the first barrier of its array.
uint32_t first_of_array(const Mbarrier& barrier) {
  const auto& all = barrier.block->mbarriers;
  auto first = all.find(barrier.offset);
  if (first == all.end()) return barrier.offset;
  while (first != all.begin() && are_of_one_array(std::prev(first)->second, first->second)) --first;
  return first->first;
}

// A barrier that a report names.
struct Named {
  std::string name;
  const Block* block;
  uint32_t offset;
};
// Why on the heap: thread-local storage of a library that is loaded late is scarce.
thread_local std::unique_ptr<std::vector<Named>> named_here;

std::vector<Named>& named() {
  if (named_here == nullptr) named_here.reset(new std::vector<Named>);
  return *named_here;
}

}  // namespace

Mbarrier& mbarrier_at(const void* address, const char* operation, const void* pc) {
  const Spot spot = spot_of(address, operation, pc);
  const auto known = spot.block->mbarriers.find(spot.offset);
  const std::string what =
      std::string(operation) + " at " + place_of(spot.block->shared, spot.offset) + ", ";
  if (known == spot.block->mbarriers.end()) {
    stop("not-a-barrier", what + "where no mbarrier has been initialised",
         "mbarrier.init comes first, and a barrier of all threads between it and this", pc);
  }
  if (!is_intact(known->second)) {
    stop("not-a-barrier", what + "an mbarrier whose memory has been written over",
         "a tile or another variable reaches into the barrier; memory that is to be used for "
         "something else needs mbarrier.inval first",
         pc);
  }
  return known->second;
}

void complete_bytes(Mbarrier& barrier, uint32_t bytes, const void* pc) {
  add_bytes(barrier, -int64_t{bytes}, pc);
  changed(barrier);
}

void expect_arrivals(Mbarrier& barrier, uint32_t count) {
  barrier.pending += count;
  write_word(barrier);
}

void arrive(Mbarrier& barrier, uint32_t count, const void* pc) {
  take_arrivals(barrier, count, pc);
  changed(barrier);
}

bool give_up_waiting(Team& t) {
  bool any = false;
  for (Block* block : t.blocks) {
    for (Thread& thread : block->threads) {
      if (thread.state != State::kMbarrier || has_given_up(thread)) continue;
      give_up(thread);
      any = true;
    }
  }
  return any;
}

void mbarriers_after_block(const Block& block) {
  for (const auto& [offset, barrier] : block.mbarriers) {
    if (barrier.tx == 0 || !is_intact(barrier)) continue;
    Report report("tx-mismatch", current());
    report.place(barrier.pc);
    report.text("what",
                "the block ends with mbarrier " + name_of(barrier) + " at " + state_of(barrier));
    add_latest_copy(report, barrier);
    check::describe_copy(report, barrier);
    report.file();
  }
}

int index_of(const Mbarrier& barrier) {
  return static_cast<int>(barrier.offset - first_of_array(barrier)) / 8;
}

std::string name_of(const Mbarrier& barrier) {
  const auto& all = barrier.block->mbarriers;
  const auto known = all.find(barrier.offset);
  if (known == all.end()) return place_of(barrier.block->shared, barrier.offset);
  const auto next = std::next(known);
  const bool has_next = next != all.end() && are_of_one_array(known->second, next->second);
  const uint32_t first = first_of_array(barrier);
  std::string name = place_of(barrier.block->shared, first);
  const bool is_alone = first == barrier.offset && !has_next;
  if (!is_alone) name += "[" + std::to_string(index_of(barrier)) + "]";
  const auto is_known = [&](const Named& one) { return one.name == name; };
  if (std::none_of(named().begin(), named().end(), is_known)) {
    named().push_back({name, barrier.block, barrier.offset});
  }
  return name;
}

std::string named_barriers_json() {
  std::string json;
  for (const Named& one : named()) {
    std::string all;
    for (const auto& [offset, barrier] : one.block->mbarriers) {
      all += (all.empty() ? "" : ", ") + ("{\"offset\": " + std::to_string(offset)) +
             ", \"place\": " + place_json(barrier.pc) + "}";
    }
    json += (json.empty() ? "" : ", ") + ("{\"name\": " + quoted(one.name)) +
            ", \"offset\": " + std::to_string(one.offset) + ", \"all\": [" + all + "]}";
  }
  named().clear();
  return "[" + json + "]";
}

const Mbarrier* mbarrier_without_bytes(const Block& block) {
  for (const auto& [offset, barrier] : block.mbarriers) {
    if (!barrier.waiting.empty() && barrier.pending == 0) return &barrier;
  }
  return nullptr;
}

}  // namespace fictl_emu

extern "C" {

void fictl_emu_mbarrier_init(void* address, uint32_t count) {
  using namespace fictl_emu;
  const void* pc = __builtin_return_address(0);
  const Spot spot = spot_of(address, "mbarrier.init", pc);
  const auto known = spot.block->mbarriers.find(spot.offset);
  if (known != spot.block->mbarriers.end() && is_intact(known->second)) {
    stop("barrier-reinit", "mbarrier.init of " + name_of(known->second) + ", which is in use",
         "one thread initialises each barrier once; mbarrier.inval ends its use", pc);
  }
  if (count == 0 || count > kMostArrivals) {
    stop("barrier-overflow",
         "mbarrier.init with a count of " + std::to_string(count) + ", where 1 to " +
             std::to_string(kMostArrivals) + " are possible",
         "the count is the number of arrivals that end a phase", pc);
  }
  Mbarrier& barrier = spot.block->mbarriers[spot.offset];
  barrier = Mbarrier{spot.block, spot.offset, pc, count, count};
  check::barrier_begins(barrier);
  write_word(barrier);
  note_deed();
}

void fictl_emu_mbarrier_inval(void* address) {
  using namespace fictl_emu;
  const void* pc = __builtin_return_address(0);
  Mbarrier& barrier = mbarrier_at(address, "mbarrier.inval", pc);
  if (!barrier.waiting.empty()) {
    stop("not-a-barrier", "mbarrier.inval of " + name_of(barrier) + ", at which threads wait",
         "end the use of a barrier when all have passed it", pc);
  }
  memset(memory_of(barrier), 0xFF, 8);
  barrier.block->mbarriers.erase(barrier.offset);
  note_deed();
}

uint64_t fictl_emu_mbarrier_arrive(void* address, uint32_t count, uint32_t bytes, int how) {
  using namespace fictl_emu;
  const void* pc = __builtin_return_address(0);
  Mbarrier& barrier = mbarrier_at(address, "mbarrier.arrive", pc);
  const uint64_t token = state_token(barrier);
  expect(barrier, bytes, pc);
  take_arrivals(barrier, count, pc);
  if ((how & FICTL_EMU_DROP) != 0) barrier.expected -= count;
  check::barrier_arrived(*current(), barrier, how);
  changed(barrier);
  return token;
}

void fictl_emu_mbarrier_expect(void* address, uint32_t bytes) {
  using namespace fictl_emu;
  const void* pc = __builtin_return_address(0);
  Mbarrier& barrier = mbarrier_at(address, "mbarrier.expect_tx", pc);
  expect(barrier, bytes, pc);
  changed(barrier);
}

void fictl_emu_mbarrier_complete(void* address, uint32_t bytes) {
  using namespace fictl_emu;
  const void* pc = __builtin_return_address(0);
  Mbarrier& barrier = mbarrier_at(address, "mbarrier.complete_tx", pc);
  complete_bytes(barrier, bytes, pc);
}

int fictl_emu_mbarrier_wait(void* address, uint64_t which, int how, const char* file, int line) {
  using namespace fictl_emu;
  const void* pc = __builtin_return_address(0);
  Mbarrier& barrier = mbarrier_at(address, "a wait", pc);
  if (barrier.block != current()->block) {
    stop("not-a-barrier", "a wait at mbarrier " + name_of(barrier) + " of another block",
         "a thread waits at barriers of its own block only: others arrive there", pc);
  }
  bool over = is_over(barrier, which, how);
  if (!over && (how & FICTL_EMU_TEST) != 0) {
    Thread& self = *current();
    self.site = {file, line};
    self.operation = "mbarrier.test_wait";
    yield(false);
    return 0;
  }
  const bool at_once = over;
  if (!over) over = sleep_in(barrier, pc);
  if (over) check::barrier_waited(*current(), barrier, how, at_once);
  return over;
}
}
