"""`@op(backends=…)`: one declaration, the choice handed over, remembered by what it depends on."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
import torch

from fictl.errors import InvalidValue, UsageError
from fictl.op import op
from fictl.trace import Const, Tensor, TraceTemplate, Var

TRACE = TraceTemplate(
    axes={"n": Var("rows"), "d": Const("head")},
    inputs={"q": Tensor(("n", "d"))},
    outputs={"out": Tensor(("n", "d"), dtype_from="q")},
    reference=lambda q: q,
)
SMALL, LARGE = torch.zeros(2, 64), torch.zeros(2, 512)


@pytest.fixture(autouse=True)
def emulated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FICTL_DEVICE", "emu")


def attend(q: Any, scale: float = 1.0, backend: str = "auto", *, out: Any = None) -> Any:
    return backend


def declared(**said: Any) -> Any:
    backends = {"sm100": "10.0a", "small": ">=8.0", "any": ">=7.5"}
    return op(**{"backends": backends, "dtypes": "f32", "mutates": "out", "trace": TRACE, **said})(
        attend
    )


def short(q: Any) -> Any:
    return q.shape[-1] <= 256 or "head_dim is above 256"


def test_the_first_that_can_is_handed_over() -> None:
    function = declared(checks={"small": short})
    assert [function(SMALL), function(LARGE), function(SMALL, 2.0, out=SMALL)] == [
        "small",
        "any",
        "small",
    ]


def test_the_op_runs_on_what_one_of_its_backends_runs_on() -> None:
    function = declared(backends={"a": "10.0a", "b": "10.0f"})
    assert function.op.supports(function.op.archs.clauses[0].exact.plain)
    assert function.is_compute_capability_supported(103)
    assert not function.is_compute_capability_supported(80)


def test_a_backend_asked_for_is_refused_with_its_reason() -> None:
    with pytest.raises(
        ValueError, match=r"'sm100' \(asked for.*runs on 10.0a, and the emulated device is 9.0"
    ):
        declared()(SMALL, backend="sm100")


def test_where_none_can_every_reason_is_said() -> None:
    function = declared(backends={"sm100": "10.0a", "small": ">=8.0"}, checks={"small": short})
    with pytest.raises(ValueError, match=r"no backend runs(.|\n)*10\.0a(.|\n)*head_dim is above"):
        function(LARGE)


def test_a_heuristic_orders_those_that_can() -> None:
    function = declared(heuristic=lambda suitable, scale: sorted(suitable))
    assert function(SMALL) == "any"


def test_a_heuristic_that_leaves_nothing_is_named() -> None:
    with pytest.raises(UsageError, match="prefers"):
        declared(heuristic=lambda suitable: ["sm100"])(SMALL)


def test_a_check_runs_once_for_calls_that_differ_in_a_var_axis_only() -> None:
    seen = []

    def watching(q: Any) -> bool:
        seen.append(tuple(q.shape))
        return True

    function = declared(check=watching)
    for rows, dim in ((1, 64), (2, 64), (3, 64), (3, 128)):
        function(torch.zeros(rows, dim))
    function(torch.zeros(4, 64, dtype=torch.float64))
    assert seen == [(1, 64), (3, 128), (4, 64)]


def test_validated_a_check_of_a_var_axis_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FICTL_VALIDATE_INPUTS", "1")
    function = declared(checks={"small": lambda q: q.shape[0] < 3})
    assert function(torch.zeros(2, 64)) == "small"
    with pytest.raises(UsageError, match="differ in a Var axis only"):
        function(torch.zeros(3, 64))


def test_the_signature_and_defaults_are_kept() -> None:
    function = declared()
    assert inspect.signature(function) == inspect.signature(attend)
    with pytest.raises(TypeError, match="positional"):
        function(SMALL, 1.0, "auto", None)


def test_it_is_traced_whole() -> None:
    function = declared(checks={"small": short})
    compiled = torch.compile(lambda q: (q * 2, function(q)), fullgraph=True, backend="eager")
    assert [compiled(SMALL)[1], compiled(LARGE)[1]] == ["small", "any"]


def test_a_numpy_array_is_on_the_emulated_device() -> None:
    assert declared(checks={"small": short})(SMALL.numpy()) == "small"


def test_run_of_a_class_gets_its_backend() -> None:
    class Prefill:
        @op(backends={"a": ">=8.0"}, dtypes="f32", mutates="", trace=TRACE)
        def run(self, q: Any, backend: str = "auto") -> Any:
            return self, backend

    prefill = Prefill()
    assert prefill.run(SMALL) == (prefill, "a")
    assert prefill.run.explain(SMALL).backend == "a"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"checks": {"sm75": short}}, "checks of sm75, which is not a backend"),
        ({"backends": {"auto": ">=8.0"}}, "'auto' cannot name a backend"),
        ({"backends": {}}, "lacks archs"),
        ({"backends": {"a": "9x"}}, "unknown architecture '9x'"),
    ],
)
def test_a_wrong_declaration_is_said(said: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidValue, match=message):
        declared(**said)
