"""`@op(tactics=…)`: what a call gets, tuned and untuned, and what it looks at to know."""

from __future__ import annotations

import inspect
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest
import torch

from fictl.errors import UsageError
from fictl.op import op
from fictl.op.tactics.tactics import Untuned
from fictl.op.tactics.tuning import paused, tuning
from fictl.trace import Tensor, TraceTemplate, Var

Declared = Callable[..., Any]


def _rows(count: int, dim: int = 64, **more: Any) -> torch.Tensor:
    return torch.zeros(count, dim, **more)


def _keep(function: Any, rows: torch.Tensor, index: int, **more: Any) -> None:
    """As if it had been tuned."""
    tactics = function.tactics
    call = tactics.untuned_call({**tactics.defaults, "q": rows, **more})
    tactics.forget()
    tactics.keep(call, call.candidates[index])


def test_untuned_a_call_gets_the_first(declared: Declared, split: Any) -> None:
    assert declared()(_rows(3)) == split(1)


def test_a_call_that_names_its_tactic_gets_it(declared: Declared, split: Any) -> None:
    assert declared()(_rows(3), tactic=split(4)) == split(4)


def test_the_signature_is_kept(declared: Declared) -> None:
    function = declared()
    assert inspect.signature(function) == inspect.signature(function.tactics.function)


def test_with_nothing_tuned_nothing_is_looked_up(
    declared: Declared, monkeypatch: pytest.MonkeyPatch
) -> None:
    function = declared()
    function(_rows(3))
    monkeypatch.setattr(function.tactics.keys, "of", pytest.fail)
    monkeypatch.setattr(function.tactics, "make", pytest.fail)
    function(_rows(300))


@pytest.mark.parametrize(("rows", "parts"), [(5, 4), (8, 4), (4, 1), (9, 1)])
def test_what_was_tuned_holds_up_to_a_power_of_two(
    rows: int, parts: int, declared: Declared, split: Any
) -> None:
    function = declared()
    _keep(function, _rows(7), 2)
    assert function(_rows(rows)) == split(parts)


def test_leading_dimensions_are_one_axis(declared: Declared, split: Any) -> None:
    function = declared()
    _keep(function, _rows(8), 1)
    assert function(torch.zeros(4, 2, 64)) == split(2)


@pytest.mark.parametrize("other", [_rows(8, 32), _rows(8, dtype=torch.float16)])
def test_another_const_axis_or_dtype_is_another_key(
    other: torch.Tensor, declared: Declared, split: Any
) -> None:
    function = declared()
    _keep(function, _rows(8), 1)
    assert function(other) == split(1)


def test_candidates_see_arguments_and_these_count(declared: Declared) -> None:
    function = declared(tactics=lambda scale: (scale, -scale))
    assert [function(_rows(1), 2.0), function(_rows(1), 3.0)] == [2.0, 3.0]
    _keep(function, _rows(1), 1, scale=2.0)
    assert [function(_rows(1), 2.0), function(_rows(1), 3.0)] == [-2.0, 3.0]


def test_a_tensor_of_another_library_gets_the_default(declared: Declared, split: Any) -> None:
    function = declared()
    _keep(function, _rows(8), 1)
    assert function(_rows(8).numpy()) == split(1)


def test_run_of_a_class_has_tactics(declared: Declared, split: Any) -> None:
    words = {"archs": ">=8.0", "dtypes": "f32", "mutates": "", "trace": declared().op.trace}

    class Prefill:
        @op(**words, tactics=lambda: (split(1), split(2)))
        def run(self, q: Any, tactic: Any = None) -> Any:
            return self, tactic

    prefill = Prefill()
    assert prefill.run(_rows(8)) == (prefill, split(1))
    _keep(Prefill.run, _rows(8), 1, self=prefill)
    assert prefill.run(_rows(8)) == (prefill, split(2))


