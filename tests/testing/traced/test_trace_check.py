from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fictl.case.definitions import Traced, traced
from fictl.project import find
from fictl.testing.traced.trace_check import TraceFinding, check, update_definitions

_TRACE = """from fictl.trace import Const, Expr, Scalar, Tensor, TraceTemplate, Var

twice = TraceTemplate(
    axes={axes},
    inputs={inputs},
    outputs={{"out": Tensor(())}},
    reference={reference},
    validate={validate},
)
"""


@pytest.fixture
def found(tiny: Path) -> Callable[..., list[TraceFinding]]:
    """What is found in a project whose trace.py is this."""

    def run(
        axes: str = "{}",
        inputs: str = '{"input": Scalar("int32", 3)}',
        reference: str = "lambda input: input * 2",
        validate: str = "None",
    ) -> list[TraceFinding]:
        path = tiny / "kernels" / "elementwise" / "twice" / "trace.py"
        path.write_text(
            _TRACE.format(axes=axes, inputs=inputs, reference=reference, validate=validate)
        )
        return [finding for finding in check(twice()) if finding.kind == "inconsistent"]

    return run


def twice() -> Traced:
    (op,) = traced(find("twice"))
    return op


def test_a_trace_that_fits_has_no_finding(found: Callable[..., list[TraceFinding]]) -> None:
    assert found() == []


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"inputs": '{"source": Scalar("int32")}'}, "the input source is not a parameter of twice"),
        ({"inputs": "{}"}, "makes no definition: inputs"),
        ({"axes": '{"n": Const("")}'}, "no input tells the size of the axis n"),
        ({"reference": "lambda input: missing(input)"}, "does not run by itself: NameError"),
        ({"axes": '{"n": Expr("1 +", "")}'}, "trace: '1 +' is not an expression"),
        ({"reference": "divmod"}, "has no source"),
        ({"validate": "lambda input: int('x')"}, "its own validate refuses the inputs of twice-1"),
    ],
)
def test_what_does_not_fit_is_found(
    found: Callable[..., list[TraceFinding]], changes: dict[str, str], said: str
) -> None:
    assert said in " | ".join(finding.text for finding in found(**changes))


def test_a_case_of_another_dtype_and_no_case_are_found(
    tiny: Path, found: Callable[..., list[TraceFinding]]
) -> None:
    bench = tiny / "kernels" / "elementwise" / "twice" / "bench.py"
    bench.write_text(bench.read_text().replace('"int32"', '"float16"'))
    assert [finding.text for finding in found()] == ["a case is for float16, the op for i32"]


def test_an_op_without_cases_is_found(tiny: Path, found: Callable[..., list[TraceFinding]]) -> None:
    bench = tiny / "kernels" / "elementwise" / "twice" / "bench.py"
    bench.write_text("def cases():\n    return []\n")
    assert [finding.text for finding in found()] == ["bench.py has no case of it"]


def test_files_are_missing_then_there_then_differ_then_stale(tiny: Path) -> None:
    op = twice()
    (missing,) = check(op)
    assert (missing.kind, missing.path) == ("missing", op.place / "twice.json")
    assert update_definitions([missing]) == [missing.path]
    assert list(check(op)) == []

    stale = op.place / "thrice.json"
    (op.place / "twice.json").rename(stale)
    kinds = {finding.path: finding.kind for finding in check(op)}
    assert kinds == {op.place / "twice.json": "missing", stale: "stale"}
    update_definitions(check(op))
    assert [path.name for path in op.place.iterdir()] == ["twice.json"]


def test_a_file_that_differs_is_shown_as_a_diff(tiny: Path) -> None:
    op = twice()
    update_definitions(check(op))
    path = op.place / "twice.json"
    path.write_text(path.read_text().replace("int32", "int64"))
    (differs,) = check(op)
    assert differs.kind == "differs"
    assert '-      "dtype": "int64"' in differs.diff
    assert '+      "dtype": "int32"' in differs.diff
