"""The command line of a tool's call: what agents send is checked before any process starts."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from fictl.cli._mcp.tools import Tool, is_flag, is_free_text, is_list
from fictl.errors import InvalidValue, UsageError, shown
from fictl.paths import real

# The system takes little more as one word of a command line.
_LARGEST = 100_000
# Where a part of a value may begin that names a file, as in `reference.py:f` and `a.json,b.json`.
_SEPARATORS = re.compile(r"[,;:=\s]+")


def command_line(tool: Tool, arguments: Mapping[str, Any], project: Path) -> list[str]:
    """Return the words after `fictl`: options as `--name=value`, which no value can break out of."""
    _check(tool, arguments)
    options: list[str] = []
    names: list[str] = []
    for name, value in arguments.items():
        param = tool.parameters[name]
        for text in _texts(param, value):
            if not (is_free_text(param) or is_flag(param)):
                _refuse_outside(name, text, project)
            if param.param_type_name == "argument":
                names.append(_not_an_option(name, text))
            else:
                options.append(text if is_flag(param) else _option(param, text))
    return [*tool.path, "--json", *options, *names]


def _check(tool: Tool, arguments: Mapping[str, Any]) -> None:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    if sum(len(str(value)) for value in arguments.values()) > _LARGEST:
        raise InvalidValue(f"{tool.name}: the arguments are longer than {_LARGEST} characters")
    problem = best_match(Draft202012Validator(tool.schema()).iter_errors(dict(arguments)))
    if problem is not None:
        where = ".".join(map(str, problem.absolute_path))
        raise InvalidValue(
            f"{tool.name}: {f'{where}: ' if where else ''}{shown(problem.message)}",
            f"its arguments are {', '.join(tool.parameters)}",
        )


def _texts(param: Any, value: Any) -> Iterator[str]:
    """Yield each value as a word; of a flag, the option that says it."""
    if is_flag(param):
        named = param.opts if value else param.secondary_opts
        yield from named[:1] if value != param.default else ()
    elif is_list(param):
        yield from value
    else:
        yield str(value)


def _option(param: Any, text: str) -> str:
    long = next((name for name in param.opts if name.startswith("--")), "")
    # A single letter takes what follows it as its value, whatever that is.
    return f"{long}={text}" if long else f"{param.opts[0]}{text}"


def _not_an_option(name: str, text: str) -> str:
    if text.startswith("-"):
        raise UsageError(
            f"{name}: '{shown(text)}' begins with a dash, as options do",
            "an option is an argument of the tool, by its name",
        )
    return text


def _refuse_outside(name: str, text: str, project: Path) -> None:
    """Refuse a value that names, whole or in part, a file outside of the project, through links too."""
    if "\0" in text:
        raise UsageError(f"{name}: a value has a null character in it", "leave it out")
    top = real(project)
    for part in {text, *_SEPARATORS.split(text)}:
        place = real(Path(os.path.join(top, os.path.expanduser(part))))
        if place != top and top not in place.parents:
            raise UsageError(
                f"{name}: '{shown(part)}' is outside of the project {top}",
                "name a file in it; the server was started there, or with --project",
            )