def test_the_backend_is_chosen_first() -> None:
    def attend(q: Any, backend: str = "auto", tactic: Any = None) -> Any:
        return backend, tactic

    trace_of = op(
        archs=">=8.0",
        dtypes="f32",
        mutates="",
        backends={"sm80": ">=8.0"},
        tactics=lambda backend: (f"{backend}-small", f"{backend}-large"),
        trace=_trace(),
    )
    assert trace_of(attend)(_rows(2)) == ("sm80", "sm80-small")


def test_nobody_else_tunes_what_one_thread_tunes(declared: Declared, split: Any) -> None:
    function, seen = declared(), []

    def tuner(call: Untuned) -> Any:
        call.tactics.keep(call, split(8))
        return split(8)

    def call() -> None:
        seen.append(function(_rows(100)))

    with tuning(tuner):
        other = threading.Thread(target=call)
        other.start()
        other.join()
        assert function(_rows(3)) == split(8)
    assert seen == [split(1)]
    assert function(_rows(100)) == split(1)
    assert function(_rows(3)) == split(8)


def test_what_was_called_before_is_tuned_all_the_same(declared: Declared, split: Any) -> None:
    function = declared()
    function(_rows(3))
    with tuning(lambda call: split(2)):
        assert function(_rows(3)) == split(2)


def test_while_a_candidate_is_tried_nothing_else_is_tuned(declared: Declared, split: Any) -> None:
    function = declared()
    with tuning(lambda call: split(2)), paused():
        assert function(_rows(3)) == split(1)


@pytest.mark.parametrize("dynamic", [False, True])
def test_what_is_compiled_gets_what_is_known(dynamic: bool, declared: Declared, split: Any) -> None:
    function = declared()
    _keep(function, _rows(7), 2)
    torch.compiler.reset()
    compiled = torch.compile(
        lambda q: (q * 2, function(q).parts), fullgraph=True, backend="eager", dynamic=dynamic
    )
    with tuning(pytest.fail):
        assert [compiled(_rows(count))[1] for count in (7, 300, 5)] == [4, 1, 4]


def test_what_is_compiled_is_not_compiled_anew_for_what_others_remember(declared: Declared) -> None:
    function = declared()
    torch.compiler.reset()
    compiled = torch.compile(lambda q: (q * 2, function(q).parts), backend="eager")
    compiled(_rows(7))
    with torch._dynamo.config.patch(error_on_recompile=True):
        function(_rows(3))
        _keep(function, _rows(300), 1)
        assert compiled(_rows(7))[1] == 1


def test_untuned_a_call_costs_next_to_nothing(declared: Declared) -> None:
    """Instructions of Python, since a time would be that of a busy machine, too."""
    function, rows = declared(), _rows(3)
    function(rows)
    instructions = 0

    def count(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal instructions
        frame.f_trace_opcodes = True
        instructions += event == "opcode"
        return count

    def cost(call: Callable[..., Any]) -> int:
        nonlocal instructions
        instructions = 0
        traced = sys.gettrace()
        sys.settrace(count)
        try:
            call(rows)
        finally:
            sys.settrace(traced)
        return instructions

    assert cost(function) - cost(function.tactics.function) < 100


def test_tactics_without_their_parameter_are_an_error() -> None:
    with pytest.raises(UsageError, match="no parameter 'tactic'"):
        op(archs=">=8.0", dtypes="f32", mutates="", tactics=lambda: [1])(lambda q: q)


@pytest.mark.parametrize("given", [(), (1, 1), ({"a": 1}, {"a": 1})])
def test_candidates_are_some_and_differ(given: tuple[Any, ...], declared: Declared) -> None:
    with pytest.raises(UsageError, match="none twice"):
        declared(tactics=lambda: given)(_rows(1))


def test_candidates_take_what_the_function_takes(declared: Declared) -> None:
    with pytest.raises(UsageError, match="'heads'"):
        declared(tactics=lambda heads: [heads])


def _trace() -> TraceTemplate:
    return TraceTemplate(
        axes={"n": Var(""), "d": Var("")},
        inputs={"q": Tensor(("n", "d"))},
        outputs={},
        reference=lambda q: None,
    )
