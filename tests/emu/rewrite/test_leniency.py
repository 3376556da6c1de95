"""What nvcc takes without `template` gets it, and nothing else does."""

from __future__ import annotations

import pytest

from fictl.emu.rewrite.leniency import strict


@pytest.mark.parametrize(
    ("lenient", "expected"),
    [
        ("Traits<T>::make<3>(x)", "Traits<T>::template make<3>(x)"),
        ("get(x).cast<8>(y)", "get(x).template cast<8>(y)"),
        ("Traits<T>::template make<3>(x)", "Traits<T>::template make<3>(x)"),
        ("if (a.b < c && d > (e))", "if (a.b < c && d > (e))"),
        ("std::get<0>(t)", "std::get<0>(t)"),
    ],
)
def test_a_call_of_a_dependent_template_says_so(lenient: str, expected: str) -> None:
    assert strict(lenient) == expected


@pytest.mark.parametrize(
    ("lenient", "expected"),
    [
        ("static __noinline__ int f();", "static __attribute__((noinline)) int f();"),
        (
            "template <class T> __noinline__ T f();",
            "template <class T> __attribute__((noinline)) T f();",
        ),
        ("__attribute__((__noinline__)) f();", "__attribute__((__noinline__)) f();"),
        ("__attribute__((cold, __noinline__)) f();", "__attribute__((cold, __noinline__)) f();"),
        (
            "__attribute__(( __noinline__ , cold)) f();",
            "__attribute__(( __noinline__ , cold)) f();",
        ),
        ("int a__noinline__;", "int a__noinline__;"),
    ],
)
def test_noinline_is_an_attribute_where_it_is_not_yet(lenient: str, expected: str) -> None:
    assert strict(lenient) == expected
