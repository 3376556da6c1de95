from __future__ import annotations

import inspect
from typing import Any

import pytest

from fictl.arch import Arch
from fictl.errors import InvalidValue, UsageError
from fictl.op import Op, declaration, op

DECLARED = {"archs": ">=8.0", "dtypes": "f16", "mutates": "out"}


def scale(input: Any, factor: float, out: Any = None) -> Any:
    return out


def test_with_nothing_on_the_function_is_behind_a_look_at_its_arguments_and_no_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Why: in this process they may have been asked for while a test had switched something on.
    monkeypatch.setattr("fictl.op.decorator.observers", tuple)
    declared: Any = op(**DECLARED)(scale)
    assert declared.__wrapped__ is scale
    assert inspect.signature(declared) == inspect.signature(scale)
    assert (declared.__name__, declared.__module__) == (scale.__name__, scale.__module__)


def test_the_declaration_is_an_attribute_of_it() -> None:
    function = op(archs="9.0a 10.0f", dtypes="f16 bf16", mutates="out lse", uses="a b")(scale)
    declared: Op = function.op  # type: ignore[attr-defined]
    assert (declared.name, str(declared.archs)) == ("scale", "9.0a 10.0f")
    assert [dtype.name for dtype in declared.dtypes] == ["float16", "bfloat16"]
    assert (declared.mutates, declared.uses) == (("out", "lse"), ("a", "b"))
    assert declared.devices == ("cuda",)


def test_run_of_a_class_is_declared_by_the_name_of_its_class() -> None:
    class Prefill:
        @op(**DECLARED)
        def run(self, input: Any, out: Any = None) -> Any:
            return out

    assert declaration(Prefill).name == "Prefill"
    assert declaration(Prefill().run) is declaration(Prefill)


def test_what_is_no_op_has_no_declaration() -> None:
    with pytest.raises(UsageError, match="is not an op"):
        declaration(len)


@pytest.mark.parametrize(
    ("gpu", "runs"),
    [(Arch(9, 0), True), (Arch(8, 0), False), (Arch(10, 0), True), (Arch(10, 3), True)],
)
def test_it_knows_the_gpus_that_it_runs_on(gpu: Arch, runs: bool) -> None:
    function = op(archs="9.0a 10.0f", dtypes="f16", mutates="")(scale)
    assert function.op.supports(gpu) is runs  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"archs": ">=8.0 9x"}, "unknown architecture '9x'"),
        ({"dtypes": "f16 half"}, "unknown dtype 'half'"),
        ({"devices": "cuda tpu"}, r"unknown devices \['tpu'\]"),
    ],
)
def test_a_value_that_means_nothing_is_named(change: dict[str, str], message: str) -> None:
    with pytest.raises(InvalidValue, match=message):
        op(**{**DECLARED, **change})


def test_arguments_are_given_by_name() -> None:
    with pytest.raises(TypeError, match="positional"):
        op(">=8.0", "f16", "out")  # type: ignore[misc]


def test_what_is_written_is_always_said() -> None:
    with pytest.raises(TypeError, match="mutates"):
        op(archs=">=8.0", dtypes="f16")  # type: ignore[call-arg]
