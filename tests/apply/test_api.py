"""apply as a decorator and as a function, off and on."""

from __future__ import annotations

import types
from pathlib import Path
from typing import Any

import pytest
import torch

from fictl.apply import ApplyRuntime, apply, disable_apply, enable_apply
from fictl.errors import FictlError

from .samples import FAST, SLOW, contest


def fallback(*args: Any, **kwargs: Any) -> Any:
    return "fallback", args, kwargs


def test_off_the_fallback_gets_the_arguments_as_they_are() -> None:
    assert apply("d", args=(1,), kwargs={"y": 2}, fallback=fallback) == ("fallback", (1,), {"y": 2})
    assert apply("d", kwargs={"y": 2}, fallback=fallback) == ("fallback", (), {"y": 2})


def test_off_without_a_fallback_it_raises() -> None:
    with pytest.raises(RuntimeError, match="apply is off"):
        apply("d", args=(1,))


def test_off_a_decorated_function_is_itself() -> None:
    @apply(lambda a, b: 1 / 0)
    def f(a: int, b: int) -> int:
        """Add."""
        return a + b

    assert f(2, 3) == 5
    assert (f.__name__, f.__doc__) == ("f", "Add.")
    assert isinstance(f.__wrapped__, types.FunctionType)
    with pytest.raises(TypeError):
        f(1, 2, 3)
    with pytest.raises(TypeError):
        f(1, a=2)


def test_on_the_resolver_gets_the_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Any] = []

    class Recording:
        def dispatch(self, *call: Any) -> str:
            calls.append(call)
            return "dispatched"

    monkeypatch.setattr(ApplyRuntime, "_stack", [Recording()])

    @apply(lambda a, b: f"sum_{a}_{b}")
    def f(a: int, b: int) -> int:
        return a + b

    assert f(7, b=9) == "dispatched"
    assert calls == [("sum_7_9", (7,), {"b": 9}, f.__wrapped__)]


def test_a_dataset_serves_decorated_functions(tmp_path: Path) -> None:
    contest(tmp_path / "ds")

    @apply("add")
    def add(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return a + b

    def mark(m: int) -> float:
        return float(add(torch.ones(m, 4), torch.ones(m, 4))[0, 0]) - 2

    with enable_apply(tmp_path / "ds"):
        assert [mark(2), mark(3), mark(4)] == [FAST, SLOW, 0]
        assert add.explain(torch.ones(2, 4), torch.ones(2, 4)).solution == "add_fast"
    assert mark(2) == 0
    assert "apply is off" in add.explain(torch.ones(2, 4), torch.ones(2, 4)).why


def test_switching_off_restores_the_one_before(tmp_path: Path) -> None:
    contest(tmp_path / "ds")
    outer = enable_apply(tmp_path / "ds")
    enable_apply(tmp_path / "ds")
    disable_apply()
    assert ApplyRuntime.current() is outer
    disable_apply()
    disable_apply()
    assert ApplyRuntime.current() is None


def test_no_dataset_is_taken_that_nobody_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    contest(tmp_path / "ds")
    monkeypatch.setenv("FICTL_DATASET_PATH", str(tmp_path / "ds"))
    with pytest.raises(FictlError, match="no dataset is named"):
        enable_apply()
    monkeypatch.setenv("FICTL_APPLY", str(tmp_path / "ds"))
    with enable_apply() as runtime:
        assert runtime.dataset.root == tmp_path / "ds"
    with pytest.raises(FictlError, match="is not a folder"):
        enable_apply(tmp_path / "none")


def test_a_compiled_graph_has_the_function_itself(tmp_path: Path) -> None:
    contest(tmp_path / "ds")

    @apply("add")
    def add(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return a + b

    compiled = torch.compile(add, backend="eager", fullgraph=True)
    with enable_apply(tmp_path / "ds"):
        assert float(compiled(torch.ones(2, 4), torch.ones(2, 4))[0, 0]) == 2
