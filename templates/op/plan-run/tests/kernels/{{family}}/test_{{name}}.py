{% set out, x, offsets = outputs[0].name, inputs[1].name, inputs[0].name %}
"""What the trace of {{ title }} cannot say: how rows are shared out, strides, graphs, refusals."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
import torch

{% set op = package ~ "." ~ family ~ "." ~ name %}
{% set ours = ["from fictl.testing import assert_close", "from " ~ op ~ " import trace"] %}
{{ import_block(ours + ["from " ~ op ~ ".op import " ~ title, "from " ~ op ~ ".plan import ITEM_ROWS"]) }}

TRACE = trace.{{ title }}
DTYPES = ({% for dtype in dtypes %}torch.{{ dtype.name }}{{ ", " if not loop.last }}{% endfor %}{{ "," if dtypes | length == 1 }})
Randn = Callable[..., torch.Tensor]


@pytest.fixture
def randn(device: str) -> Randn:
    def make(*shape: int, dtype: torch.dtype = DTYPES[0]) -> torch.Tensor:
        return torch.randn(shape, device=device).to(dtype)

    return make


def _indptr(lengths: Sequence[int], device: torch.device | str = "cpu") -> torch.Tensor:
    return torch.tensor([0, *lengths], device=device).cumsum(0).to(torch.int32)


{{ py("def _planned(", ["lengths: Sequence[int]", "device: torch.device | str"], ") -> " ~ title ~ ":") }}
    made = {{ title }}(device=device)
    made.plan(_indptr(lengths))
    return made


{{ py("def _check(", ["made: " ~ title, "lengths: Sequence[int]", "x: torch.Tensor"], ") -> None:") }}
    expected = TRACE.reference(_indptr(lengths, x.device), x.double())
    assert_close(made.run(x), expected, {{ '"' ~ outputs[0].name ~ '", ' if outputs[0].name != "out" }}tolerances=TRACE.tolerances)


def _check_planned(lengths: Sequence[int], x: torch.Tensor) -> None:
    _check(_planned(lengths, x.device), lengths, x)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("dim", [1, 2, 7, 8, 24, 111, 520])
def test_any_number_of_columns(dim: int, dtype: torch.dtype, randn: Randn) -> None:
    _check_planned((3, 0, 1, 20, 7), randn(31, dim, dtype=dtype))


@pytest.mark.parametrize("length", [1, 7, 31, 32, 33, ITEM_ROWS - 1, ITEM_ROWS, ITEM_ROWS + 1])
def test_segments_at_the_borders_of_items(length: int, randn: Randn) -> None:
    _check_planned((2, length, 0, length, 3), randn(2 * length + 5, 16))


@pytest.mark.parametrize(
    "lengths",
    [
        (0,),
        (0, 0, 0),
        (1,) * 50,
        (0,) * 40 + (3,),
        (3,) + (0,) * 40,
        (3 * ITEM_ROWS,) * 2,
        (1,) * 20 + (5 * ITEM_ROWS + 1,) + (1,) * 20,
        (40 * ITEM_ROWS,),
    ],
    ids=lambda lengths: f"{len(lengths)} of {sum(lengths)}",
)
def test_short_and_long_segments_and_those_without_rows(
    lengths: tuple[int, ...], randn: Randn
) -> None:
    _check_planned(lengths, randn(sum(lengths), 40))


@pytest.mark.parametrize("lengths", [(), (0, 0), (3, 4)])
def test_no_columns_or_no_segments_are_no_work(lengths: tuple[int, ...], randn: Randn) -> None:
    made = _planned(lengths, randn(1).device)
    assert made.run(randn(sum(lengths), 0)).shape == (len(lengths), 0)


def test_a_segment_is_the_same_bit_by_bit_whatever_is_batched_with_it(randn: Randn) -> None:
    lengths = (5, 0, 70, 1, 3 * ITEM_ROWS, 33)
    x = randn(sum(lengths), 24)
    together, start = _planned(lengths, x.device).run(x), 0
    for length, expected in zip(lengths, together, strict=True):
        alone = _planned((length,), x.device).run(x[start : start + length])
        assert torch.equal(alone[0], expected)
        start += length


def test_a_nan_stays_in_its_segment(randn: Randn) -> None:
    x = randn(12, 8)
    x[5, 3] = torch.nan
    found = _planned((4, 4, 4), x.device).run(x)
    assert found.isnan().nonzero().tolist() == [[1, 3]]


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
def test_rows_at_any_pitch(view: Callable[[torch.Tensor], torch.Tensor], randn: Randn) -> None:
    x = view(randn(200, 96))
    _check_planned((len(x) - 9, 0, 9), x)


def test_out_is_returned(randn: Randn) -> None:
    out = randn(2, 8)
    assert _planned((4, 5), out.device).run(randn(9, 8), {{ out }}=out) is out


def test_a_plan_serves_any_number_of_runs(randn: Randn, device: str) -> None:
    made = _planned((2, ITEM_ROWS), device)
    for dim in (8, 33, 64):
        _check(made, (2, ITEM_ROWS), randn(ITEM_ROWS + 2, dim))


def test_the_plan_is_where_indptr_is(randn: Randn, device: str) -> None:
    made = {{ title }}()
    made.plan(_indptr((3, 4), device))
    _check(made, (3, 4), randn(7, 8))


def test_with_room_every_plan_takes_the_place_of_the_first(randn: Randn, device: str) -> None:
    made = {{ title }}(max_rows=300, device=device)
    x, places = randn(300, 16), set()
    for lengths in ((1, 2, 3, 0), (0, 200, 70, 30), (300, 0, 0, 0), (66,) * 4, (0,) * 4):
        made.plan(_indptr(lengths))
        places.add(made._plan.data_ptr())
        _check(made, lengths, x)
    assert len(places) == 1


@pytest.mark.parametrize("length", [ITEM_ROWS - 1, ITEM_ROWS, ITEM_ROWS + 1, 1])
def test_there_is_room_for_the_worst_that_fits(length: int, randn: Randn, device: str) -> None:
    rows = 4 * (ITEM_ROWS + 1)
    lengths = (0,) * 20 + (length,) * min(rows // length, 20)
    made = {{ title }}(max_rows=rows, device=device)
    made.plan(_indptr(lengths))
    _check(made, lengths, randn(rows, 8))


@pytest.mark.needs_gpu
def test_a_captured_run_follows_the_next_plan(randn: Randn, device: str) -> None:
    made = {{ title }}(max_rows=500, device=device)
    x, out = randn(500, 64), randn(4, 64)
    made.plan(_indptr((1, 2, 0, 0)))
    made.run(x, out)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        made.run(x, out)
    for lengths in ((500, 0, 0, 0), (100, 5, 200, 65), (1, 1, 1, 1)):
        made.plan(_indptr(lengths))
        graph.replay()
        expected = TRACE.reference(_indptr(lengths, device), x.double())
        assert_close(out, expected, {{ '"' ~ outputs[0].name ~ '", ' if outputs[0].name != "out" }}tolerances=TRACE.tolerances)


@pytest.mark.needs_gpu
def test_the_current_stream_is_used() -> None:
    x, made = torch.ones(1 << 12, 64, device="cuda").to(DTYPES[0]), _planned((1 << 12,), "cuda")
    stream = torch.cuda.Stream()
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(50_000_000)
        x.fill_(0.5)
        out = made.run(x)
    stream.synchronize()
    assert bool((out == 2048.0).all())


def test_rows_beyond_the_last_segment_are_of_none(randn: Randn) -> None:
    x = randn(9, 8)
    made = _planned((2, 3), x.device)
    assert torch.equal(made.run(x), made.run(x[:5]))


@pytest.mark.parametrize(
    ("ends", "said"),
    [
        ([1, 3], r"is \[1, 3\] at 0"),
        ([0, 4, 2, 6], r"is \[4, 2\] at 1"),
        ([0, -1], r"is \[0, -1\] at 0"),
    ],
)
def test_offsets_that_are_none_are_refused(ends: list[int], said: str) -> None:
    with pytest.raises(ValueError, match=rf"'{{ offsets }}' {said}.*never falls"):
        {{ title }}().plan(torch.tensor(ends, dtype=torch.int32))


@pytest.mark.parametrize(
    "indptr",
    [torch.tensor([0, 3]), torch.zeros(2, 2, dtype=torch.int32), torch.tensor([]).int()],
    ids=["int64", "2-d", "empty"],
)
def test_another_shape_or_dtype_of_offsets_is_refused(indptr: torch.Tensor) -> None:
    with pytest.raises(ValueError, match=r"'{{ offsets }}' has shape .* torch.int32"):
        {{ title }}().plan(indptr)


@pytest.mark.parametrize("lengths", [(1, 1, 1), (1,), (5, 6)])
def test_what_there_is_no_room_for_is_refused(lengths: tuple[int, ...]) -> None:
    made = {{ title }}(max_rows=10)
    made.plan(_indptr((4, 5)))
    with pytest.raises(ValueError, match=r"'{{ offsets }}' has \d segments of .* 2 segments of up to 10"):
        made.plan(_indptr(lengths))


def test_run_before_plan_is_refused() -> None:
{{ py("    with pytest.raises(", ["RuntimeError", 'match=r"' ~ title ~ ': run\\(\\) was called before plan\\(\\)"'], "):") }}
        {{ title }}().run(torch.ones(2, 2))


def test_shapes_that_were_not_planned_are_refused(randn: Randn, device: str) -> None:
    made, x = _planned((4, 5), device), randn(9, 8)
    with pytest.raises(ValueError, match=r"'{{ x }}' has shape \(8, 8\), the plan is for 9 rows"):
        made.run(x[:8])
    with pytest.raises(ValueError, match=r"'{{ out }}' has shape \(3, 8\); the plan has 2 segments"):
        made.run(x, {{ out }}=randn(3, 8))
    with pytest.raises(ValueError, match=r"'{{ x }}' has shape \(9, 8, 1\), which is not 2-dim"):
        made.run(x[..., None])


def test_another_dtype_is_refused(randn: Randn, device: str) -> None:
    made, x = _planned((4, 5), device), randn(9, 8)
    with pytest.raises(TypeError, match=r"'{{ out }}' has dtype float64"):
        made.run(x, {{ out }}=randn(2, 8).double())
    with pytest.raises(TypeError, match=r"'{{ x }}' has dtype float64; accepted"):
        made.run(x.double())


def test_strides_that_do_not_fit_are_refused(randn: Randn, device: str) -> None:
    made = _planned((4, 5), device)
    with pytest.raises(ValueError, match=r"'{{ x }}' has strides .*; pass {{ x }}.contiguous"):
        made.run(randn(8, 9).t())
    with pytest.raises(ValueError, match=r"'{{ out }}' is not contiguous"):
        made.run(randn(9, 8), {{ out }}=randn(2, 16)[:, ::2])
