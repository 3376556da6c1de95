"""cuda-gdb itself, in a kernel of a -G build."""

from __future__ import annotations

import pytest

from fictl.debug.focus import Focus


@pytest.mark.needs_gpu
@pytest.mark.needs_nvcc
def test_a_thread_is_stopped_where_its_kernel_begins(debugging) -> None:
    session = debugging("cuda", "out_of_bounds", kernel="OutOf", focus=Focus.parse("3", "5"))
    said = session.run(("next", "next", "print i", "print threadIdx.x"), 120.0)
    (stop,) = said.stops
    assert stop.kernel == "planted::planted::OutOfBoundsKernel"
    assert (stop.block, stop.thread, stop.line) == ((3, 0, 0), (5, 0, 0), 15)
    assert "$1 = 197" in said.output
    assert "$2 = 5" in said.output


@pytest.mark.needs_gpu
@pytest.mark.needs_nvcc
def test_a_line_is_stopped_at_in_the_thread_that_reads_too_far(debugging) -> None:
    focus = Focus.parse("15", "40")
    session = debugging("cuda", "out_of_bounds", places=("faults.cuh:17",), focus=focus)
    said = session.run(("print i", "print n"), 120.0)
    assert [(stop.block, stop.thread, stop.line) for stop in said.stops] == [
        ((15, 0, 0), (40, 0, 0), 17)
    ]
    assert "$1 = 1000" in said.output
