"""What the trace of quantize_rows cannot say: edges of groups, what comes back, NaN, places in memory, refusals."""

from __future__ import annotations

import pytest
import torch

from fictl.testing import assert_close
from my_kernels.quantize.quantize_rows.op import quantize_rows
from my_kernels.quantize.quantize_rows.trace import quantize_rows as trace

DTYPES = (torch.float16, torch.bfloat16, torch.float32)

LARGEST = 448.0
STEP = 1 / 16  # half of the last place, relative
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


def _check(result: Result, x: torch.Tensor, group_size: int) -> None:
    """Against the reference, in fp64."""
    expected = trace.reference(x.double(), group_size)
    for value, exact, name in zip(result, expected, trace.outputs, strict=True):
        assert_close(value, exact, name, trace.tolerances)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("group_size", [1, 2, 7, 8, 32, 100, 128, 255, 264, 1000])
def test_any_length_of_a_group(group_size: int, dtype: torch.dtype, device: str) -> None:
    x = _random(3, 2 * group_size, dtype, device=device)
    _check(quantize_rows(x, group_size), x, group_size)


@pytest.mark.parametrize("cols", [4097, 8192, 8200, 20_001])
def test_rows_at_and_beyond_what_a_block_holds(cols: int, device: str) -> None:
    for dtype in (DTYPES[0], DTYPES[-1]):
        x = _random(1, cols, dtype, device=device)
        _check(quantize_rows(x, cols), x, cols)


@pytest.mark.parametrize("rows", [1, 15, 16, 17])
def test_any_number_of_rows(rows: int, device: str) -> None:
    x = _random(rows, 384, device=device)
    _check(quantize_rows(x, 128), x, 128)


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e4])
def test_what_is_scaled_back_is_near(size: float, device: str) -> None:
    x = (_random(4, 256, device=device).float() * size).to(DTYPES[0])
    q, scales = quantize_rows(x, 64)
    factors = scales.repeat_interleave(64, dim=1)
    largest = factors * LARGEST
    wrong = (q.float() * factors - x.float()).abs()
    assert bool((wrong <= 1.01 * STEP * x.float().abs() + 1e-5 * largest).all())


def test_the_largest_of_a_group_is_the_largest_number(device: str) -> None:
    q, _ = quantize_rows(_random(5, 96, device=device), 32)
    most = q.float().abs().view(5, 3, 32).amax(-1)
    assert bool((most == LARGEST).all())


def test_zeros_stay_zeros(device: str) -> None:
    q, scales = quantize_rows(torch.zeros(3, 64, dtype=DTYPES[0], device=device), 16)
    assert not bool(q.float().any())
    assert bool((scales > 0).all())


def test_nan_and_infinity_spoil_their_group_alone(device: str) -> None:
    x = _random(1, 96, device=device)
    x[0, 3], x[0, 40] = torch.nan, -torch.inf
    q, scales = quantize_rows(x, 32)
    assert bool(scales[0, 0].isnan())
    assert bool(scales[0, 1].isinf())
    back = q.float() * scales.repeat_interleave(32, dim=1)
    assert bool(back[:, :32].isnan().all())
    assert bool(back[0, 40].isnan())
    assert bool(back[:, 64:].isfinite().all())
    _check((q, scales), x, 32)


@pytest.mark.parametrize("group_size", [128, 1600])
def test_rows_at_any_place_and_pitch(group_size: int, device: str) -> None:
    x = _random(3, 1600 if group_size == 1600 else 256, device=device)
    for moved in _elsewhere(x):
        _check(quantize_rows(moved, group_size), x, group_size)


def test_results_go_where_they_are_wanted(device: str) -> None:
    x = _random(3, 256, device=device)
    whole = torch.zeros(3, 300, device=device).to(torch.float8_e4m3fn)
    for start in (0, 1):
        q = whole[:, start : start + 256]
        result = quantize_rows(x, 64, q=q)
        assert result[0] is q
        _check(result, x, 64)


@pytest.mark.parametrize(("rows", "cols"), [(0, 16), (4, 0)])
def test_nothing_to_quantize_is_no_work(rows: int, cols: int, device: str) -> None:
    q, scales = quantize_rows(_random(rows, cols, device=device), 8)
    assert q.shape == (rows, cols)
    assert scales.shape == (rows, cols // 8)


@pytest.mark.parametrize("group_size", [-8, 0, 3, 32])
def test_groups_that_do_not_make_a_row_are_refused(group_size: int, device: str) -> None:
    with pytest.raises(ValueError, match=rf"quantize_rows: argument 'group_size' is {group_size}"):
        quantize_rows(_random(2, 16, device=device), group_size)


def test_rows_that_are_not_contiguous_are_refused(device: str) -> None:
    x = _random(16, 16, device=device).t()
    with pytest.raises(ValueError, match=r"quantize_rows: .*'x'.*\.contiguous\(\)"):
        quantize_rows(x, 8)


def test_another_number_of_dimensions_is_refused_by_name(device: str) -> None:
    x = _random(4, 16, device=device)[None]
    with pytest.raises(ValueError, match=r"quantize_rows: .*'x' has shape .*2-dimensional"):
        quantize_rows(x, 8)


def test_an_unsupported_dtype_names_the_accepted_ones(device: str) -> None:
    x = _random(4, 16, device=device).to(torch.int16)
    with pytest.raises(TypeError, match=r"quantize_rows: .*'x'.*int16.*float16"):
        quantize_rows(x, 8)


def test_another_shape_or_dtype_of_q_is_refused_by_name(device: str) -> None:
    x = _random(4, 16, device=device)
    right = quantize_rows(x, 8)[0]
    with pytest.raises(ValueError, match=r"quantize_rows: .*'q' has shape"):
        quantize_rows(x, 8, q=torch.cat([right, right], dim=-1))
    with pytest.raises(TypeError, match=r"quantize_rows: .*'q'.*int16"):
        quantize_rows(x, 8, q=right.to(torch.int16))


def test_another_shape_or_dtype_of_scales_is_refused_by_name(device: str) -> None:
    x = _random(4, 16, device=device)
    right = quantize_rows(x, 8)[1]
    with pytest.raises(ValueError, match=r"quantize_rows: .*'scales' has shape"):
        quantize_rows(x, 8, scales=torch.cat([right, right], dim=-1))
    with pytest.raises(TypeError, match=r"quantize_rows: .*'scales'.*int16"):
        quantize_rows(x, 8, scales=right.to(torch.int16))


@pytest.mark.needs_gpu
def test_the_current_stream_is_used() -> None:
    x, later = (_random(256, 4096, device="cuda") for _ in range(2))
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        torch.cuda._sleep(50_000_000)
        x.copy_(later)
        result = quantize_rows(x, 128)
    stream.synchronize()
    _check(result, later, 128)


@pytest.mark.needs_gpu
def test_a_cuda_graph_replays_it() -> None:
    x, later = (_random(4, 4096, device="cuda") for _ in range(2))
    result = quantize_rows(x, 128)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        quantize_rows(x, 128, q=result[0], scales=result[1])
    x.copy_(later)
    graph.replay()
    torch.cuda.synchronize()
    _check(result, later, 128)
