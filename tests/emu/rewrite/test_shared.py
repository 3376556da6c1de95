"""Declarations of shared variables become references; how they compute is in test_rewritten.py."""

from __future__ import annotations

import re

import pytest

from fictl.emu.rewrite import rewrite


def inside(declaration: str) -> str:
    """What becomes of a declaration in a function."""
    text = f'# 1 "x.cu"\nvoid f() {{ {declaration} }}\n'
    return rewrite(text.replace("__shared__", "__fictl_emu_shared__"), []).split("\n")[1]


def member(name: str, declared: str) -> str:
    return (
        f"struct fictl_emu_{name}_holder {{ {declared}; }}; static char fictl_emu_{name}_key; "
        f"auto& {name} = ::fictl_emu::shared<fictl_emu_{name}_holder>"
        f'(&fictl_emu_{name}_key, "{name}").{name};'
    )


@pytest.mark.parametrize(
    ("declaration", "members"),
    [
        ("__shared__ int x;", {"x": "int x"}),
        ("__shared__ T x[2][N + 1];", {"x": "T x[2][N + 1]"}),
        ("static __shared__ float x;", {"x": "float x"}),
        ("volatile __shared__ int x;", {"x": "volatile int x"}),
        ("__shared__ int *x, y[3];", {"x": "int *x", "y": "int y[3]"}),
        ("__shared__ float (*x)[4];", {"x": "float (*x)[4]"}),
        ("__shared__ Pair<A, B> x, y;", {"x": "Pair<A, B> x", "y": "Pair<A, B> y"}),
        ("__shared__ typename A<T>::B x;", {"x": "typename A<T>::B x"}),
        ("__shared__ alignas(16) char x[8];", {"x": "alignas(16) char x[8]"}),
        ("alignas(sizeof(T) * 2) __shared__ T x;", {"x": "alignas(sizeof(T) * 2) T x"}),
        (
            "__shared__ __attribute__((aligned(8))) int x;",
            {"x": "__attribute__((aligned(8))) int x"},
        ),
        ("case 3: __shared__ int x;", {"x": "int x"}),
    ],
)
def test_a_variable_keeps_its_type_and_its_alignment(declaration: str, members: dict) -> None:
    expected = " ".join(member(name, declared) for name, declared in members.items())
    assert expected in inside(declaration)


def test_a_type_that_is_declared_along_is_declared_once() -> None:
    code = inside("__shared__ struct __attribute__((aligned(8))) S { int a, b; } x, y;")
    alias = "fictl_emu_x_base"
    assert f"typedef struct __attribute__((aligned(8))) S {{ int a, b; }} {alias};" in code
    assert member("x", f"{alias} x") in code
    assert member("y", f"{alias} y") in code


@pytest.mark.parametrize(
    ("declaration", "type_"),
    [
        ("extern __shared__ float x[];", "float fictl_emu_x[]"),
        ("extern __shared__ T x[][4];", "T fictl_emu_x[][4]"),
        ("extern __shared__ __align__(16) char x[];", "char fictl_emu_x[]"),
        ("__shared__ extern Storage x;", "Storage fictl_emu_x"),
    ],
)
def test_dynamic_memory_is_an_array_of_unknown_size(declaration: str, type_: str) -> None:
    declaration = declaration.replace("__align__(16)", "__attribute__((aligned(16)))")
    reference = "auto& x = *static_cast<fictl_emu_x*>(::fictl_emu_dynamic_shared());"
    assert f"typedef {type_}; {reference}" in inside(declaration)


OUTSIDE = """\
# 1 "x.cu"
namespace a { namespace { __fictl_emu_shared__ int count; }
extern "C" { extern __fictl_emu_shared__ float dyn[]; }
struct S { int count() { return 0; } int g() const { return count + dyn[0]; } };
template <class T> void k(T n) { { count = n; } }
void other(int count) { count += 1; }
void member(P p) { p.count = p->dyn; }
}
"""


def test_a_variable_of_a_namespace_is_bound_where_it_is_used() -> None:
    code = rewrite(OUTSIDE, [])
    bound = re.findall(r"(\w+)\([^()]*\)(?: const)? \{ auto& (\w+)(?: = [^;]*; auto& (\w+))?", code)
    assert bound == [("g", "count", "dyn"), ("k", "count", "")]
    assert "::fictl_emu::shared<::a::fictl_emu_count_holder>(&::a::fictl_emu_count_key" in code
    assert "*static_cast<::a::fictl_emu_dyn*>" in code


@pytest.mark.parametrize(
    ("captured", "expected"),
    [
        ("[=]", "[=, &x]"),
        ("[]", "[&x]"),
        ("[n]", "[n, &x]"),
        ("[n = 1]", "[n = 1, &x]"),
        ("[&]", "[&]"),
        ("[&, n]", "[&, n]"),
        ("[&x]", "[&x]"),
    ],
)
def test_a_lambda_captures_what_it_uses_by_reference(captured: str, expected: str) -> None:
    code = inside(f"__shared__ int x; auto f = {captured}(int i) mutable {{ return x + i; }};")
    assert f"auto f = {expected}(int i)" in code


@pytest.mark.parametrize(
    "use",
    [
        "auto f = [=] { return y.x; };",
        "y[3] (x);",
        "auto f = [=] { return 1; }; x = 2;",
        "void operator[](int i) { x; }",
    ],
)
def test_what_does_not_use_the_variable_captures_nothing(use: str) -> None:
    assert use in inside(f"__shared__ int x; {use}")


def test_a_lambda_behind_the_end_of_the_block_captures_nothing() -> None:
    assert "[=] { return x; }" in inside("{ __shared__ int x; } int x; f([=] { return x; });")


def test_one_lambda_captures_variables_of_several_declarations() -> None:
    code = inside("__shared__ int x; __shared__ int y; f([=] { return x + y; });")
    assert "f([=, &x, &y] { return x + y; })" in code
