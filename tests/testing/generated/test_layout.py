from __future__ import annotations

import pytest

from fictl.testing.generated.layout import MemoryLayout, TensorPlacement


@pytest.mark.parametrize(
    ("layout", "strides", "start"),
    [
        (MemoryLayout.CONTIGUOUS, (33, 11, 1), 0),
        (MemoryLayout.OFFSET, (33, 11, 1), 1),
        (MemoryLayout.STRIDED, (64, 16, 1), 0),
        (MemoryLayout.SKEWED, (48, 12, 1), 0),
        (MemoryLayout.TRANSPOSED, (33, 1, 3), 0),
    ],
)
def test_where_rows_of_eleven_halves_lie(layout: MemoryLayout, strides, start: int) -> None:
    assert layout.place((2, 3, 11), itemsize=2) == TensorPlacement(strides, start)


def test_a_row_of_whole_vectors_has_a_gap_as_well() -> None:
    assert MemoryLayout.STRIDED.place((3, 64), itemsize=4).strides == (68, 1)


def test_numbers_of_one_dimension_lie_apart() -> None:
    assert MemoryLayout.STRIDED.place((5,), itemsize=2).strides == (8,)
    assert MemoryLayout.SKEWED.place((5,), itemsize=2).strides == (2,)
    assert MemoryLayout.TRANSPOSED.place((5,), itemsize=2).strides == (1,)


@pytest.mark.parametrize("layout", MemoryLayout)
def test_a_number_lies_somewhere(layout: MemoryLayout) -> None:
    assert layout.place((), itemsize=4).strides == ()


@pytest.mark.parametrize("layout", MemoryLayout)
def test_no_two_elements_share_a_place(layout: MemoryLayout) -> None:
    shape = (2, 3, 5)
    strides = layout.place(shape, itemsize=4).strides
    indices = [(i, j, k) for i in range(2) for j in range(3) for k in range(5)]
    places = [sum(a * b for a, b in zip(at, strides, strict=True)) for at in indices]
    assert len({*places}) == 30
    assert max(places) == layout.place(shape, itemsize=4).span(shape) - 1


def test_nothing_spans_nothing() -> None:
    assert MemoryLayout.STRIDED.place((0, 8), 4).span((0, 8)) == 0


@pytest.mark.parametrize(
    ("ndim", "layouts"),
    [
        (0, {MemoryLayout.OFFSET}),
        (1, {MemoryLayout.OFFSET, MemoryLayout.STRIDED, MemoryLayout.SKEWED}),
        (2, {*MemoryLayout} - {MemoryLayout.CONTIGUOUS}),
    ],
)
def test_which_layouts_differ_depends_on_the_dimensions(
    ndim: int, layouts: set[MemoryLayout]
) -> None:
    assert {layout for layout in MemoryLayout if layout.differs(ndim)} == layouts
