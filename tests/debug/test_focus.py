"""One block and one thread, as people write them and as debuggers read them."""

from __future__ import annotations

import pytest

from fictl.debug.focus import Focus
from fictl.errors import InvalidValue


def test_what_is_left_out_is_0_as_in_cuda_gdb() -> None:
    focus = Focus.parse("3", "5, 1")
    assert (focus.block, focus.thread) == ((3, 0, 0), (5, 1, 0))
    assert focus.words == "block (3,0,0) thread (5,1,0)"


def test_a_condition_has_every_axis_of_what_is_named() -> None:
    assert Focus.parse("", "5,0,2").condition == (
        "threadIdx.x == 5 && threadIdx.y == 0 && threadIdx.z == 2"
    )


def test_nothing_named_is_any_thread() -> None:
    assert (Focus.parse("", "").condition, Focus.parse("", "").words) == ("", "")


@pytest.mark.parametrize("text", ["x", "1,2,3,4", "-1", "1;2", "1,,2"])
def test_what_is_no_index_is_an_error_with_its_option(text: str) -> None:
    with pytest.raises(InvalidValue, match=r"--block .* is not an index"):
        Focus.parse(text, "")
