"""gdb itself on the emulated device: one thread of many, over barriers, in the lines of the source."""

from __future__ import annotations

from pathlib import Path

import pytest

from fictl.debug.focus import Focus
from fictl.debug.transcript import Transcript
from fictl.emu.toolchain import current_toolchain


def test_a_thread_is_followed_over_a_barrier_and_another_one_is_chosen(debugging) -> None:
    if current_toolchain() is None:
        pytest.skip("needs a C++ compiler and CUDA's headers")
    lost_threads = debugging("emu", "lost_threads", kernel="Lost", focus=Focus.parse("3", "5"))
    commands = (
        "bt",
        "next",
        "next",
        "next",
        "next",
        "print i",
        "print threadIdx",
        "print tile[63]",
        "break faults.cuh:42 if i < 300",
        "focus thread 39",
        "continue",
        "print i",
        "info breakpoints",
        "focus",
    )
    said = lost_threads.run(commands, 120.0)
    assert [stop.thread for stop in said.stops] == [(5, 0, 0), (39, 0, 0)]
    assert [stop.block for stop in said.stops] == [(3, 0, 0)] * 2
    assert [stop.line for stop in said.stops] == [38, 42]
    assert said.stops[0].kernel == "planted::planted::LostThreadsKernel"
    assert Path(said.stops[0].file).is_file()  # Whoever has built what the cache has.
    lines = said.output.splitlines()
    assert "$1 = 197" in lines
    assert "$2 = {x = 5, y = 0, z = 0}" in lines
    assert "$4 = 231" in lines
    assert "focus: block (3,0,0) thread (39,0,0)" in lines
    # All 64 threads had written when thread 5 was behind the barrier: it had waited for them.
    assert "$3 = -nan" not in said.output
    own_condition = "stop only if (i < 300) && blockIdx.x == 3 && blockIdx.y == 0"
    assert own_condition in said.output
    assert "std::" not in shown_frames(said)


def shown_frames(said: Transcript) -> str:
    return "\n".join(line for line in said.output.splitlines() if line.startswith("#"))
