#include "signals.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <ucontext.h>

#include <algorithm>

#include "fiber.h"
#include "report.h"
#include "scheduler.h"
#include "stuck.h"
#include "system.h"

namespace fictl_emu {

namespace {

constexpr int kFaults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
constexpr size_t kFaultCount = sizeof kFaults / sizeof *kFaults;

int interrupt_signal() { return SIGRTMAX - 5; }

struct RunningWorker {
  pthread_t thread;
  Team* team;
  uint64_t seen;
};

Mutex workers_mutex;  // of what follows
std::vector<RunningWorker> running;
struct sigaction previous[kFaultCount];
struct sigaction previous_interrupt;

char* code_address(void* context) {
  const auto& machine = static_cast<ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return reinterpret_cast<char*>(machine.gregs[REG_RIP]);
#else
  return reinterpret_cast<char*>(machine.pc);
#endif
}

struct Range {
  const char* begin;
  const char* end;
  bool contains(const char* address) const { return begin <= address && address < end; }
};

// The code of the library that has this function in it.
Range code_around(const void* function) {
  struct Search {
    uintptr_t address;
    Range found;
  } search{reinterpret_cast<uintptr_t>(function), {nullptr, nullptr}};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        auto& search = *static_cast<Search*>(data);
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& header = info->dlpi_phdr[i];
          const uintptr_t begin = info->dlpi_addr + header.p_vaddr;
          if (header.p_type != PT_LOAD || search.address - begin >= header.p_memsz) continue;
          search.found = {reinterpret_cast<const char*>(begin),
                          reinterpret_cast<const char*>(begin + header.p_memsz)};
          return 1;
        }
        return 0;
      },
      &search);
  return search.found;
}

// Code of the module whose kernel runs: a thread outside of it may hold a lock of the C library.
// One range for all workers, because they run one launch.
Range module_code{nullptr, nullptr};

void find_module_code(const Launch& launch) {
  static const void* known = nullptr;
  const void* body = reinterpret_cast<const void*>(launch.grids.front().asked.body);
  if (body != known) module_code = code_around(body);
  known = body;
}

__thread bool reporting FICTL_EMU_TLS = false;

const char* kind_of(int signal, const void* address) {
  if (signal == SIGFPE) return "division-by-zero";
  if (signal == SIGILL || signal == SIGTRAP) return "trap";
  if (stacks->in_guard_page(address)) return "stack-overflow";
  return reinterpret_cast<uintptr_t>(address) < (64 << 10) ? "null-pointer" : "bad-address";
}

void hand_on(int signal) {
  for (size_t i = 0; i < kFaultCount; ++i) {
    if (kFaults[i] == signal) sigaction(signal, &previous[i], nullptr);
  }
}

// Returning repeats the instruction, and with it the signal.
void on_fault(int signal, siginfo_t* info, void* context) {
  if (team == nullptr || team->current == nullptr || reporting) {
    hand_on(signal);
    return;
  }
  reporting = true;
  Report report(kind_of(signal, info->si_addr), current());
  report.place(code_address(context) + 1);  // places are return addresses
  report.number("address", static_cast<int64_t>(reinterpret_cast<uintptr_t>(info->si_addr)));
  report.file();
  reporting = false;
  stop_kernel();
}

void on_interrupt(int, siginfo_t*, void* context) {
  if (team == nullptr || team->current == nullptr) return;
  if (!module_code.contains(code_address(context))) return;
  Thread& self = *current();
  if (team->launch->overdue) {
    self.state = State::kReady;
    report_hang(*team, code_address(context));
    stop_kernel();
  }
  self.site = {"", 0};
  self.pc = code_address(context) + 1;
  self.operation = "a loop";
  team->interrupted = true;
  yield(true);
}

void install() {
  struct sigaction action = {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  for (size_t i = 0; i < kFaultCount; ++i) sigaction(kFaults[i], &action, &previous[i]);
  // On the fiber's own stack, which stays as it is while others run.
  action.sa_sigaction = on_interrupt;
  action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART;
  sigaction(interrupt_signal(), &action, &previous_interrupt);
}

void uninstall() {
  for (size_t i = 0; i < kFaultCount; ++i) sigaction(kFaults[i], &previous[i], nullptr);
  sigaction(interrupt_signal(), &previous_interrupt, nullptr);
}

}  // namespace

SignalScope::SignalScope(Team& team, SignalStack& memory, const Launch& launch) {
  stack_t stack = {};
  stack.ss_sp = memory.data();
  stack.ss_size = memory.size();
  sigaltstack(&stack, &previous_stack_);
  const Lock lock(workers_mutex);
  if (running.empty()) {
    find_module_code(launch);
    install();
  }
  running.push_back({pthread_self(), &team, ~uint64_t{0}});
}

SignalScope::~SignalScope() {
  {
    const Lock lock(workers_mutex);
    const pthread_t self = pthread_self();
    running.erase(std::find_if(running.begin(), running.end(), [&](const RunningWorker& worker) {
      return pthread_equal(worker.thread, self);
    }));
    if (running.empty()) uninstall();
  }
  sigaltstack(&previous_stack_, nullptr);
}

void interrupt_stuck_workers() {
  const Lock lock(workers_mutex);
  for (RunningWorker& worker : running) {
    const uint64_t events = worker.team->events.load(std::memory_order_relaxed);
    if (events == worker.seen) pthread_kill(worker.thread, interrupt_signal());
    worker.seen = events;
  }
}

}  // namespace fictl_emu
