"""Views of answers about a solution."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from fictl.printable import printable

if TYPE_CHECKING:
    from rich.console import Console

_MOST_LINES = 30


def mark(ok: bool) -> str:
    return "[green]✓[/]" if ok else "[red]✗[/]"


def headline(out: Console, answer: Mapping[str, Any], *more: str) -> None:
    from rich.markup import escape

    parts = [f"[bold]{answer['status']}[/]", escape(str(answer["solution"])), *map(escape, more)]
    out.print(f"{mark(answer['ok'])} {'  '.join(filter(None, parts))}", soft_wrap=True)


def where(device: str) -> str:
    return "emulated: no GPU was used" if device == "emu" else device


def sizes(answer: Mapping[str, Any]) -> str:
    return " ".join(f"{name}={size}" for name, size in (answer["axes"] or {}).items())


def problem(out: Console, failure: Mapping[str, Any]) -> None:
    """The first error with its place in the solution's sources, then what else was said."""
    for line in problem_lines(failure):
        out.print(f"  {printable(line)}", markup=False, soft_wrap=True)


def problem_lines(failure: Mapping[str, Any]) -> Iterator[str]:
    error = failure.get("error")
    if error:
        place = ":".join(str(error[n]) for n in ("file", "line", "column") if error[n])
        yield f"{place}: {error['text']}" if place else error["text"]
    if failure.get("hint"):
        yield from (f"hint: {failure['hint']}").splitlines()


def log(out: Console, text: str) -> None:
    """Its end: the whole is in --json."""
    lines = printable(text.strip()).split("\n")
    if len(lines) > _MOST_LINES:
        out.print(f"  … {len(lines) - _MOST_LINES} lines above", style="dim")
    for line in lines[-_MOST_LINES:]:
        out.print(f"  {line}", markup=False, style="dim", soft_wrap=True)
