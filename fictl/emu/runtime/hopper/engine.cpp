#include "engine.h"

#include "config.h"
#include "report.h"
#include "scheduler.h"

namespace fictl_emu {

namespace {

// Runs the operation as its thread.
void run(Team& team, Operation& operation) {
  Thread* const running = team.current;
  team.current = &operation.thread;
  operation.complete();
  team.current = running;
  note_progress(team);
}

// The configuration decides, as for cp.async, but in random order.
bool is_early() { return config.order != FICTL_EMU_RANDOM && config.early_copies; }

void report_outlived(const Operation& operation) {
  Report report("copy-outlives-block", &operation.thread);
  report.place(operation.pc);
  report.text("what", "the block ends while " + operation.text() + " may still write to it");
  report.text("cause",
              "each copy into shared memory is waited for, at the mbarrier that counts it, before "
              "the block ends");
  report.file();
}

}  // namespace

void Engine::issue(std::unique_ptr<Operation> operation) {
  note_progress(team_);
  ++team_.deeds;
  if (is_early()) {
    run(team_, *operation);
    return;
  }
  operation->poison();
  outstanding_.push_back(std::move(operation));
}

size_t Engine::first_of_sequence(size_t i) const {
  const void* sequence = outstanding_[i]->sequence;
  if (sequence == nullptr) return i;
  size_t first = 0;
  while (outstanding_[first]->sequence != sequence) ++first;
  return first;
}

void Engine::complete(size_t i) {
  // Out of the list first: it may look at the list.
  const std::unique_ptr<Operation> operation = std::move(outstanding_[i]);
  outstanding_.erase(outstanding_.begin() + i);
  run(team_, *operation);
}

bool Engine::complete_one() {
  if (outstanding_.empty()) return false;
  size_t next = 0;
  while (next < outstanding_.size() && !outstanding_[next]->is_awaited()) ++next;
  complete(first_of_sequence(next == outstanding_.size() ? 0 : next));
  return true;
}

void Engine::at_switch() {
  constexpr uint64_t kSwitches = 4;  // for one operation, on average
  if (config.order != FICTL_EMU_RANDOM || random_number(team_) % kSwitches != 0) return;
  complete(first_of_sequence(random_number(team_) % outstanding_.size()));
}

void Engine::block_ends(const Block& block) {
  for (const auto& operation : outstanding_) {
    if (operation->thread.block == &block && operation->writes_to(block)) {
      report_outlived(*operation);
    }
  }
  finish([&](const Operation& operation) { return operation.thread.block == &block; });
}

}  // namespace fictl_emu
