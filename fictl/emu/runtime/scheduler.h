// Which thread of a team runs next. There is no preemption but by signals.cpp: a thread runs until
// it waits, ends or yields.
#pragma once

#include "state.h"

namespace fictl_emu {

// Fiber stacks: each thread of the operating system has its own, kept from launch to launch.
class Stacks;
extern __thread Stacks* stacks FICTL_EMU_TLS;

// Runs all threads of the team to their ends; false if the kernel was stopped.
bool run(Team& team);

// The running thread waits: its state says for what. Returns when it is ready again.
void wait(State state);

inline void make_ready(Thread& thread) {
  thread.state = State::kReady;
  team->ready.push(&thread);
}

// The schedule's own: the same seed gives the same order.
uint64_t random_number(Team& team);

// Puts the running thread behind all others.
void yield(bool progress);

// Something happened that is not spinning.
inline void note_progress(Team& team) { team.fruitless = 0; }

}  // namespace fictl_emu
