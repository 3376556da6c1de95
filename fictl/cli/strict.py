"""A command that refuses, before it runs, the texts that no option of any command can mean."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand

from fictl.errors import shown

_LONGEST = 10_000


class StrictCommand(TyperCommand):
    """Every text that was given says something, has no control character, and an end."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        rest: list[str] = super().parse_args(ctx, args)
        for param in self.params:
            # Only what was written: an option that is left out may well be an empty text.
            if _source(ctx, param.name) == "COMMANDLINE":
                for text in _texts(ctx.params.get(param.name)):
                    _check(text, ctx, param)
        return rest


def _source(ctx: Any, name: str | None) -> str:
    source = ctx.get_parameter_source(name)
    return source.name if source is not None else ""


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, Path):
        yield str(value)
    elif isinstance(value, str):
        yield value


def _check(text: str, ctx: Any, param: Any) -> None:
    problem = _problem(text)
    if problem:
        raise typer.BadParameter(f"'{shown(text)}' {problem}", ctx=ctx, param=param)


def _problem(text: str) -> str:
    if not text.strip():
        return "is empty; leave the option out"
    if len(text) > _LONGEST:
        return f"is longer than {_LONGEST} characters"
    control = next(
        (character for character in text if ord(character) < 32 or ord(character) == 127), None
    )
    return f"has the control character {control!r}" if control else ""
