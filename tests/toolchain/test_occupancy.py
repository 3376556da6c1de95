"""Blocks on an SM, as NVIDIA's occupancy calculator counts them."""

from __future__ import annotations

import pytest

from fictl.toolchain.occupancy import SmLimits, occupancy

HOPPER = SmLimits(2048, 32, 65536, 233472, 1024)
ADA = SmLimits(1536, 24, 65536, 102400, 1024)


@pytest.mark.parametrize(
    ("threads", "registers", "shared", "blocks", "share", "limits"),
    [
        (256, 32, 0, 8, 1.0, ("threads", "registers")),
        (256, 16, 0, 8, 1.0, ("threads",)),
        (256, 64, 0, 4, 0.5, ("registers",)),
        (128, 168, 0, 3, 12 / 64, ("registers",)),  # 84 registers of 256 a warp: 12 warps
        (256, 33, 0, 6, 0.75, ("registers",)),  # given in pieces: as 40
        (32, 16, 0, 32, 0.5, ("blocks",)),
        (100, 16, 0, 16, 1.0, ("threads",)),  # four warps, the last of them not full
        (256, 32, 100 << 10, 2, 0.25, ("shared memory",)),
        (1024, 32, 227 << 10, 1, 0.5, ("shared memory",)),
        (384, 168, 200 << 10, 1, 12 / 64, ("registers", "shared memory")),
    ],
)
def test_the_scarcest_resource_decides(threads, registers, shared, blocks, share, limits):
    found = occupancy(HOPPER, threads, registers, shared)
    assert (found.blocks, found.share, found.limits) == (blocks, pytest.approx(share), limits)


def test_another_gpu_has_other_limits():
    assert occupancy(ADA, 1024, 32, 0).share == pytest.approx(2 / 3)


def test_what_does_not_fit_at_all_has_no_block():
    assert occupancy(ADA, 256, 32, 200 << 10).blocks == 0
