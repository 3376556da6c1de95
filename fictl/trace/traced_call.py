"""fictl_trace(api)(…): the definition of a call, without making the call."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from fictl.errors import UsageError
from fictl.paths import write_atomic
from fictl.trace.describe import definition
from fictl.trace.documents.definition import Definition
from fictl.trace.extract import axis_sizes, dtypes
from fictl.trace.template import TraceTemplate


def fictl_trace(api: Any, save_dir: str | Path | None = None) -> Callable[..., Definition]:
    """Describe calls of a public function, of a class with plan and run, or of an object's run.

    The result is called like it; arguments of plan() may be passed by keyword. `save_dir` stores
    the definition.
    """
    run = api if hasattr(api, "op") else getattr(api, "run", api)
    op = getattr(run, "op", None)
    if op is None:
        raise UsageError(
            f"{api!r} is not an op",
            "pass a function, or a class with plan and run, that @op declares",
        )

    def trace(*args: Any, **kwargs: Any) -> Definition:
        traced = of_call(op.template, op.api, _arguments(run, op.template, args, kwargs))
        if save_dir is not None:
            save(traced, Path(save_dir))
        return traced

    return trace


def of_call(template: TraceTemplate, api: str, arguments: Mapping[str, Any]) -> Definition:
    """Describe one call; `arguments` are by parameter, with defaults."""
    return definition(template, api, axis_sizes(template, arguments), dtypes(template, arguments))


def save(definition: Definition, folder: Path) -> Path:
    """Write `<folder>/<name>.json`, replacing a file of the same name."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{definition.name}.json"
    write_atomic(path, definition.to_json())
    return path


def _arguments(
    run: Callable[..., Any], template: TraceTemplate, args: tuple[Any, ...], given: dict[str, Any]
) -> dict[str, Any]:
    signature = inspect.signature(run)
    own = [p for name, p in signature.parameters.items() if name != "self"]
    names = {parameter.name for parameter in own}
    inputs = {template.parameter(name) for name in template.inputs}
    elsewhere = {k: v for k, v in given.items() if k in inputs - names}
    here = {k: v for k, v in given.items() if k not in elsewhere}
    try:
        bound = signature.replace(parameters=own).bind_partial(*args, **here)
    except TypeError as error:
        raise UsageError(f"{getattr(run, '__name__', run)}: {error}", str(signature)) from None
    bound.apply_defaults()
    # What is watched remembers what its plan() was given (fictl.op.watch.call).
    planned = getattr(getattr(run, "__self__", None), "_fictl_planned", {})
    return {**planned, **elsewhere, **bound.arguments}
