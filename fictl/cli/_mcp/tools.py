"""The commands that are tools, each with the schema of its arguments, read from its declaration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from fictl.cli.numbers import Range
from fictl.errors import UsageError

# A document is always asked for, and other machines are their owner's to name.
_HIDDEN = frozenset({"json", "on"})
# Metavars of values that are read as text, so that a slash in them names no file.
_FREE_TEXT = frozenset({"CALL", "EXPR", "REGEX", "TEXT", "WORDS"})


@dataclass(frozen=True)
class Tool:
    """A command by the name that agents call it by. `writes`: files of the project."""

    name: str
    path: tuple[str, ...]
    writes: bool = False

    @cached_property
    def command(self) -> Any:
        """The parser of the command, which is imported now."""
        from fictl.cli import application

        command: Any = application()
        for name in self.path:
            command = command.commands[name]
        return command

    @cached_property
    def parameters(self) -> Mapping[str, Any]:
        """The arguments and options that an agent may give, by name."""
        shown = (param for param in self.command.params if param.name not in _HIDDEN)
        return {argument_name(param): param for param in shown}

    @property
    def description(self) -> str:
        """The help of the command, with its tables and its examples."""
        command = self.command
        tables = command.tables() if command.tables else {}
        listed = [f"{title}: {_rows(table)}." for title, table in tables.items()]
        examples = "; ".join(f"`{line}`" for line in command.examples)
        text = " ".join(str(command.help).split())
        return " ".join([text, *listed, f"In a terminal: {examples}."])

    def schema(self) -> dict[str, Any]:
        """Describe the arguments, as models expect it."""
        return {
            "type": "object",
            "properties": {name: _schema(param) for name, param in self.parameters.items()},
            "required": [name for name, param in self.parameters.items() if param.required],
            "additionalProperties": False,
        }


TOOLS: Mapping[str, Tool] = {
    tool.name: tool
    for tool in (
        Tool("new_op", ("new-op",), writes=True),
        Tool("list", ("list",)),
        Tool("check", ("check",)),
        Tool("build", ("build",)),
        Tool("test", ("test",), writes=True),
        Tool("sanitize", ("sanitize",), writes=True),
        Tool("bench", ("bench",), writes=True),
        Tool("inspect", ("inspect",)),
        Tool("explain", ("cache", "explain")),
        Tool("compile_solution", ("solution", "build")),
        Tool("run_solution", ("solution", "run")),
        Tool("profile_solution", ("solution", "profile"), writes=True),
        Tool("sanitize_solution", ("solution", "sanitize")),
    )
}


def _rows(table: Mapping[str, str]) -> str:
    return "; ".join(f"{name}: {line}" for name, line in table.items())


def find_tool(name: str) -> Tool:
    if name not in TOOLS:
        raise UsageError(f"there is no tool {name[:80]!r}", f"one of {', '.join(TOOLS)}")
    return TOOLS[name]


def argument_name(param: Any) -> str:
    """Name a parameter as its option is named: `dry_run`; one that has a letter only, in words."""
    longs = (name[2:] for name in param.opts if name.startswith("--"))
    return next(longs, str(param.name)).replace("-", "_")


def is_flag(param: Any) -> bool:
    return bool(getattr(param, "is_flag", False))


def is_list(param: Any) -> bool:
    return bool(getattr(param, "multiple", False)) or param.nargs == -1


def is_free_text(param: Any) -> bool:
    return param.metavar in _FREE_TEXT


def range_of(param: Any) -> Range | None:
    """Return the range of a number."""
    known = getattr(param.type, "func", None)
    return known if isinstance(known, Range) else None


def _schema(param: Any) -> dict[str, Any]:
    form = "" if is_flag(param) or range_of(param) else f" ({param.metavar})"
    described: dict[str, Any] = {"description": f"{param.help or ''}{form}".strip()}
    if is_list(param):
        return {"type": "array", "items": {"type": "string"}, **described}
    return {**dict(_kind(param)), **described}


def _kind(param: Any) -> Iterator[tuple[str, Any]]:
    limits = range_of(param)
    if is_flag(param):
        yield "type", "boolean"
    elif limits is not None:
        yield "type", "integer" if limits.whole else "number"
        yield "minimum", int(limits.low) if limits.whole else limits.low
        yield "maximum", int(limits.high) if limits.whole else limits.high
    else:
        yield "type", "string"
    if param.default not in (None, "", False) and not callable(param.default):
        is_plain = isinstance(param.default, bool | int | float | str)
        yield "default", param.default if is_plain else str(param.default)
