"""What no GPU defines, and what is not emulated, ends the kernel with its name and its place."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

SOURCE = Path(__file__).parents[1] / "kernels" / "surface_wrong.cu"
WIDTH, LEFT, MASK, TILE, LARGE, CLUSTER, NOT_SHARED, COPY, TRAP = range(9)


def line_of(text: str) -> int:
    return next(n for n, line in enumerate(SOURCE.read_text().splitlines(), 1) if text in line)


@pytest.fixture
def run(emulate, device, address):
    library = emulate("surface_wrong.cu")

    def call(which: int, number: int = 0):
        out = torch.zeros(64, dtype=torch.int32)
        return library.run(which, address(out), number), device.take_reports(), out

    return call


@pytest.mark.parametrize(
    ("which", "number", "kind", "said", "code"),
    [
        (WIDTH, 12, "bad-argument", "width of 12", "odd_width"),
        (WIDTH, 0, "bad-argument", "width of 0", "odd_width"),
        (WIDTH, 64, "bad-argument", "width of 64", "odd_width"),
        (LEFT, 0, "bad-mask", "lanes 16-31: returned", "threadIdx.x + 16)"),
        (MASK, 0, "bad-mask", "0x0000ffff", "__ballot_sync"),
        (TILE, 7, "bad-argument", "tiles of 7", "const auto tile = cg::tiled_partition(cg"),
        (TILE, 0, "bad-argument", "tiles of 0", "const auto tile = cg::tiled_partition(cg"),
        (LARGE, 0, "missing", "reduce() of a tile of 64 threads", "cg::reduce(tile"),
        (CLUSTER, 0, "barrier-mismatch", "has not arrived", "this_cluster().barrier_wait()"),
        (NOT_SHARED, 0, "bad-address", "not to shared memory", "__cvta_generic_to_shared"),
        (COPY, 3, "bad-argument", "of 3 bytes", "__pipeline_memcpy_async(words"),
        (TRAP, 0, "trap", "", "__trap()"),
    ],
)
def test_it_is_reported_where_the_kernel_does_it(run, which, number, kind, said, code) -> None:
    failed, (report, *_), _ = run(which, number)
    assert failed != 0
    assert report.kind == kind
    assert said in report.text()
    assert Path(report.place.file).name == "surface_wrong.cu"
    line = line_of(code) + (1 if which == WIDTH else 0)
    assert report.place.line == line
