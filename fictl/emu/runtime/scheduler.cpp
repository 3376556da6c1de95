#include "scheduler.h"

#include <sched.h>

#include <utility>

#include "checker.h"
#include "config.h"
#include "fiber.h"
#include "hopper/bulk.h"
#include "hopper/engine.h"
#include "hopper/mbarrier.h"
#include "hopper/warpgroup.h"
#include "report.h"
#include "stuck.h"
#include "system.h"
#include "team.h"
#include "wait.h"

namespace fictl_emu {

__thread Team* team FICTL_EMU_TLS = nullptr;
__thread Stacks* stacks FICTL_EMU_TLS = nullptr;

uint64_t random_number(Team& t) {
  t.random ^= t.random << 13;
  t.random ^= t.random >> 7;
  t.random ^= t.random << 17;
  return t.random;
}

namespace {

void show_grid(const Grid& grid) {
  if (team->shown_grid == &grid) return;
  team->shown_grid = &grid;
  blockDim = grid.asked.block;
  gridDim = grid.asked.grid;
}

void make_current(Thread& thread) {
  team->current = &thread;
  thread.state = State::kRunning;
  threadIdx = thread.index;
  if (team->shown != thread.block) {
    team->shown = thread.block;
    blockIdx = thread.block->index;
    show_grid(*thread.block->grid);
  }
  fictl_emu_registers = {thread.lane, thread.warp};
}

Thread* pop_ready(Team& t) {
  if (t.ready.empty()) return nullptr;
  if (config.order == FICTL_EMU_FORWARD) return t.ready.pop_front();
  if (config.order == FICTL_EMU_RANDOM) {
    std::swap(t.ready[random_number(t) % t.ready.size()], t.ready[t.ready.size() - 1]);
  }
  return t.ready.pop_back();
}

Thread* pop_fresh(Team& t) { return t.fresh.empty() ? nullptr : t.fresh.pop_front(); }

// All that can run has been round once and only spins: either another block must run for it, or
// another thread of the operating system, or it is a hang.
void between_spins(Team& t) {
  // Why at once: a loop without a call may wait for a block that has not begun.
  if (t.interrupted) {
    t.interrupted = false;
    if (add_cluster(t)) return;
  }
  if (t.fruitless <= t.alive) {
    t.spinning_since = own_ms();
    return;
  }
  if (t.engine->complete_one() || give_up_waiting(t) || add_cluster(t)) return;
  sched_yield();
  // Why its own time: on a busy machine, who it waits for may not have run either.
  if (own_ms() - t.spinning_since > config.patience_ms) {
    report_hang(t, nullptr);
    t.launch->stopped = true;
  }
}

// The next thread to run; null when all that live wait for one another, or none lives.
Thread* pick(Team& t) {
  t.events.store(t.events.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  if (t.launch->overdue) {
    report_hang(t, nullptr);
    t.launch->stopped = true;
    return nullptr;
  }
  if (!t.engine->empty()) t.engine->at_switch();
  const bool fresh_first = config.order == FICTL_EMU_RANDOM && random_number(t) & 1;
  for (;;) {
    Thread* next = fresh_first ? pop_fresh(t) : nullptr;
    if (next == nullptr) next = pop_ready(t);
    if (next == nullptr) next = pop_fresh(t);
    if (next != nullptr) return next;
    if (!t.asking.empty()) {
      answer_activemask(t);
    } else if (!t.yielded.empty()) {
      between_spins(t);
      if (t.launch->stopped) return nullptr;
      if (t.fresh.empty() && t.ready.empty()) return t.yielded.pop_front();
    } else if (!t.engine->complete_one() && !give_up_waiting(t)) {
      return nullptr;
    }
  }
}

void thread_main();

void begin_stack(Thread& thread, char* stack) {
  thread.stack = stack;
  thread.stack_pointer = stacks->start(stack, thread_main);
}

// Leaves the running thread for `next`; where there is none, for the team's own stack.
void leave_for(Thread* next, void** save) {
  if (next == nullptr) {
    fictl_emu_switch(save, team->main_stack_pointer);
    return;
  }
  if (next->state == State::kNew) begin_stack(*next, stacks->take());
  make_current(*next);
  fictl_emu_switch(save, next->stack_pointer);
}

void thread_ends(Thread& thread) {
  Block& block = *thread.block;
  thread.state = State::kDone;
  note_progress(*team);
  --team->alive;
  --block.alive;
  block.warps[thread.warp].alive &= ~(uint32_t{1} << thread.lane);
  barriers_after_exit(thread);
  warps_after_exit(thread);
  warpgroup_after_exit(thread);
  grid_after_exit(thread);
  cluster_after_exit(thread);
  bulk_after_exit(thread);
  if (block.alive == 0) {
    team->engine->block_ends(block);
    mbarriers_after_block(block);
    check::block_ends(block);
    --block.grid->blocks_left;
  }
}

Thread* pick_or_deadlock() {
  Thread* next = team->launch->stopped ? nullptr : pick(*team);
  if (next == nullptr && team->alive != 0 && !team->launch->stopped) {
    report_deadlock(*team);
    team->launch->stopped = true;
  }
  return next;
}

// Runs one thread after another on this stack while they do not wait: a kernel without barriers
// is a plain loop.
void thread_main() {
  for (;;) {
    Thread* thread = team->current;
    const FictlEmuLaunch& asked = thread->block->grid->asked;
    asked.body(asked.arguments);
    thread = team->current;
    thread_ends(*thread);
    Thread* next = pick_or_deadlock();
    char* stack = thread->stack;
    if (next != nullptr && next->state == State::kNew) {
      next->stack = stack;
      make_current(*next);
      continue;
    }
    stacks->give_back(stack);
    void* nowhere;
    leave_for(next, &nowhere);
  }
}

}  // namespace

bool run(Team& t) {
  team = &t;
  leave_for(pick(t), &t.main_stack_pointer);
  t.current = nullptr;
  team = nullptr;
  return !t.launch->stopped;
}

void wait(State state) {
  Thread* self = team->current;
  self->state = state;
  Thread* next = pick_or_deadlock();
  if (next == self) {
    make_current(*self);
    return;
  }
  leave_for(next, &self->stack_pointer);
}

void yield(bool progress) {
  Thread* self = team->current;
  team->fruitless = progress ? 0 : team->fruitless + 1;
  team->yielded.push(self);
  wait(State::kYielded);
}

void stop_kernel() {
  team->launch->stopped = true;
  void* nowhere;
  leave_for(nullptr, &nowhere);
  __builtin_unreachable();
}

}  // namespace fictl_emu

extern "C" {

void fictl_emu_yield(int progress, const char* file, int line) {
  if (fictl_emu::team == nullptr) return;
  fictl_emu::current()->site = {file, line};
  fictl_emu::current()->operation = "a loop that waits for memory to change";
  fictl_emu::yield(progress != 0);
}

void fictl_emu_exit_thread() {
  using namespace fictl_emu;
  Thread* thread = team->current;
  thread_ends(*thread);
  Thread* next = pick_or_deadlock();
  // Why the stack is not given back: this function still stands on it, and `next` may take it.
  void* nowhere;
  leave_for(next, &nowhere);
  __builtin_unreachable();
}
}
