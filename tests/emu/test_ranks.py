"""Several ranks in one process, whose kernels wait for one another."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
import torch

from fictl.emu.device import Watched
from fictl.errors import FictlError

RANKS, N, BLOCKS = 4, 200, 2
NOT_SUPPORTED = 801


def address(tensor: torch.Tensor) -> ctypes.c_void_p:
    return ctypes.c_void_p(tensor.data_ptr())


def table(tensors: list[torch.Tensor]) -> ctypes.Array:
    return (ctypes.c_void_p * len(tensors))(*(tensor.data_ptr() for tensor in tensors))


def watched(name: str, tensor: torch.Tensor) -> Watched:
    size, shape, strides = tensor.element_size(), tuple(tensor.shape), tensor.stride()
    return Watched(name, tensor.data_ptr(), size, shape, strides, True)


@dataclass
class World:
    """Tensors of the ranks: inputs, flags, buffers of the push, outputs."""

    data: list[torch.Tensor]
    flags: list[torch.Tensor]
    buffers: list[torch.Tensor]
    out: list[torch.Tensor]

    def watch(self) -> list[Watched]:
        names = ("data", "flags", "buffers", "out")
        return [watched(f"{n}{r}", t) for n in names for r, t in enumerate(getattr(self, n))]


@pytest.fixture
def world() -> World:
    generator = torch.Generator().manual_seed(3)
    return World(
        [torch.randn(N, generator=generator) for _ in range(RANKS)],
        [torch.zeros(2 * 8 * RANKS, dtype=torch.int32) for _ in range(RANKS)],
        [torch.full((RANKS * N,), -0.0) for _ in range(RANKS)],
        [torch.full((N,), torch.nan) for _ in range(RANKS)],
    )


@pytest.fixture(params=[False, True], ids=["fast", "check"])
def library(request, emulate, device, schedule, world) -> Iterator[ctypes.CDLL]:
    library = emulate("ranks.cu", checked=request.param)
    device.watch(world.watch())
    device.run_under(schedule)
    yield library
    assert [report.text() for report in device.take_reports()] == []


def flags_of(library, world: World, scale: float = 1.0, blocks: list[int] | None = None):
    """Return the call of each rank."""

    def call(rank: int) -> Callable[[], int]:
        grid = (blocks or [BLOCKS] * RANKS)[rank]
        factor = ctypes.c_float(scale)
        tables = table(world.data), table(world.flags)
        out = address(world.out[rank])
        return lambda: library.flag_all_reduce(rank, RANKS, grid, factor, *tables, out, N)

    return [call(rank) for rank in range(RANKS)]


def together(device, calls) -> None:
    with device.ranks() as ranks:
        for rank, call in enumerate(calls):
            ranks.next(rank)
            assert call() == 0


def test_an_all_reduce_with_flags(library, device, world) -> None:
    expected = torch.stack(world.data).sum(0)
    together(device, flags_of(library, world))
    assert all(torch.equal(out, world.out[0]) for out in world.out)
    torch.testing.assert_close(world.out[0], expected)


def test_launches_of_one_rank_run_in_their_order(library, device, world) -> None:
    expected = 2 * torch.stack(world.data).sum(0)
    together(device, flags_of(library, world, scale=2.0))
    torch.testing.assert_close(world.out[RANKS - 1], expected)


def test_an_all_reduce_by_push(library, device, world) -> None:
    expected = torch.stack(world.data).sum(0)

    def call(rank: int) -> Callable[[], int]:
        mine, out = address(world.data[rank]), address(world.out[rank])
        return lambda: library.push_all_reduce(rank, RANKS, table(world.buffers), mine, out, N)

    together(device, [call(rank) for rank in range(RANKS)])
    for out in world.out:
        torch.testing.assert_close(out, expected)


def test_peers_see_one_memory_and_each_rank_its_number(library, device) -> None:
    found = (ctypes.c_int * 3)()
    with device.ranks() as ranks:
        ranks.next(2)
        assert library.peer_access(found) == 0
    assert list(found) == [1, 1, 2]


def test_uneven_grids_hang_and_the_report_names_the_ranks(emulate, device, world) -> None:
    library = emulate("ranks.cu")
    together(device, flags_of(library, world, blocks=[2, 2, 1, 2]))
    (report,) = device.take_reports()
    assert report.kind == "hang"
    assert "rank 0 has launched 2 blocks, rank 2 has launched 1 blocks" in report.cause
    assert f"rank {report.facts['rank']}" in report.text()


def test_a_race_between_ranks_has_the_lines_of_both(emulate, device, world) -> None:
    library = emulate("ranks.cu", checked=True)
    device.watch(world.watch())
    calls = [
        lambda r=r: library.hasty_sum(r, RANKS, table(world.data), address(world.out[r]), N)
        for r in range(RANKS)
    ]
    together(device, calls)
    reports = device.take_reports()
    assert {report.kind for report in reports} == {"race"}
    for report in reports:
        here = report.facts["rank"]
        assert report.other.what in {
            f"{did} of rank {r}" for did in ("read", "write") for r in range(RANKS) if r != here
        }
        assert {report.place.line, report.other.place.line} == {110, 111}
        assert report.cause.startswith("nothing orders ranks but flags")


@pytest.mark.parametrize(
    ("what", "name"), [(0, "cudaDeviceSynchronize"), (1, "cudaMemcpy"), (2, "cudaMemsetAsync")]
)
def test_the_host_must_not_wait_for_a_kernel_that_is_kept(emulate, device, what, name) -> None:
    data = torch.ones(2)
    library = emulate("ranks.cu")
    with device.ranks() as ranks:
        ranks.next(1)
        assert library.behind_a_launch(what, address(data)) == NOT_SUPPORTED
    (report,) = device.take_reports()
    assert f"{name}() behind a launch" in report.what
    assert report.facts["rank"] == 1


def test_an_error_throws_the_launches_away(emulate, device) -> None:
    data = torch.ones(2)
    library = emulate("ranks.cu")
    with pytest.raises(ZeroDivisionError), device.ranks():
        library.first(address(data), address(data), 2)
        raise ZeroDivisionError
    assert library.first(address(data), address(data), 2) == 0
    assert device.take_reports() == []


def test_ranks_within_ranks_are_refused(device) -> None:
    with device.ranks(), pytest.raises(FictlError, match="already"), device.ranks():
        pass


def test_a_single_launch_that_is_kept_reads_its_arguments(emulate, device) -> None:
    """They are copied to memory of the process: that is not out of the bounds of a tensor."""
    x, y = torch.ones(64), torch.zeros(64)
    library = emulate("ranks.cu", checked=True)
    device.watch([watched("x", x), watched("y", y)])
    with device.ranks() as ranks:
        ranks.next(0)
        assert library.first(address(x), address(y), 64) == 0
    assert device.take_reports() == []
    assert torch.equal(x, y)
