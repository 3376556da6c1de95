"""A public function or class bound to its inputs: `plan` and `run` without arguments."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from fictl.errors import InvalidValue
from fictl.op.declared import declaration


def bind(api: Any, inputs: Mapping[str, Any]) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """Return plan and run. `inputs`, by parameter, has the arguments of both together.

    The plan of a function does nothing. If its trace has `bind`, that is used instead.
    """
    op = declaration(api)
    if op.template.bind is not None:
        return op.template.bind(dict(inputs))
    if not inspect.isclass(api):
        _check(op.name, inputs, _parameters(api))
        return _nothing, lambda: api(**inputs)
    instance: Any = api()
    steps = (getattr(instance, "plan", _nothing), instance.run)
    _check(op.name, inputs, {k: v for step in steps for k, v in _parameters(step).items()})
    plan, run = (_given(step, inputs) for step in steps)
    return plan, run


def _nothing() -> None:
    """Do nothing: the plan of a function."""


def _given(step: Callable[..., Any], inputs: Mapping[str, Any]) -> Callable[[], Any]:
    """Bind the step to those inputs that it takes."""
    arguments = {name: inputs[name] for name in _parameters(step) if name in inputs}
    return lambda: step(**arguments)


def _parameters(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    return dict(inspect.signature(function).parameters)


def _check(op: str, inputs: Mapping[str, Any], known: Mapping[str, inspect.Parameter]) -> None:
    unknown = [name for name in inputs if name not in known]
    if unknown:
        raise InvalidValue(f"{op} has no parameter {_list(unknown)}", f"it has {', '.join(known)}")
    empty = inspect.Parameter.empty
    missing = [
        name
        for name, parameter in known.items()
        if name not in inputs and parameter.default is empty
    ]
    if missing:
        raise InvalidValue(
            f"{op} lacks the input {_list(missing)}", f"given are {', '.join(inputs) or 'none'}"
        )


def _list(names: list[str]) -> str:
    return ", ".join(map(repr, names))
