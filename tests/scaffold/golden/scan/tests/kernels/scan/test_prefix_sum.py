"""What the trace of prefix_sum cannot say: edges of tiles and pieces, NaN, sums in place, places in memory, refusals."""

from __future__ import annotations

import pytest
import torch

from fictl.testing import assert_close
from my_kernels.scan.prefix_sum.op import prefix_sum
from my_kernels.scan.prefix_sum.trace import prefix_sum as trace

DTYPES = (torch.float16, torch.bfloat16, torch.float32)

PIECE = 32 * 1024 // DTYPES[0].itemsize


def _random(rows: int, cols: int, dtype: torch.dtype = DTYPES[0], *, device: str) -> torch.Tensor:
    return torch.randn(rows, cols, device=device).to(dtype)


def _at_pitch(x: torch.Tensor, gap: int) -> torch.Tensor:
    """The same with so many elements between its rows."""
    whole = torch.zeros(*x.shape[:-1], x.shape[-1] + gap, device=x.device).to(x.dtype)
    return whole[..., : x.shape[-1]].copy_(x)


def _misaligned(x: torch.Tensor, offset: int) -> torch.Tensor:
    """The same, so many elements behind an aligned place."""
    memory = torch.zeros(offset + x.numel(), device=x.device).to(x.dtype)
    return memory[offset:].view(x.shape).copy_(x)


def _elsewhere(x: torch.Tensor) -> list[torch.Tensor]:
    """The same, aligned to less than a vector, and with rows apart."""
    return [_misaligned(x, 1), _misaligned(x, 4), _at_pitch(x, 1), _at_pitch(x, 16)]


def _check(result: torch.Tensor, x: torch.Tensor, exclusive: bool) -> None:
    """Against the reference, in fp64."""
    exact = x.double() if x.is_floating_point() else x
    assert_close(result, trace.reference(exact, exclusive), tolerances=trace.tolerances)


@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("cols", [1, 7, 8, 33, 128, 129, 1000, 1024, 1032, 2056])
def test_any_length_of_a_row(cols: int, dtype: torch.dtype, exclusive: bool, device: str) -> None:
    x = _random(5, cols, dtype, device=device)
    _check(prefix_sum(x, exclusive), x, exclusive)


@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("cols", [PIECE, PIECE + 1, 2 * PIECE + 40])
def test_long_rows_in_pieces(cols: int, exclusive: bool, device: str) -> None:
    x = _random(1, cols, device=device)
    _check(prefix_sum(x, exclusive), x, exclusive)


def test_many_rows_give_what_a_few_do_bit_by_bit(device: str) -> None:
    x = _random(1, PIECE + 16, device=device)
    alone = prefix_sum(x, False)
    # So many rows are not spread over the GPU in pieces.
    together = prefix_sum(x.expand(600 if x.is_cuda else 40, -1), False)
    assert torch.equal(together, alone.expand_as(together))


@pytest.mark.parametrize("cols", [100, 5000])
def test_nan_and_infinity_begin_at_their_place(cols: int, device: str) -> None:
    x = torch.ones(3, cols, dtype=DTYPES[0], device=device)
    x[0, 70], x[1, 41], x[1, 90] = torch.nan, torch.inf, -torch.inf
    for exclusive in (False, True):
        result = prefix_sum(x, exclusive)
        assert int(result[0].isfinite().sum()) == 70 + exclusive
        assert int(result[1].isfinite().sum()) == 41 + exclusive
        assert int(result[1].isinf().sum()) == 90 - 41
        assert bool(result[2].isfinite().all())


@pytest.mark.parametrize("cols", [96, 2 * PIECE])
def test_it_may_be_in_place(cols: int, device: str) -> None:
    x = _random(3, cols, device=device)
    expected = prefix_sum(x, True)
    assert prefix_sum(x, True, out=x) is x
    assert torch.equal(x, expected)


@pytest.mark.parametrize("cols", [64, 1600])
def test_rows_at_any_place_and_pitch(cols: int, device: str) -> None:
    x = _random(3, cols, device=device)
    for moved in _elsewhere(x):
        _check(prefix_sum(moved, False), x, False)
    out = _at_pitch(x, 3)
    assert prefix_sum(x, False, out=out) is out
    _check(out, x, False)


@pytest.mark.parametrize(("rows", "cols"), [(0, 16), (4, 0), (0, 0)])
def test_nothing_to_sum_is_no_work(rows: int, cols: int, device: str) -> None:
    for exclusive in (False, True):
        assert prefix_sum(_random(rows, cols, device=device), exclusive).shape == (rows, cols)


def test_rows_that_are_not_contiguous_are_refused(device: str) -> None:
    x = _random(16, 16, device=device).t()
    with pytest.raises(ValueError, match=r"prefix_sum: .*'x'.*\.contiguous\(\)"):
        prefix_sum(x, False)


def test_another_number_of_dimensions_is_refused_by_name(device: str) -> None:
    x = _random(4, 16, device=device)[None]
    with pytest.raises(ValueError, match=r"prefix_sum: .*'x' has shape .*2-dimensional"):
        prefix_sum(x, False)


def test_an_unsupported_dtype_names_the_accepted_ones(device: str) -> None:
    x = _random(4, 16, device=device).to(torch.int16)
    with pytest.raises(TypeError, match=r"prefix_sum: .*'x'.*int16.*float16"):
        prefix_sum(x, False)


def test_another_shape_or_dtype_of_out_is_refused_by_name(device: str) -> None:
    x = _random(4, 16, device=device)
    right = prefix_sum(x, False)
    with pytest.raises(ValueError, match=r"prefix_sum: .*'out' has shape"):
        prefix_sum(x, False, out=torch.cat([right, right], dim=-1))
    with pytest.raises(TypeError, match=r"prefix_sum: .*'out'.*int16"):
        prefix_sum(x, False, out=right.to(torch.int16))


@pytest.mark.needs_gpu
def test_the_current_stream_is_used() -> None:
    x, later = (_random(256, 50000, device="cuda") for _ in range(2))
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        torch.cuda._sleep(50_000_000)
        x.copy_(later)
        result = prefix_sum(x, False)
    stream.synchronize()
    _check(result, later, False)


@pytest.mark.needs_gpu
def test_a_cuda_graph_replays_it() -> None:
    x, later = (_random(4, 50000, device="cuda") for _ in range(2))
    result = prefix_sum(x, False)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        prefix_sum(x, False, out=result)
    x.copy_(later)
    graph.replay()
    torch.cuda.synchronize()
    _check(result, later, False)
