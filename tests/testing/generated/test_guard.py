from __future__ import annotations

import pytest
import torch

from fictl.case.poison import never_written
from fictl.testing.generated.guard import Guarded
from fictl.testing.generated.layout import MemoryLayout

DTYPES = (
    torch.float16,
    torch.bfloat16,
    torch.float32,
    torch.float64,
    torch.float8_e4m3fn,
    torch.int32,
    torch.int64,
    torch.uint8,
    torch.bool,
)


def output(layout: MemoryLayout = MemoryLayout.CONTIGUOUS) -> Guarded:
    return Guarded("out", (3, 4), torch.float32, "cpu", layout, written=True)


def beside(guarded: Guarded, element: int) -> torch.Tensor:
    """One of the memory around it, counted from its start."""
    tensor = guarded.tensor
    return tensor.as_strided((1,), (1,), tensor.storage_offset() + element)


@pytest.mark.parametrize("layout", MemoryLayout)
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_copy_holds_the_values_in_its_layout(layout: MemoryLayout, dtype: torch.dtype) -> None:
    value = torch.randint(0, 2, (3, 5)).to(dtype)
    guarded = Guarded.of("x", value, layout, written=False)
    assert torch.equal(guarded.tensor.double(), value.double())
    assert guarded.tensor.stride() == layout.place((3, 5), dtype.itemsize).strides
    guarded.check_unchanged(value)
    guarded.check_outside()


@pytest.mark.parametrize("shape", [(), (0,), (0, 8), (8, 0)])
@pytest.mark.parametrize("layout", MemoryLayout)
def test_a_number_and_nothing_are_tensors_too(layout: MemoryLayout, shape: tuple[int, ...]) -> None:
    value = torch.ones(shape)
    guarded = Guarded.of("x", value, layout, written=True)
    assert torch.equal(guarded.tensor, value)
    guarded.check_unchanged(value)
    guarded.check_outside()


def test_only_the_offset_breaks_the_alignment() -> None:
    aligned = {
        layout: Guarded("x", (3, 64), torch.half, "cpu", layout).tensor.data_ptr() % 16 == 0
        for layout in MemoryLayout
    }
    assert [layout for layout in MemoryLayout if not aligned[layout]] == [MemoryLayout.OFFSET]


@pytest.mark.parametrize("dtype", [dtype for dtype in DTYPES if dtype is not torch.bool])
def test_an_output_tells_what_was_never_written(dtype: torch.dtype) -> None:
    out = Guarded("out", (3, 4), dtype, "cpu", written=True).tensor
    assert bool(never_written(out).all())
    out[1] = 1
    assert never_written(out).sum(dim=1).tolist() == [4, 0, 4]


def test_poison_beside_an_input_is_not_what_an_output_is_filled_with() -> None:
    read_only = Guarded.of("x", torch.ones(3, 4), MemoryLayout.CONTIGUOUS, written=False)
    assert not bool(never_written(beside(read_only, 12)).any())


def test_what_is_beside_an_input_is_nan_and_beside_an_output_a_number() -> None:
    read_only = Guarded.of("x", torch.ones(3, 4), MemoryLayout.CONTIGUOUS, written=False)
    assert bool(beside(read_only, 12).isnan())
    assert bool(beside(output(), 12).isfinite())


@pytest.mark.parametrize(
    ("element", "where"), [(12, "past its end"), (-1, "before its start"), (1000, "past its end")]
)
def test_a_write_outside_is_said_with_place_and_value(element: int, where: str) -> None:
    out = output()
    beside(out, element).fill_(2.5)
    with pytest.raises(AssertionError) as info:
        out.check_outside()
    assert str(info.value) == (
        f"out was written outside: 4 bytes, the first {where}, at element {element} from its "
        "start: 2.5 (out has shape (3, 4) and strides (4, 1))"
    )


def test_a_write_into_a_gap_is_said() -> None:
    out = output(MemoryLayout.STRIDED)
    beside(out, 4).fill_(7)
    with pytest.raises(
        AssertionError, match=r"the first between its elements, at element 4 .*: 7 "
    ):
        out.check_outside()


def test_a_nan_that_is_written_outside_is_seen() -> None:
    out = output()
    beside(out, 12).fill_(torch.nan)
    with pytest.raises(AssertionError, match="past its end, at element 12 from its start: nan"):
        out.check_outside()


def test_writes_inside_are_nobodys_business() -> None:
    for layout in MemoryLayout:
        out = output(layout)
        out.tensor.fill_(1.0)
        out.check_outside()


def test_a_change_of_one_bit_is_said_with_both_values() -> None:
    value = torch.zeros(3, 4)
    guarded = Guarded.of("x", value, MemoryLayout.STRIDED, written=False)
    guarded.tensor[1, 2] = -0.0
    with pytest.raises(AssertionError) as info:
        guarded.check_unchanged(value)
    assert str(info.value) == (
        "x was written, which mutates= does not name: 1 of 12 elements, the first at (1, 2): "
        "0 became -0"
    )


def test_a_nan_that_stays_is_no_change() -> None:
    value = torch.full((3, 4), torch.nan)
    Guarded.of("x", value, MemoryLayout.CONTIGUOUS, written=False).check_unchanged(value)


@pytest.mark.parametrize("layout", MemoryLayout)
def test_a_bare_tensor_ends_where_its_memory_does(layout: MemoryLayout, monkeypatch) -> None:
    monkeypatch.setenv("FICTL_BARE_TENSORS", "1")
    value = torch.randn(3, 5)
    guarded = Guarded.of("x", value, layout, written=True)
    tensor, place = guarded.tensor, layout.place((3, 5), 4)
    assert torch.equal(tensor, value)
    assert (tensor.stride(), tensor.storage_offset()) == (place.strides, place.start)
    assert tensor.untyped_storage().nbytes() == 4 * (place.start + place.span((3, 5)))
    guarded.check_unchanged(value)


@pytest.mark.parametrize("shape", [(), (0,), (0, 8), (8, 0)])
def test_a_bare_tensor_may_be_empty(shape: tuple[int, ...], monkeypatch) -> None:
    monkeypatch.setenv("FICTL_BARE_TENSORS", "1")
    value = torch.ones(shape)
    assert torch.equal(Guarded.of("x", value, MemoryLayout.OFFSET, written=False).tensor, value)


def test_what_lies_beside_a_bare_tensor_is_for_a_tool_to_see(monkeypatch) -> None:
    monkeypatch.setenv("FICTL_BARE_TENSORS", "1")
    guarded = output(MemoryLayout.STRIDED)
    guarded.tensor.fill_(1.0)
    guarded.check_outside()
    assert bool((guarded.tensor == 1.0).all())
