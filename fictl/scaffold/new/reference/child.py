"""One call of a reference, in a process that it may take down.

The request says how to call it: with an example's text, or with tensors of given shapes.
"""

from __future__ import annotations

import ast
import inspect
import re
import runpy
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from fictl.child.program import leave_answer, request_in
from fictl.scaffold.new.reference.messages import ReferenceAnswer, ReferenceRequest

_ON_CUDA = re.compile(r"""(["'])cuda(?::\d+)?\1""")


class Asked(Exception):
    """The message of the child if it has no answer."""


def answer(job: Mapping[str, Any]) -> dict[str, Any]:
    path, name = job["path"], job["function"]
    try:
        names = runpy.run_path(path, run_name=Path(path).stem)
    except BaseException as error:
        raise Asked(f"cannot be imported: {_described(error, path)}") from error
    calls: list[dict[str, Any]] = []
    watched = _watched(names[name], calls)
    try:
        if job["example"]:
            _run_example(job["example"], {**names, **_torch(), name: watched})
        else:
            watched(**_arguments(job["arguments"]))
    except BaseException as error:
        raise Asked(f"cannot be called: {_described(error, path)}") from error
    if not calls:
        raise Asked(f"is not called by {job['example']!r}")
    return calls[-1]


def alone(job: Mapping[str, Any], call: Mapping[str, Any]) -> None:
    """Run the reference as the trace will."""
    try:
        names: dict[str, Any] = dict(_torch())
        exec(compile(job["standalone"], "trace.py", "exec"), names)  # noqa: S102  (theirs)
        given = {job["parameters"][name]: value for name, value in call["values"].items()}
        names["_reference"](**given)
    except BaseException as error:
        raise Asked(f"cannot be called alone: {_described(error, 'trace.py')}") from error


def _watched(function: Callable[..., Any], calls: list[dict[str, Any]]) -> Callable[..., Any]:
    signature = inspect.signature(function)

    def call(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        before = {name: _copied(value) for name, value in bound.arguments.items()}
        result = function(*bound.args, **bound.kwargs)
        given = {n: v for n, v in bound.arguments.items() if _differs(v, before[n])}
        calls.append(
            {
                "arguments": {n: _shown(v) for n, v in before.items()},
                "results": [_shown(item) for item in _listed(result)],
                "changed": sorted(given),
                "values": before,
            }
        )
        return result

    return call


def _run_example(text: str, names: dict[str, Any]) -> None:
    """Run an example on the CPU, whatever device its author used."""
    text = _ON_CUDA.sub("'cpu'", text).replace(".cuda(", ".cpu(")
    exec(compile(ast.parse(text), "<example>", "exec"), names)  # noqa: S102  (theirs)


def _arguments(wanted: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    import torch

    torch.manual_seed(0)
    arguments: dict[str, Any] = {}
    for name, spec in wanted.items():
        if "value" in spec:
            arguments[name] = spec["value"]
            continue
        dtype = getattr(torch, spec["dtype"])
        # Why zeros: an index into anything.
        make = torch.randn if dtype.is_floating_point else torch.zeros
        arguments[name] = make(spec["shape"]).to(dtype)
    return arguments


def _torch() -> dict[str, Any]:
    import torch

    return {"torch": torch}


def _copied(value: Any) -> Any:
    return value.clone() if hasattr(value, "clone") else value


def _differs(value: Any, before: Any) -> bool:
    import torch

    return isinstance(value, torch.Tensor) and not torch.equal(
        value.nan_to_num(), before.nan_to_num()
    )


def _listed(result: Any) -> list[Any]:
    return [*result] if isinstance(result, (tuple, list)) else [result]


def _shown(value: Any) -> dict[str, Any]:
    import torch

    if isinstance(value, torch.Tensor):
        return {"shape": [*value.shape], "dtype": str(value.dtype).removeprefix("torch.")}
    if isinstance(value, (bool, int, float)):
        return {"value": value}
    return {"other": type(value).__name__}


def _described(error: BaseException, path: str) -> str:
    """Describe an error, with the line of the author's file."""
    if isinstance(error, SyntaxError):
        return f"line {error.lineno}: {error.msg}"
    frames = traceback.extract_tb(error.__traceback__)
    line = next((f.lineno for f in reversed(frames) if f.filename == path), None)
    place = f"line {line}: " if line else ""
    return f"{place}{type(error).__name__}: {error}"


def main(arguments: Sequence[str]) -> int:
    request = request_in(arguments, ReferenceRequest)
    job = vars(request)
    try:
        call = answer(job)
        if not call["changed"]:
            alone(job, call)
        del call["values"]
        reply = ReferenceAnswer(call)
    except Asked as error:
        reply = ReferenceAnswer(error=str(error))
    leave_answer(arguments, reply)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
