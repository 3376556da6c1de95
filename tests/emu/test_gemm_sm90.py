"""The shipped GEMM for Hopper on the emulated device: right, clean in check mode, and fast enough."""

from __future__ import annotations

import ctypes
import time

import pytest
import torch

from fictl.emu.device import EmulatedDevice, Watched
from fictl.emu.schedule import Schedule

SOURCE = "gemm_sm90.cu"
# Which tile, m, n, k, SMs: 2 x 2 tiles and more, the last ones not full.
CASES = {
    "cooperative": (0, 200, 96, 168, 3),
    "ping-pong": (1, 120, 104, 168, 1),
    "cluster": (2, 256, 120, 168, 2),
    "divided": (3, 24, 256, 576, 3),
}


def _watched(name: str, tensor: torch.Tensor, writable: bool) -> Watched:
    shape, strides = tuple(tensor.shape), tuple(tensor.stride())
    return Watched(name, tensor.data_ptr(), tensor.element_size(), shape, strides, writable)


def multiply(library: ctypes.CDLL, device: EmulatedDevice, which, m, n, k, sm_count) -> float:
    """Run one product; return the greatest error."""
    generator = torch.Generator().manual_seed(m)
    a, b = (torch.randn(rows, k, generator=generator).bfloat16() for rows in (m, n))
    d = torch.full((m, n), torch.nan).bfloat16()
    workspace = torch.zeros(1 << 20, dtype=torch.uint8)
    tensors = {"a": a, "b": b, "d": d, "workspace": workspace}
    device.watch([_watched(x, t, x in ("d", "workspace")) for x, t in tensors.items()])
    pointers = (ctypes.c_void_p(t.data_ptr()) for t in tensors.values())
    size = ctypes.c_int64(workspace.numel())
    assert library.dense(which, *pointers, size, m, n, k, sm_count) == 0
    device.watch(())
    return ((d.double() - a.double() @ b.double().T).abs() / k**0.5).max().item()


@pytest.mark.parametrize("checked", [False, True], ids=["fast", "check"])
@pytest.mark.parametrize("case", CASES)
def test_it_multiplies_and_is_clean(emulate, device, schedule, case, checked) -> None:
    library = emulate(SOURCE, checked=checked)
    device.run_under(schedule)
    error = multiply(library, device, *CASES[case])
    assert [report.text() for report in device.take_reports()] == []
    assert error < 0.02


def test_a_tile_of_128_x_256_takes_less_than_a_second(emulate, device, schedule) -> None:
    library = emulate(SOURCE)
    device.run_under(schedule, threads=1)
    begin = time.process_time()
    assert multiply(library, device, 4, 128, 256, 256, 1) < 0.02
    assert time.process_time() - begin < 1
