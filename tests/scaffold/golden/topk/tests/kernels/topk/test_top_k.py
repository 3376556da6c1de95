"""What the trace of top_k cannot say: edges of rows and of k, equal elements, NaN, places in memory, refusals."""

from __future__ import annotations

import pytest
import torch

from my_kernels.topk.top_k.op import top_k
from my_kernels.topk.top_k.trace import top_k as trace

DTYPES = (torch.float16, torch.bfloat16, torch.float32)

Result = tuple[torch.Tensor, torch.Tensor]


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


def _check(result: Result, x: torch.Tensor, k: int) -> None:
    """Against the reference, exactly; NaN is NaN, whichever."""
    for value, expected in zip(result, trace.reference(x, k), strict=True):
        assert bool(((value == expected) | (value.isnan() & expected.isnan())).all())


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("cols", [1, 2, 7, 8, 33, 128, 1000])
def test_rows_that_are_sorted_whole(cols: int, dtype: torch.dtype, device: str) -> None:
    logits = _random(3, cols, dtype, device=device)
    for k in {1, cols // 2 + 1, cols}:
        _check(top_k(logits, k), logits, k)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("cols", [2047, 2048, 2049, 5000, 8192])
def test_rows_at_and_beyond_what_is_sorted(cols: int, dtype: torch.dtype, device: str) -> None:
    logits = _random(2, cols, dtype, device=device)
    _check(top_k(logits, 9), logits, 9)


@pytest.mark.parametrize("k", [1, 2, 31, 257, 2047, 2048])
def test_any_k(k: int, device: str) -> None:
    logits = _random(1, 4104, device=device)
    _check(top_k(logits, k), logits, k)


@pytest.mark.parametrize("cols", [40, 4100])
def test_of_equal_elements_the_first_are_chosen(cols: int, device: str) -> None:
    logits = torch.full((2, cols), -1.5, dtype=DTYPES[0], device=device)
    values, indices = top_k(logits, 20)
    assert bool((values == -1.5).all())
    assert indices.tolist() == [[*range(20)]] * 2
    few = torch.randint(-2, 3, (3, cols), device=device).to(DTYPES[0])
    _check(top_k(few, 37), few, 37)


@pytest.mark.parametrize("cols", [24, 2500])
def test_nan_is_above_infinity_and_minus_infinity_below_all(cols: int, device: str) -> None:
    logits = _random(2, cols, device=device)
    logits[0, 3], logits[0, 5], logits[0, cols - 1] = torch.inf, torch.nan, -torch.nan
    logits[1] = -torch.inf
    logits[1, 7] = -1e4
    _, indices = top_k(logits, 4)
    assert indices[0, :3].tolist() == [5, cols - 1, 3]
    assert indices[1].tolist() == [7, 0, 1, 2]
    _check(top_k(logits, 4), logits, 4)


def test_zeros_of_either_sign_are_equal_and_stay_what_they_are(device: str) -> None:
    logits = torch.tensor([[-0.0, 0.0, -0.0, -1.0]], dtype=DTYPES[0], device=device)
    values, indices = top_k(logits, 3)
    assert indices.tolist() == [[0, 1, 2]]
    assert torch.signbit(values).tolist() == [[True, False, True]]


@pytest.mark.parametrize("cols", [64, 4096])
def test_rows_at_any_place_and_pitch(cols: int, device: str) -> None:
    logits = _random(3, cols, device=device)
    for moved in _elsewhere(logits):
        _check(top_k(moved, 5), logits, 5)


def test_results_go_where_they_are_wanted(device: str) -> None:
    logits = _random(3, 50, device=device)
    values = torch.empty(3, 9, dtype=logits.dtype, device=device)[:, :6]
    indices = torch.empty(3, 8, dtype=torch.int32, device=device)[:, 1:7]
    result = top_k(logits, 6, values=values, indices=indices)
    assert result[0] is values
    assert result[1] is indices
    _check(result, logits, 6)


@pytest.mark.parametrize(("rows", "k"), [(0, 3), (4, 0)])
def test_nothing_to_choose_is_no_work(rows: int, k: int, device: str) -> None:
    values, indices = top_k(_random(rows, 16, device=device), k)
    assert values.shape == indices.shape == (rows, k)


@pytest.mark.parametrize(("cols", "k"), [(8, -1), (8, 9), (0, 1), (4096, 2049)])
def test_another_k_is_refused(cols: int, k: int, device: str) -> None:
    with pytest.raises(ValueError, match=rf"top_k: argument 'k' is {k}"):
        top_k(_random(2, cols, device=device), k)


def test_rows_that_are_not_contiguous_are_refused(device: str) -> None:
    logits = _random(16, 16, device=device).t()
    with pytest.raises(ValueError, match=r"top_k: .*'logits'.*\.contiguous\(\)"):
        top_k(logits, 4)


def test_another_number_of_dimensions_is_refused_by_name(device: str) -> None:
    logits = _random(4, 16, device=device)[None]
    with pytest.raises(ValueError, match=r"top_k: .*'logits' has shape .*2-dimensional"):
        top_k(logits, 4)


def test_an_unsupported_dtype_names_the_accepted_ones(device: str) -> None:
    logits = _random(4, 16, device=device).to(torch.int16)
    with pytest.raises(TypeError, match=r"top_k: .*'logits'.*int16.*float16"):
        top_k(logits, 4)


def test_another_shape_or_dtype_of_values_is_refused_by_name(device: str) -> None:
    logits = _random(4, 16, device=device)
    right = top_k(logits, 4)[0]
    with pytest.raises(ValueError, match=r"top_k: .*'values' has shape"):
        top_k(logits, 4, values=torch.cat([right, right], dim=-1))
    with pytest.raises(TypeError, match=r"top_k: .*'values'.*int16"):
        top_k(logits, 4, values=right.to(torch.int16))


def test_another_shape_or_dtype_of_indices_is_refused_by_name(device: str) -> None:
    logits = _random(4, 16, device=device)
    right = top_k(logits, 4)[1]
    with pytest.raises(ValueError, match=r"top_k: .*'indices' has shape"):
        top_k(logits, 4, indices=torch.cat([right, right], dim=-1))
    with pytest.raises(TypeError, match=r"top_k: .*'indices'.*int16"):
        top_k(logits, 4, indices=right.to(torch.int16))


@pytest.mark.needs_gpu
def test_the_current_stream_is_used() -> None:
    logits, later = (_random(256, 50000, device="cuda") for _ in range(2))
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        torch.cuda._sleep(50_000_000)
        logits.copy_(later)
        result = top_k(logits, 4)
    stream.synchronize()
    _check(result, later, 4)


@pytest.mark.needs_gpu
def test_a_cuda_graph_replays_it() -> None:
    logits, later = (_random(4, 50000, device="cuda") for _ in range(2))
    result = top_k(logits, 4)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        top_k(logits, 4, values=result[0], indices=result[1])
    logits.copy_(later)
    graph.replay()
    torch.cuda.synchronize()
    _check(result, later, 4)
