"""JSON schemas of the tools' arguments, as language models expect them for function calls."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

from fictl.judge.tools.compiling import compile_solution
from fictl.judge.tools.profiling import profile_solution
from fictl.judge.tools.running import run_solution
from fictl.judge.tools.sanitizing import sanitize_solution

TOOLS: tuple[Callable[..., dict[str, Any]], ...] = (
    compile_solution,
    run_solution,
    profile_solution,
    sanitize_solution,
)

_DOCUMENT = {"type": ["string", "object"]}
_PARAMETERS: dict[str, dict[str, Any]] = {
    "solution": {**_DOCUMENT, "description": "a file of a Solution, or the Solution itself"},
    "definition": {
        **_DOCUMENT,
        "description": "its Definition: a file, a name in the dataset, or the document; left out, "
        "the one that the solution names",
    },
    "workload": {
        **_DOCUMENT,
        "description": "the beginning of a uuid in the dataset, or a Workload; left out, the first",
    },
    "axes": {
        "type": "object",
        "additionalProperties": {"type": "integer", "minimum": 0},
        "description": "sizes of the variable axes, for a workload of random inputs",
    },
    "device": {"type": "string", "enum": ["cuda", "emu", "cpu"], "description": "where it runs"},
    "dataset": {"type": "string", "description": "the folder of the dataset"},
    "untrusted": {
        "type": "boolean",
        "description": "refuse to run it if this machine cannot sandbox it",
    },
    "iterations": {"type": "integer", "minimum": 1, "description": "number of timed calls"},
    "timeout": {"type": "number", "exclusiveMinimum": 0, "description": "seconds to wait"},
    "seed": {"type": "integer", "minimum": 0, "description": "seed of the random inputs"},
    "kernel": {"type": "string", "description": "a regular expression of kernels' names"},
    "set": {"type": "string", "description": "ncu's set of metrics: basic, detailed or full"},
    "out": {"type": "string", "description": "the folder for ncu's report"},
    "tools": {
        "type": "array",
        "items": {"type": "string", "enum": ["memcheck", "racecheck", "initcheck", "synccheck"]},
        "description": "tools to run on a GPU; all of them by default",
    },
}


def tools_schema() -> list[dict[str, Any]]:
    """One entry for each tool: name, description, and the schema of its arguments."""
    return [*map(_entry, TOOLS)]


def _entry(tool: Callable[..., Any]) -> dict[str, Any]:
    signature = inspect.signature(tool).parameters
    return {
        "name": tool.__name__,
        "description": " ".join((inspect.getdoc(tool) or "").split()),
        "input_schema": {
            "type": "object",
            "properties": dict(_properties(signature.values())),
            "required": [
                n for n, parameter in signature.items() if parameter.default is parameter.empty
            ],
            "additionalProperties": False,
        },
    }


def _properties(parameters: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    for parameter in parameters:
        schema = _PARAMETERS[parameter.name]
        has_default = parameter.default not in (parameter.empty, None, "", ())
        yield parameter.name, {**schema, "default": parameter.default} if has_default else schema
