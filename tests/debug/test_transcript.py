"""What debuggers print, without their noise: where they stopped, and how the program ended."""

from __future__ import annotations

from pathlib import Path

import pytest

from fictl.debug.transcript import DebugStop, Transcript
from fictl.process import Finished

RECORDED = Path(__file__).parent / "recorded"

EMULATED = """\
fictl: calling lost_threads-1000-float32

Thread 1 "python" hit Breakpoint 5, planted::LostThreadsKernel<4> (out=0x5, n=1000) at a/faults.cuh:38
38	  __shared__ float tile[kThreads];
[emulated: block (3,0,0), thread (5,0,0)]
39	  const int64_t i = blockIdx.x * kThreads + threadIdx.x;
[emulated: block (3,0,0), thread (5,0,0)]

Thread 1 "python" received signal SIGSEGV, Segmentation fault.
0x00007fff in planted::Wild (out=0x0) at a/wild.cuh:7
7	  *out = 1;
[emulated: block (4,0,0), thread (0,1,0)]
"""


def transcript(text: str) -> Transcript:
    return Transcript.of(Finished(("gdb",), 0, text, 1.0))


def test_a_breakpoint_of_cuda_gdb_has_kernel_thread_and_line() -> None:
    """cuda-gdb 13.0."""
    said = transcript((RECORDED / "cuda_gdb_breakpoint.txt").read_text(encoding="utf-8"))
    place = "project/kernels/include/planted/planted/faults.cuh"
    kernel = "planted::planted::OutOfBoundsKernel"
    assert said.stops == (DebugStop(kernel, "", (0, 0, 0), (0, 0, 0), place, 15),)
    assert (said.fault, said.ended, said.exit_code) == (None, "", 0)


def test_an_exception_of_cuda_gdb_is_at_the_access_not_where_the_warp_has_come_to() -> None:
    """cuda-gdb 13.0."""
    said = transcript((RECORDED / "cuda_gdb_fault.txt").read_text(encoding="utf-8"))
    place = "project/kernels/include/stray/elementwise/shift.cuh"
    exception = "CUDA_EXCEPTION_14, Warp Illegal Address"
    kernel = "stray::elementwise::ShiftKernel"
    assert said.fault == DebugStop(kernel, exception, (0, 0, 0), (0, 0, 0), place, 11)
    assert said.exit_code == 1


def test_the_noise_of_a_program_that_starts_is_left_out() -> None:
    said = transcript((RECORDED / "cuda_gdb_breakpoint.txt").read_text(encoding="utf-8"))
    lines = said.output.splitlines()
    assert lines[0].startswith("[Switching focus to CUDA kernel 0")
    assert lines[-1] == "$2 = 197"


def test_stops_of_the_emulated_device_have_the_thread_that_is_said_behind_them() -> None:
    said = transcript(EMULATED)
    assert said.stops == (
        DebugStop("planted::LostThreadsKernel<4>", "", (3, 0, 0), (5, 0, 0), "a/faults.cuh", 38),
        DebugStop(
            "planted::Wild", "SIGSEGV, Segmentation fault", (4, 0, 0), (0, 1, 0), "a/wild.cuh", 7
        ),
    )
    assert said.fault is said.stops[1]
    assert said.exit_code == 1


ASSERT = """\
Thread 1 "python" hit Breakpoint 2, fictl_emu_stop () at a/emu/runtime/report.cpp:152
152	void fictl_emu_stop(const char* kind, const char* what, const char* file, int line) {
[emulated: block (0,0,0), thread (3,0,0)]
#2  0x00007fffdf3ac32e in my::OpKernel<__half, 8> (out=0x5, n=128) at my_op.cuh:52
52	  assert(at != 24);
"""


def test_a_kernel_that_ends_itself_is_a_fault_at_its_own_line() -> None:
    fault = DebugStop(
        "my::OpKernel<__half, 8>", "the kernel ends itself", (0, 0, 0), (3, 0, 0), "my_op.cuh", 52
    )
    assert transcript(ASSERT).fault == fault


@pytest.mark.parametrize("how", ["normally", "with code 01"])
def test_a_program_that_nothing_stopped_is_a_failure(how: str) -> None:
    said = transcript(f"its own words\n[Inferior 1 (process 12) exited {how}]\nNo stack.\n")
    assert (said.stops, said.ended, said.exit_code) == ((), how, 1)
