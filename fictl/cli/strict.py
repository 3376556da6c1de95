"""A command that refuses, before it runs, the texts that no option of any command can mean."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand

from fictl.cli.help_page import Sections, write_examples, write_options, write_sections
from fictl.errors import shown

_LONGEST = 10_000
PASSED_ON = "fictl.passed_on"


class StrictCommand(TyperCommand):
    """Every text that was given says something, has no control character, and an end.

    Its help ends with `examples`, command lines with what each is for, and with `tables` of what is here.
    With `passes_on`, the words after -- are for another program: PASSED_ON of the context's meta.
    """

    examples: Mapping[str, str] = {}
    passes_on = False
    tables: Callable[[], Sections] | None = None

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if self.passes_on and "--" in args:
            end = args.index("--")
            ctx.meta[PASSED_ON] = tuple(args[end + 1 :])
            args = args[:end]
        rest: list[str] = super().parse_args(ctx, args)
        for param in self.params:
            # Only what was written: an option that is left out may well be an empty text.
            if _source(ctx, param.name) == "COMMANDLINE":
                for text in _texts(ctx.params.get(param.name)):
                    _check(text, ctx, param)
        return rest

    def format_options(self, ctx: Any, formatter: Any) -> None:
        write_options(self, ctx, formatter)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        if self.tables:
            sections = self.tables().items()
            write_sections(formatter, {title: [*rows.items()] for title, rows in sections})
        if self.examples:
            write_examples(formatter, self.examples)


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
