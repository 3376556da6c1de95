"""What the trace of top_k cannot say: orders, equal elements, special values, refusals."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch

from fictl.kernels.topk.top_k import trace
from fictl.kernels.topk.top_k.op import top_k
from fictl.ops import top_k as public

DTYPES = (torch.float16, torch.bfloat16, torch.float32)
NONE, SMALL, LARGE = 0, 1, 2
# A row of 9001 does not fit the list of a block as a whole; one of 700 does.
WIDTHS = (700, 9001)
Randn = Callable[..., torch.Tensor]


@pytest.fixture
def randn(device: str) -> Randn:
    def make(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        return torch.randn(shape, device=device).to(dtype)

    return make


def _check(x: torch.Tensor, k: int, **options: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Judged as the trace does, and in the order that is asked for."""
    values, indices = top_k(x, k, **options)
    inputs = {"input": x, "k": k, **options}
    trace.top_k.judge(inputs, {"values": values, "indices": indices})
    if options.get("sorted"):
        equal = (values[:, 1:] == values[:, :-1]) | values[:, 1:].isnan() & values[:, :-1].isnan()
        assert not bool((equal & (indices.diff(dim=1) < 0)).any())
    elif options.get("deterministic"):
        assert bool((indices.diff(dim=1) > 0).all())
    return values, indices


def _same(a: tuple[torch.Tensor, ...], b: tuple[torch.Tensor, ...]) -> bool:
    return all(torch.equal(x, y) for x, y in zip(a, b, strict=True))


