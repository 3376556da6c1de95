"""What the trace of histogram cannot say: edges of rows and bins, equal elements, NaN, places in memory, refusals."""

from __future__ import annotations

import pytest
import torch

from my_kernels.histogram.histogram.op import histogram
from my_kernels.histogram.histogram.trace import histogram as trace

DTYPES = (torch.float16, torch.bfloat16, torch.float32)


def _random(rows: int, cols: int, dtype: torch.dtype = DTYPES[0], *, device: str) -> torch.Tensor:
    """Normal numbers, so that some are outside of -2 to 2."""
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


def _check(result: torch.Tensor, x: torch.Tensor, bins: int, low: float, high: float) -> None:
    assert torch.equal(result, trace.reference(x, bins, low, high))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("cols", [1, 7, 8, 129, 1000, 1024, 9000, 20_001])
def test_any_length_of_a_row(cols: int, dtype: torch.dtype, device: str) -> None:
    x = _random(3, cols, dtype, device=device)
    _check(histogram(x, 10, -2.0, 2.0), x, 10, -2.0, 2.0)


@pytest.mark.parametrize("bins", [1, 2, 33, 1000, 1025, 8192, 8193])
@pytest.mark.parametrize("rows", [1, 40])
def test_any_number_of_bins(rows: int, bins: int, device: str) -> None:
    x = _random(rows, 264, device=device)
    _check(histogram(x, bins, -2.0, 2.0), x, bins, -2.0, 2.0)


def test_a_whole_tensor_is_one_row(device: str) -> None:
    x = _random(16, 4096, device=device).view(1, -1)
    counts = histogram(x, 5, -9.0, 9.0)
    assert int(counts.sum()) == x.numel()
    _check(counts, x, 5, -9.0, 9.0)


@pytest.mark.parametrize("cols", [8, 5001])
def test_equal_elements_are_counted_together(cols: int, device: str) -> None:
    x = torch.ones(2, cols, dtype=DTYPES[0], device=device)
    assert histogram(x, 4, 0.0, 4.0).tolist() == [[0, cols, 0, 0]] * 2


def test_both_ends_are_counted_and_what_is_outside_is_not(device: str) -> None:
    x = torch.tensor([[-1.0, 0.0, 1.0, 3.0, 4.0, 5.0]], device=device).to(DTYPES[0])
    assert histogram(x, 4, 0.0, 4.0).tolist() == [[1, 1, 0, 2]]


def test_indices_are_counted_each(device: str) -> None:
    x = torch.randint(0, 60, (3, 500), device=device)
    expected = torch.stack([torch.bincount(row, minlength=60) for row in x])
    assert torch.equal(histogram(x.to(DTYPES[0]), 60, 0, 59), expected)


def test_nan_and_infinities_are_not_counted(device: str) -> None:
    x = torch.tensor([[torch.nan, torch.inf, 0.5, -torch.inf]], device=device).to(DTYPES[0])
    assert histogram(x, 3, 0.0, 1.0).tolist() == [[0, 1, 0]]


@pytest.mark.parametrize("cols", [64, 1600])
def test_rows_at_any_place_and_pitch(cols: int, device: str) -> None:
    x = _random(3, cols, device=device)
    for moved in _elsewhere(x):
        _check(histogram(moved, 9, -2.0, 2.0), x, 9, -2.0, 2.0)


@pytest.mark.parametrize("bins", [6, 9000])
def test_counts_do_not_add_to_what_was_there(bins: int, device: str) -> None:
    x = _random(2, 9000, device=device)
    counts = torch.full((2, bins), 7, dtype=torch.int32, device=device)
    assert histogram(x, bins, -2.0, 2.0, counts=counts) is counts
    _check(counts, x, bins, -2.0, 2.0)


@pytest.mark.parametrize(("rows", "cols"), [(0, 16), (4, 0)])
def test_nothing_to_count_counts_nothing(rows: int, cols: int, device: str) -> None:
    counts = histogram(_random(rows, cols, device=device), 5, 0.0, 1.0)
    assert counts.tolist() == [[0] * 5] * rows


@pytest.mark.parametrize("bins", [-1, 0, (1 << 24) + 1])
def test_no_bins_or_too_many_are_refused(bins: int, device: str) -> None:
    x = _random(1, 8, device=device)
    counts = torch.empty(1, 8, dtype=torch.int32, device=device)
    with pytest.raises(ValueError, match=rf"histogram: argument 'bins' is {bins}"):
        histogram(x, bins, 0.0, 1.0, counts=counts)


@pytest.mark.parametrize(
    ("low", "high"), [(1.0, 1.0), (2.0, 1.0), (0.0, torch.nan), (0.0, torch.inf), (1.0, 1.0 + 1e-9)]
)
def test_ends_without_a_width_are_refused(low: float, high: float, device: str) -> None:
    with pytest.raises(ValueError, match=r"histogram: argument 'high' is .*high is above low"):
        histogram(_random(1, 8, device=device), 4, low, high)


def test_counts_that_are_not_contiguous_are_refused(device: str) -> None:
    counts = torch.empty(2, 8, dtype=torch.int32, device=device)[:, :4]
    with pytest.raises(ValueError, match=r"histogram: argument 'counts' is not contiguous"):
        histogram(_random(2, 8, device=device), 4, 0.0, 1.0, counts=counts)


def test_rows_that_are_not_contiguous_are_refused(device: str) -> None:
    x = _random(16, 16, device=device).t()
    with pytest.raises(ValueError, match=r"histogram: .*'x'.*\.contiguous\(\)"):
        histogram(x, 4, -2.0, 2.0)


def test_another_number_of_dimensions_is_refused_by_name(device: str) -> None:
    x = _random(4, 16, device=device)[None]
    with pytest.raises(ValueError, match=r"histogram: .*'x' has shape .*2-dimensional"):
        histogram(x, 4, -2.0, 2.0)


def test_an_unsupported_dtype_names_the_accepted_ones(device: str) -> None:
    x = _random(4, 16, device=device).to(torch.int16)
    with pytest.raises(TypeError, match=r"histogram: .*'x'.*int16.*float16"):
        histogram(x, 4, -2.0, 2.0)


def test_another_shape_or_dtype_of_counts_is_refused_by_name(device: str) -> None:
    x = _random(4, 16, device=device)
    right = histogram(x, 4, -2.0, 2.0)
    with pytest.raises(ValueError, match=r"histogram: .*'counts' has shape"):
        histogram(x, 4, -2.0, 2.0, counts=torch.cat([right, right], dim=-1))
    with pytest.raises(TypeError, match=r"histogram: .*'counts'.*int16"):
        histogram(x, 4, -2.0, 2.0, counts=right.to(torch.int16))


@pytest.mark.needs_gpu
def test_the_current_stream_is_used() -> None:
    x, later = (_random(256, 50000, device="cuda") for _ in range(2))
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        torch.cuda._sleep(50_000_000)
        x.copy_(later)
        result = histogram(x, 4, -2.0, 2.0)
    stream.synchronize()
    _check(result, later, 4, -2.0, 2.0)


@pytest.mark.needs_gpu
def test_a_cuda_graph_replays_it() -> None:
    x, later = (_random(4, 50000, device="cuda") for _ in range(2))
    result = histogram(x, 4, -2.0, 2.0)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        histogram(x, 4, -2.0, 2.0, counts=result)
    x.copy_(later)
    graph.replay()
    torch.cuda.synchronize()
    _check(result, later, 4, -2.0, 2.0)
