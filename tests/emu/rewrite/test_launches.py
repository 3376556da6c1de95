"""Launches become calls that name the kernel as it is written."""

from __future__ import annotations

import pytest

from fictl.emu.rewrite.launches import is_operator, keep_types, launch
from fictl.emu.rewrite.scan import apply


def rewritten(code: str) -> str:
    return apply(code, [launch(code, code.index("<<<"))])


def call(kernel: str, configuration: str, *arguments: str) -> str:
    given = "".join(f", {argument}" for argument in arguments)
    return (
        f'::fictl_emu::Configuration({configuration}).run("{kernel}", '
        f"[=](auto&... fictl_emu_a) {{ {kernel}(fictl_emu_a...); }}{given})"
    )


@pytest.mark.parametrize(
    "kernel",
    [
        "k",
        "a::b::k",
        "::k",
        "k<float>",
        "ns::k<float, 3>",
        "k<Pair<int, Pair<A, B>>>",
        "k<(N > 3), (A < B)>",
        "Traits<T>::k<N>",
        "kernels[i]",
        "object.kernel",
        "p->kernel",
        "get(x, y)",
        "get<T>(x)->kernel",
        "(a ? b : c)",
        "table[i](x)",
        "k <float>",
    ],
)
def test_the_kernel_is_the_whole_expression_before_the_brackets(kernel: str) -> None:
    for before in ("  ", "{", "; ", "if (x) ", "else ", "(void)0, ", "CHECK("):
        code = f"{before}{kernel}<<<1, 2>>>(x);"
        assert rewritten(code) == f"{before}{call(kernel, '1, 2', 'x')};"


def test_a_launch_without_arguments() -> None:
    assert rewritten("k<<<1, 2>>>();") == call("k", "1, 2") + ";"


def test_a_configuration_may_have_brackets_and_templates() -> None:
    code = "k<<<dim3(a, b), Size<3>::value, f<g<1>>(x) >> 2, stream>>>(x)"
    assert rewritten(code) == call("k", "dim3(a, b), Size<3>::value, f<g<1>>(x) >> 2, stream", "x")


def test_arguments_in_braces_are_built_by_the_kernel_itself() -> None:
    code = 'k<<<1, 2>>>({a, b}, "x")'
    assert rewritten(code) == ('::fictl_emu::Configuration(1, 2).run("k", [=] { k({a, b}, "x"); })')


def test_the_name_of_a_kernel_may_have_quotes() -> None:
    assert '.run("k<\'x\', f(\\"y\\")>"' in rewritten("k<'x', f(\"y\")><<<1, 2>>>()")


def test_an_operator_is_no_launch() -> None:
    code = "cout.operator<<<int>(3)"
    assert is_operator(code, code.index("<<<"))


@pytest.mark.parametrize(
    "erased",
    [
        "(void*)k<float>",
        "(const void *)k",
        "(void const*)&k",
        "reinterpret_cast<void*>(k)",
        "reinterpret_cast<const void*>(&k<float>)",
        "static_cast<const void*>(k)",
    ],
)
def test_a_kernel_that_lost_its_type_gets_it_back(erased: str) -> None:
    kept = keep_types(f'::fictl_emu::launch_kernel("{erased}, 1", {erased}, 1)')
    assert kept.endswith(
        (", k<float>, 1)", ", k, 1)", ", &k, 1)", ", (k), 1)", ", (&k<float>), 1)")
    )


def test_a_kernel_with_its_type_stays() -> None:
    code = '::fictl_emu::launch_cooperative("k, 1", k, (void*)x)'
    assert keep_types(code) == code
