"""Names are found in sources, by the hashes that kernels write."""

from __future__ import annotations

import pytest

from fictl.errors import FictlError
from fictl.profile.events.names import Names, identity, names_in


def found(source: str) -> tuple[set[str], set[str]]:
    names = names_in([source])
    return set(names.kernels.values()), set(names.events.values())


@pytest.mark.parametrize(
    ("name", "number"), [("", 2166136261), ("a", 0xE40C292C), ("foobar", 0xBF9CF968)]
)
def test_the_hash_is_fnv_1a(name: str, number: int) -> None:
    assert identity(name) == number


def test_every_macro_with_a_literal_is_found() -> None:
    source = """
      FICTL_KERNEL("gemm", 4);
      FICTL_EVENT("start"); FICTL_SCOPE( "mma" );
      FICTL_BEGIN("load");
      FICTL_END(
          "load", x);
    """
    assert found(source) == ({"gemm"}, {"start", "mma", "load"})


@pytest.mark.parametrize(
    "text",
    [
        '// FICTL_EVENT("no")',
        '/* FICTL_EVENT("no")\n FICTL_EVENT("no") */',
        '"FICTL_EVENT(\\"no\\")"',
        "FICTL_EVENT(kName)",
        'MY_FICTL_EVENT("no")',
    ],
)
def test_what_is_no_event_is_not(text: str) -> None:
    assert found(text) == (set(), set())


def test_a_name_in_a_comment_s_neighbour_is_found() -> None:
    assert found('"//"; FICTL_EVENT("yes"); // "') == (set(), {"yes"})


def test_two_names_with_one_hash_are_an_error() -> None:
    with pytest.raises(
        FictlError, match="'costarring' and 'liquid' have the same hash, 0x5e4daa9d"
    ):
        names_in(['FICTL_EVENT("costarring")', 'FICTL_EVENT("liquid")'])


def test_a_kernel_and_an_event_may_have_one_name() -> None:
    assert found('FICTL_KERNEL("a"); FICTL_EVENT("a")') == ({"a"}, {"a"})


def test_an_event_that_no_source_names_is_shown_by_its_number() -> None:
    assert Names({}, {}).event(255) == "0x000000ff"
