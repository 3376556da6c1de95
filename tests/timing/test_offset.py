"""What a CUDA graph adds to the time of a kernel."""

from __future__ import annotations

import pytest

from fictl.timing.offset import graph_offset


def test_it_is_the_gap_between_two_kernels(cupti):
    offset = graph_offset()
    assert (offset.cupti, offset.seconds) == pytest.approx((1e-6, 0.1e-6))


@pytest.mark.needs_gpu
def test_on_a_gpu_it_is_some_microseconds_at_most():
    pytest.importorskip("cupti")
    assert abs(graph_offset().seconds) < 5e-6
