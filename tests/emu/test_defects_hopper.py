"""Check mode names the mistakes of Hopper kernels, and says nothing of the correct ones."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
import torch

from fictl.emu.device import EmulatedDevice, Watched
from fictl.emu.report import Report
from fictl.emu.schedule import all_schedules

SOURCE = "defects_hopper.cu"


@dataclass(frozen=True)
class Mistake:
    """A mistake by its number in the source, the kinds it may be found as, words of the report."""

    number: int
    name: str
    kinds: tuple[str, ...]
    words: tuple[str, ...]

    def __str__(self) -> str:
        return self.name


def mistake(number: int, name: str, kinds: str, *words: str) -> Mistake:
    return Mistake(number, name, tuple(kinds.split("|")), words)


MISTAKES = [
    mistake(1, "expect_less", "tx-mismatch", r"mbarrier ring_\.full\[\d\]", "tensor 'b'", "whole boxes"),
    mistake(
        2, "no_fence_before_store", "missing-proxy-fence", "behind the write", "shared::cta before"
    ),
    mistake(
        3,
        "no_fence_after_read",
        "missing-proxy-fence-after-read",
        "behind the read",
        "read calls fence.proxy.async.shared::cta",
    ),
    mistake(4, "store_wait_off_by_one", "stage-reused", "cp.async.bulk.wait_group.read", "tensor store"),
    mistake(5, "map_edited", "map-edited", r"a copy of box \{64, 128\} at", "wait for all copies"),
    mistake(
        6,
        "no_wait_for_full",
        "async-read-early",
        r"mbarrier ring_\.full\[\d\]",
        r"tensor load of box \{64, 128\}",
        "the wait for the mbarrier",
    ),
    mistake(7, "consumer_parity", "wrong-phase", r"ring_\.full\[\d\], returned at once", "parity 0"),
    mistake(8, "wait_behind_product", "async-read-early", "the wait for the mbarrier"),
    mistake(9, "register_pool", "register-pool", "232 registers a thread", "setmaxnreg.dec first"),
    mistake(10, "accumulator_touched", "wgmma-register", "an accumulator", "behind the wait"),
    mistake(11, "no_product_fence", "missing-wgmma-fence", "wgmma.fence comes before the first"),
    mistake(12, "release_before_wait", "wgmma-operand|stage-reused", "wgmma.wait_group"),
    mistake(
        13, "no_wait_for_empty", "stage-reused", "nobody has waited for", "has not waited at"
    ),
    mistake(14, "producer_parity", "wrong-phase", r"ring_\.empty\[\d\], returned at once, for a phase"),
    mistake(15, "uncommitted_product", "uncommitted", "no wgmma.commit_group follows"),
    mistake(16, "uncommitted_store", "uncommitted", "no cp.async.bulk.commit_group"),
    mistake(17, "no_wait_for_store", "stage-reused|copy-outlives-block", "cp.async.bulk.wait_group"),
    mistake(18, "barrier_twice", "barrier-mismatch", "named barrier 5 again"),
    mistake(19, "barrier_overwritten", "barrier-overwritten", r"over mbarrier ring_\.full\[1\]"),
    mistake(20, "no_init_fence", "missing-proxy-fence", "fence.mbarrier_init"),
    mistake(21, "load_not_awaited", "copy-outlives-block", r"tensor load of box \{64, 128\}"),
    mistake(22, "one_warp_keeps_stages", "deadlock", r"ring_\.empty\[\d\], parity 0, 1 of 8 arrivals"),
    mistake(23, "no_fence_of_global", "missing-proxy-fence", "tensor 'a'", "proxy.async.global before"),
    mistake(24, "tile_stored_too_early", "race", "the tile is stored before all threads"),
]


@pytest.fixture
def gemm(emulate, device: EmulatedDevice) -> Iterator[Callable[..., tuple[int, torch.Tensor]]]:
    generator = torch.Generator().manual_seed(3)
    given, b = (torch.randn(128, 256, generator=generator).bfloat16() for _ in range(2))
    a, d = torch.zeros(128, 256).bfloat16(), torch.zeros(128, 128).bfloat16()
    room = torch.zeros(384, dtype=torch.uint8)
    maps = room[-room.data_ptr() % 128 :][:256]
    tensors = {"given": given, "a": a, "b": b, "d": d, "maps": maps}
    device.watch([_watched(name, tensor) for name, tensor in tensors.items()])
    error = given.double() @ b.double().T

    def run(number: int, checked: bool = True) -> tuple[int, float]:
        library = emulate(SOURCE, checked=checked)
        d.fill_(float("nan"))
        code = library.gemm(number, *(_pointer(t) for t in (given, a, b, d, maps)), 256)
        return code, (d.double() - error).abs().max().item()

    yield run
    device.watch(())


def _pointer(tensor: torch.Tensor) -> ctypes.c_void_p:
    return ctypes.c_void_p(tensor.data_ptr())


def _watched(name: str, tensor: torch.Tensor) -> Watched:
    writable = name not in ("given", "b")
    shape, strides = tuple(tensor.shape), tuple(tensor.stride())
    return Watched(name, tensor.data_ptr(), tensor.element_size(), shape, strides, writable)


@pytest.mark.parametrize("checked", [False, True], ids=["fast", "check"])
def test_the_correct_kernel_is_right_and_clean(gemm, device, schedule, checked) -> None:
    device.run_under(schedule)
    code, error = gemm(0, checked)
    assert [report.text() for report in device.take_reports()] == []
    assert code == 0
    assert error < 0.5


@pytest.mark.parametrize("mistake", MISTAKES, ids=str)
def test_a_mistake_is_found_and_named(gemm, device, mistake) -> None:
    reports: list[Report] = []
    for schedule in all_schedules():
        device.run_under(schedule)
        gemm(mistake.number)
        reports += device.take_reports()
    text = "\n".join(report.text() + f"\n  {report.facts}" for report in reports)
    assert {report.kind for report in reports} & set(mistake.kinds), text
    found = [report for report in reports if report.kind in mistake.kinds]
    assert any(_says(report, mistake.words) for report in found), text
    assert all(report.at and report.kernel.endswith("GemmKernel") for report in found), text


def _says(report: Report, words: tuple[str, ...]) -> bool:
    text = report.text() + " ".join(map(str, report.facts.values()))
    return all(re.search(word, text) for word in words)