def test_it_is_public() -> None:
    assert public is top_k


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("cols", [1, 3, 31, 512, *WIDTHS])
def test_any_k(cols: int, dtype: torch.dtype, randn: Randn) -> None:
    x = randn(2, cols, dtype=dtype)
    for k in {1, 2, cols // 3, cols - 1, cols} - {0, -1}:
        if k <= cols:
            _check(x, k)


@pytest.mark.parametrize("options", [{"sorted": True}, {"deterministic": True}], ids=str)
@pytest.mark.parametrize(("cols", "k"), [(5, 5), (33, 20), (700, 130), (9001, 70), (9001, 4000)])
def test_orders(cols: int, k: int, options: dict[str, bool], randn: Randn) -> None:
    _check(randn(2, cols), k, **options)
    _check(randn(2, cols).mul(2).round(), k, **options)


def test_more_than_a_block_sorts(randn: Randn) -> None:
    for tie_break in (NONE, LARGE):
        values, indices = _check(randn(2, 9001).round(), 5000, sorted=True, tie_break=tie_break)
        assert bool((values.diff(dim=1) <= 0).all())
    given = torch.empty_like(values), torch.empty_like(indices)
    top_k(randn(2, 9001), 5000, sorted=True, values=given[0], indices=given[1])
    assert bool((given[0].diff(dim=1) <= 0).all())


@pytest.mark.parametrize("tie_break", [NONE, SMALL, LARGE])
@pytest.mark.parametrize("cols", WIDTHS)
def test_of_equal_elements_the_first_or_the_last(cols: int, tie_break: int, randn: Randn) -> None:
    made = randn(4, cols)
    made[0] = 1.5
    made[1] = made[1].mul(2).round()
    made[2] = made[2].clamp(min=0)
    made[3] = made[3] > 2
    for k in (1, 64, cols - 200):
        for options in ({}, {"sorted": True}, {"deterministic": True}):
            if not (k > 4096 and "sorted" in options):
                _check(made, k, tie_break=tie_break, **options)


def test_none_of_tie_break_chooses_the_first_too(randn: Randn) -> None:
    x = randn(3, 9001).round()
    first = top_k(x, 100, deterministic=True, tie_break=SMALL)
    assert _same(top_k(x, 100, deterministic=True), first)
    assert torch.equal(top_k(x, 100)[1].sort(dim=1).values, first[1])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("cols", WIDTHS)
def test_nan_is_above_infinity_and_minus_infinity_is_a_number(
    cols: int, dtype: torch.dtype, randn: Randn
) -> None:
    x = randn(3, cols, dtype=dtype)
    x[0, 5], x[0, 600], x[0, 7] = math.nan, -math.nan, math.inf
    x[1] = -math.inf
    x[1, 3:5] = torch.tensor([2.0, -math.inf], device=x.device)
    x[2] = math.nan
    for k in (1, 2, 3, 100):
        _check(x, k, tie_break=SMALL)
    values, indices = _check(x, 3, sorted=True)
    assert indices[0].tolist() == [5, 600, 7]
    assert values[0].isnan().tolist() == [True, True, False]
    assert indices[1].tolist() == [3, 0, 1]
    assert indices[2].tolist() == [0, 1, 2]


@pytest.mark.parametrize("dtype", DTYPES)
def test_zeros_of_either_sign_are_equal(dtype: torch.dtype, device: str) -> None:
    x = torch.tensor([[-1.0, -0.0, 0.0, -0.0, -2.0]], device=device, dtype=dtype)
    for k, expected in ((1, [1]), (2, [1, 2]), (4, [0, 1, 2, 3])):
        values, indices = top_k(x, k, deterministic=True, tie_break=SMALL)
        assert indices.tolist() == [expected]
        assert not bool(values[values == 0].signbit().any())


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_ends_of_the_range(dtype: torch.dtype, device: str) -> None:
    limits = torch.finfo(dtype)
    ordered = [math.inf, limits.max, 1.0, limits.tiny, limits.smallest_normal / 2, 0.0]
    ordered += [-limits.smallest_normal / 2, -limits.tiny, -1.0, limits.min, -math.inf]
    expected = torch.tensor(ordered, device=device).to(dtype)
    mixed = torch.randperm(len(ordered), device=device)
    values, indices = top_k(expected[mixed][None], len(ordered), sorted=True)
    assert torch.equal(values[0], expected)
    assert torch.equal(mixed[indices[0]], torch.arange(len(ordered), device=device))


@pytest.mark.parametrize("cols", WIDTHS)
def test_rising_and_falling_rows(cols: int, device: str) -> None:
    rising = torch.arange(cols, device=device, dtype=torch.float32)
    x = torch.stack((rising, rising.flip(0), rising * 0 + (rising > cols - 9)))
    for k in (3, 300):
        _, indices = _check(x, k, deterministic=True)
        assert indices[0].tolist() == list(range(cols - k, cols))
        assert indices[1].tolist() == list(range(k))


@pytest.mark.parametrize("cols", WIDTHS)
def test_a_row_is_the_same_wherever_it_is(cols: int, randn: Randn) -> None:
    x = randn(3, cols).mul(3).round()
    for options in ({"sorted": True}, {"deterministic": True}):
        together = top_k(x, 65, **options)
        for row in range(3):
            alone = top_k(x[row : row + 1], 65, **options)
            assert _same(alone, tuple(each[row : row + 1] for each in together))


@pytest.mark.parametrize("start", [0, 1, 5, 8])
def test_rows_at_a_pitch_and_misaligned_ones(start: int, randn: Randn) -> None:
    for dtype in DTYPES:
        for cols in (2, 12, 9001):
            _check(randn(3, cols + 9, dtype=dtype)[:, start : start + cols], min(cols, 7))
    _check(randn(1, 300).expand(3, 300), 10)


def test_results_go_where_they_are_wanted(randn: Randn) -> None:
    x = randn(3, 50)
    whole = torch.full((3, 9), 7.0, device=x.device)
    places = torch.full((3, 9), 7, device=x.device)
    values, indices = top_k(x, 5, values=whole[:, 2:7], indices=places[:, 1:6])
    assert values.data_ptr() == whole[:, 2:].data_ptr()
    assert torch.equal(values, x.gather(1, indices))
    assert bool((whole[:, [0, 1, 7, 8]] == 7).all())
    assert bool((places[:, [0, 6, 7, 8]] == 7).all())


def test_no_rows_and_no_k(randn: Randn) -> None:
    for rows, cols, k in ((0, 8, 3), (3, 8, 0), (3, 0, 0), (0, 0, 0)):
        values, indices = top_k(randn(rows, cols), k)
        assert values.shape == indices.shape == (rows, k)
        assert indices.dtype is torch.int64


def test_what_does_not_fit_is_refused_by_name(randn: Randn) -> None:
    x = randn(4, 8)
    for k in (9, -1):
        with pytest.raises(ValueError, match=rf"top_k: .*'k' is {k}, 'input' has rows of 8"):
            top_k(x, k)
    with pytest.raises(ValueError, match=r"top_k: .*'tie_break' is 3; .*LARGE"):
        top_k(x, 2, tie_break=3)
    with pytest.raises(ValueError, match=r"top_k: .*'input' has shape \(8,\)"):
        top_k(x[0], 2)
    with pytest.raises(ValueError, match=r"top_k: .*'input' .*input.contiguous\(\)"):
        top_k(x.t(), 2)
    with pytest.raises(TypeError, match=r"top_k: .*'input' has dtype float64; .*float16.*float32"):
        top_k(x.double(), 2)
    with pytest.raises(ValueError, match=r"top_k: .*'values' has shape \(4, 3\); it is \(4, 2\)"):
        top_k(x, 2, values=randn(4, 3))
    with pytest.raises(TypeError, match=r"top_k: .*'values' has dtype float16; accepted: float32"):
        top_k(x, 2, values=randn(4, 2, dtype=torch.half))
    with pytest.raises(TypeError, match=r"top_k: .*'indices' has dtype int32; accepted: int64"):
        top_k(x, 2, indices=torch.empty(4, 2, dtype=torch.int32, device=x.device))


@pytest.mark.needs_gpu
@pytest.mark.parametrize("rows", [1, 2, 7, 40, 64, 150])
@pytest.mark.parametrize("cols", [8193, 16384, 32003, 128256, 131072, 151936, 300_001])
def test_rows_that_blocks_share(rows: int, cols: int, randn: Randn) -> None:
    for dtype in DTYPES:
        x = randn(rows, cols + 1, dtype=dtype)[:, 1:]
        x[0] = x[0].mul(2).round()
        for k in (1, 50, 2048, 4096, 5000):
            ways = [top_k(x, k, **o) for o in ({"deterministic": True}, {"sorted": True})]
            _check(x, k, tie_break=SMALL)
            _check(x, k, tie_break=LARGE, deterministic=True)
            judged = {"input": x, "k": k, "tie_break": SMALL, "sorted": True}
            trace.top_k.judge(judged, dict(zip(("values", "indices"), ways[1], strict=True)))
            assert torch.equal(ways[0][1], ways[1][1].sort(dim=1).values)
            assert _same(top_k(x[:1], k, deterministic=True), tuple(w[:1] for w in ways[0]))


@pytest.mark.needs_gpu
def test_equal_and_ordered_elements_that_blocks_share(device: str) -> None:
    rising = torch.arange(131072, device=device, dtype=torch.float32)
    x = torch.stack([rising, rising.flip(0), rising * 0, (rising - 60000).clamp(min=0), -rising])
    for rows in (x, x.repeat(8, 1), x.repeat(40, 1)):
        for k in (1, 2048, 6000, 131072):
            for tie_break in (SMALL, LARGE):
                _check(rows, k, tie_break=tie_break, deterministic=True)
                _check(rows, k, tie_break=tie_break, sorted=True)


@pytest.mark.needs_gpu
def test_a_cuda_graph_chooses_anew(randn: Randn) -> None:
    x = randn(2, 131072)
    values, indices = top_k(x, 300, sorted=True)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        top_k(x, 300, sorted=True, values=values, indices=indices)
    for _ in range(3):
        x.copy_(randn(2, 131072))
        graph.replay()
        assert torch.equal(values, x.topk(300).values)
        assert torch.equal(x.gather(1, indices), values)
