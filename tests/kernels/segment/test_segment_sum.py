"""What the trace of SegmentSum cannot say: how rows are shared out, strides, graphs, refusals."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
import torch

from fictl.kernels.segment.segment_sum import trace
from fictl.kernels.segment.segment_sum.op import SegmentSum, Walk, walks
from fictl.testing import assert_close

TRACE = trace.SegmentSum
DTYPES = (torch.float16, torch.bfloat16, torch.float32)
Randn = Callable[..., torch.Tensor]


@pytest.fixture
def randn(device: str) -> Randn:
    def make(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        return torch.randn(shape, device=device).to(dtype)

    return make


def _indptr(lengths: Sequence[int], device: torch.device | str = "cpu") -> torch.Tensor:
    return torch.tensor([0, *lengths], device=device).cumsum(0).to(torch.int32)


def _planned(lengths: Sequence[int], device: torch.device | str) -> SegmentSum:
    sums = SegmentSum(device=device)
    sums.plan(_indptr(lengths))
    return sums


def _sum(x: torch.Tensor, lengths: Sequence[int], **more: torch.Tensor) -> torch.Tensor:
    return _planned(lengths, x.device).run(x, **more)


def _check(x: torch.Tensor, lengths: Sequence[int], **more: torch.Tensor) -> None:
    expected = TRACE.reference(_indptr(lengths, x.device), x.double())
    assert_close(_sum(x, lengths, **more), expected, tolerances=TRACE.tolerances)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("dim", [1, 2, 7, 8, 24, 111, 256, 1032])
def test_any_number_of_columns(dim: int, dtype: torch.dtype, randn: Randn) -> None:
    _check(randn(31, dim, dtype=dtype), (3, 0, 1, 20, 7))


@pytest.mark.parametrize("length", [1, 7, 8, 9, 15, 16, 17, 63, 64, 65, 127, 128, 129, 1100])
def test_segments_at_the_borders_of_pieces_and_units(length: int, randn: Randn) -> None:
    _check(randn(2 * length + 5, 16), (2, length, 0, length, 3))


@pytest.mark.parametrize(
    "lengths",
    [
        (0,),
        (0, 0, 0),
        (1,) * 50,
        (0,) * 40 + (3,),
        (3,) + (0,) * 40,
        (0, 1) * 30,
        (200,) * 3,
        (1,) * 20 + (300,) + (1,) * 20,
        (0, 64, 0, 65, 0),
    ],
    ids=lambda lengths: f"{len(lengths)} of {sum(lengths)}",
)
def test_short_and_long_segments_and_those_without_rows(lengths, randn: Randn) -> None:
    for dtype in (torch.bfloat16, torch.float32):
        _check(randn(sum(lengths), 40, dtype=dtype), lengths)


@pytest.mark.parametrize("dim", [97, 333], ids=["two", "four"])
def test_where_threads_abound_a_walker_takes_several_units(dim: int, randn: Randn) -> None:
    # Of the emulated device, whose 4 SMs are soon full.
    lengths = (1, 2, 0, 5, 90) * 10 + (10,) * 12 + (400,)
    _check(randn(sum(lengths), dim), lengths)


@pytest.mark.parametrize("lengths", [(), (0, 0), (3, 4)])
def test_no_columns_or_no_segments_are_no_work(lengths: tuple[int, ...], randn: Randn) -> None:
    assert _sum(randn(sum(lengths), 0), lengths).shape == (len(lengths), 0)
    assert _sum(randn(0, 8), ()).shape == (0, 8)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_segment_is_the_same_bit_by_bit_whatever_is_batched_with_it(
    dtype: torch.dtype, randn: Randn
) -> None:
    lengths = (5, 0, 70, 1, 200, 33)
    x = randn(sum(lengths), 24, dtype=dtype)
    together, start = _sum(x, lengths), 0
    for length, expected in zip(lengths, together, strict=True):
        assert torch.equal(_sum(x[start : start + length], (length,))[0], expected)
        start += length


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_width_of_loads_changes_no_bit(dtype: torch.dtype, randn: Randn) -> None:
    lengths = (5, 90, 1)
    x = randn(96, 65, dtype=dtype)
    assert torch.equal(_sum(x[:, :64], lengths), _sum(x[:, :64].contiguous(), lengths))


def test_the_result_is_rounded_once(randn: Randn) -> None:
    x = torch.ones(3000, 8, device=randn(1).device, dtype=torch.half)
    assert bool((_sum(x, (3000,)) == 3000.0).all())  # Half alone would stay at 2048.


def test_a_nan_stays_in_its_segment(randn: Randn) -> None:
    x = randn(12, 8)
    x[5, 3] = torch.nan
    assert _sum(x, (4, 4, 4)).isnan().nonzero().tolist() == [[1, 3]]


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x[::2],
        lambda x: x[:, :40],
        lambda x: x[:, 3:20],
        lambda x: x[:, 8:],
        lambda x: x[:1].expand(200, 96),
    ],
    ids=["every second row", "aligned columns", "columns", "the last columns", "one row"],
)
def test_rows_at_any_pitch(view, randn: Randn) -> None:
    x = view(randn(200, 96, dtype=torch.bfloat16))
    _check(x, (len(x) - 9, 0, 9))


@pytest.mark.parametrize("pitch", [61, 64])
def test_a_pitched_output_leaves_its_gaps_alone(pitch: int, randn: Randn, device: str) -> None:
    whole = torch.full((3, pitch), 7.0, device=device)
    _check(randn(80, 40), (1, 0, 79), out=whole[:, :40])
    assert bool((whole[:, 40:] == 7.0).all())


def test_out_is_returned(randn: Randn) -> None:
    out = randn(2, 8)
    assert _sum(randn(9, 8), (4, 5), out=out) is out


def test_a_plan_serves_any_number_of_runs(randn: Randn, device: str) -> None:
    sums = _planned((2, 100), device)
    for dtype, dim in zip(DTYPES, (8, 33, 64), strict=True):
        x = randn(102, dim, dtype=dtype)
        expected = TRACE.reference(_indptr((2, 100), device), x.double())
        assert_close(sums.run(x), expected, tolerances=TRACE.tolerances)


def test_the_plan_is_where_indptr_is(randn: Randn, device: str) -> None:
    x, sums = randn(7, 8), SegmentSum()
    sums.plan(_indptr((3, 4), device))
    assert_close(sums.run(x)[1], x[3:].double().sum(0), tolerances=TRACE.tolerances)


def test_with_room_every_plan_takes_the_place_of_the_first(randn: Randn, device: str) -> None:
    sums = SegmentSum(max_rows=300, device=device)
    x, places = randn(300, 16), set()
    for lengths in ((1, 2, 3, 0), (0, 200, 70, 30), (300, 0, 0, 0), (66,) * 4, (0,) * 4):
        sums.plan(_indptr(lengths))
        assert sums._plan is not None
        places.add((sums._plan.memory.data_ptr(), sums._plan.memory.numel()))
        expected = TRACE.reference(_indptr(lengths, device), x.double())
        assert_close(sums.run(x), expected, tolerances=TRACE.tolerances)
    assert len(places) == 1


@pytest.mark.parametrize(("rows", "length"), [(65, 65), (64, 64), (130, 65), (1000, 65), (7, 1)])
def test_there_is_room_for_the_worst_that_fits(
    rows: int, length: int, randn: Randn, device: str
) -> None:
    lengths = (0,) * 20 + (length,) * (rows // length)
    sums, x = SegmentSum(max_rows=rows, device=device), randn(rows, 8)
    sums.plan(_indptr(lengths))
    expected = TRACE.reference(_indptr(lengths, device), x.double())
    assert_close(sums.run(x), expected, tolerances=TRACE.tolerances)


@pytest.mark.needs_gpu
def test_a_captured_run_follows_the_next_plan(randn: Randn, device: str) -> None:
    sums = SegmentSum(max_rows=500, device=device)
    x, out = randn(500, 64), torch.empty(4, 64, device=device)
    sums.plan(_indptr((1, 2, 0, 0)))
    sums.run(x, out)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        sums.run(x, out)
    for lengths in ((500, 0, 0, 0), (100, 5, 200, 65), (1, 1, 1, 1)):
        sums.plan(_indptr(lengths))
        graph.replay()
        expected = TRACE.reference(_indptr(lengths, device), x.double())
        assert_close(out, expected, tolerances=TRACE.tolerances)


def test_rows_beyond_the_last_segment_are_of_none(randn: Randn) -> None:
    x = randn(9, 8)
    assert torch.equal(_sum(x, (2, 3)), _sum(x[:5], (2, 3)))


def test_pdl_does_not_change_what_a_chain_of_calls_computes(randn: Randn, device: str) -> None:
    sums, x = _planned((100, 0, 28), device), randn(128, 64)
    first = sums.run(x, enable_pdl=False)
    for _ in range(20):
        assert torch.equal(sums.run(x, enable_pdl=True), first)


@pytest.mark.parametrize(
    ("ends", "said"),
    [
        ([1, 3], r"is \[1, 3\] at 0"),
        ([0, 4, 2, 6], r"is \[4, 2\] at 1"),
        ([0, -1], r"is \[0, -1\] at 0"),
    ],
)
def test_offsets_that_are_none_are_refused(ends: list[int], said: str) -> None:
    with pytest.raises(ValueError, match=rf"SegmentSum: argument 'indptr' {said}.*never falls"):
        SegmentSum().plan(torch.tensor(ends, dtype=torch.int32))


@pytest.mark.parametrize(
    "indptr",
    [torch.tensor([0, 3]), torch.zeros(2, 2, dtype=torch.int32), torch.tensor([]).int()],
    ids=["int64", "2-d", "empty"],
)
def test_another_shape_or_dtype_of_indptr_is_refused(indptr: torch.Tensor) -> None:
    with pytest.raises(ValueError, match=r"SegmentSum: argument 'indptr' has shape .* torch.int32"):
        SegmentSum().plan(indptr)


@pytest.mark.parametrize("lengths", [(1, 1, 1), (1,), (5, 6)])
def test_what_there_is_no_room_for_is_refused(lengths: tuple[int, ...]) -> None:
    sums = SegmentSum(max_rows=10)
    sums.plan(_indptr((4, 5)))
    with pytest.raises(ValueError, match=r"'indptr' has \d segments of .* 2 segments of up to 10"):
        sums.plan(_indptr(lengths))


def test_an_input_shorter_than_there_is_room_for_is_refused(randn: Randn, device: str) -> None:
    sums = SegmentSum(max_rows=10, device=device)
    sums.plan(_indptr((1, 1)))
    with pytest.raises(ValueError, match=r"'input' has shape \(9, 8\), the plan is for 10 rows"):
        sums.run(randn(9, 8))


def test_run_before_plan_is_refused() -> None:
    with pytest.raises(RuntimeError, match=r"SegmentSum: run\(\) was called before plan\(\)"):
        SegmentSum().run(torch.ones(2, 2))


def test_shapes_that_were_not_planned_are_refused(randn: Randn) -> None:
    x, lengths = randn(9, 8), (4, 5)
    with pytest.raises(ValueError, match=r"SegmentSum: .*'input' has shape \(8, 8\), .* 9 rows"):
        _sum(x[:8], lengths)
    with pytest.raises(
        ValueError, match=r"SegmentSum: .*'out' has shape \(3, 8\); the segments .* 2"
    ):
        _sum(x, lengths, out=randn(3, 8))
    with pytest.raises(
        ValueError, match=r"SegmentSum: .*'out' has shape \(2, 9\); the columns .* 8"
    ):
        _sum(x, lengths, out=randn(2, 9))
    with pytest.raises(
        ValueError, match=r"SegmentSum: .*'input' has shape \(9, 8, 1\).* not 2-dim"
    ):
        _sum(x[..., None], lengths)


def test_another_dtype_is_refused(randn: Randn) -> None:
    x, lengths = randn(9, 8), (4, 5)
    with pytest.raises(
        TypeError, match=r"SegmentSum: .*'out' has dtype float16, 'input' has float32"
    ):
        _sum(x, lengths, out=randn(2, 8).half())
    with pytest.raises(TypeError, match=r"SegmentSum: .*'input'.*float64.*accepted"):
        _sum(x.double(), lengths)


def test_strides_that_do_not_fit_are_refused(randn: Randn) -> None:
    x, lengths = randn(9, 8), (4, 5)
    with pytest.raises(
        ValueError, match=r"'input' has strides .*must be contiguous .*; pass input.contiguous"
    ):
        _sum(randn(8, 9).t(), lengths)
    with pytest.raises(ValueError, match=r"'out' has shape .*strides \(0, 1\): its rows overlap"):
        _sum(x, lengths, out=randn(1, 8).expand(2, 8))


@pytest.mark.parametrize("units", [walk.units for walk in walks()] + [3, 64])
@pytest.mark.parametrize("dim", [16, 333])
def test_no_sum_depends_on_how_the_work_is_shared_out(units: int, dim: int, randn: Randn) -> None:
    lengths = (1, 2, 0, 5, 90) * 10 + (10,) * 12 + (400,)
    x = randn(sum(lengths), dim, dtype=torch.bfloat16)
    sums = _planned(lengths, x.device)
    assert torch.equal(sums.run(x, tactic=Walk(units)), sums.run(x))


@pytest.mark.parametrize("units", [-1, 65])
def test_a_tactic_that_is_none_is_refused(units: int, randn: Randn) -> None:
    x = randn(7, 8)
    with pytest.raises(ValueError, match=rf"SegmentSum: argument 'tactic' has {units} units"):
        _planned((7,), x.device).run(x, tactic=Walk(units))
