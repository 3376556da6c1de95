"""All that the command line prints: results on stdout, everything else on stderr."""

from __future__ import annotations

import json
import re
import shutil
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import typer

from fictl.errors import ErrorDocument, FictlError
from fictl.redact import hide_secrets
from fictl.setting import wants_colours

if TYPE_CHECKING:
    from rich.console import Console

_LONGEST_LINE = 1000
_COMMAND = re.compile(r"(\$|fictl|pip|export|FICTL_\w+=\S*) ")
_CODES = {"bold": 1, "dim": 2, "green": 32, "yellow": 33}


@dataclass(frozen=True)
class Table:
    """Rows of text. `styles` colours a cell that is, or begins with, one of its words."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    styles: Mapping[str, str] = field(default_factory=dict)


View: TypeAlias = "str | Table | Callable[[Console], None]"


@dataclass(frozen=True)
class Result:
    """The result of a command: `data` for --json, `view` for people, an exit code."""

    data: Any
    view: View
    exit_code: int = 0
    error: FictlError | None = None

    @classmethod
    def among(cls, errors: Sequence[FictlError], data: Any, view: View) -> Result:
        """Make the result of several things, some of which failed: the worst exit code, the first error."""
        code = max((error.exit_code for error in errors), default=0)
        return cls(data, view, code, next(iter(errors), None))


@dataclass
class _Output:
    json: bool = False
    command: str = "fictl"
    consoles: dict[bool, Any] = field(default_factory=dict)


_output = _Output()


def begin(command: str, as_json: bool) -> None:
    """Say which command runs and how it answers, before anything can fail."""
    _output.command, _output.json = command, as_json
    _output.consoles.clear()


def console(stderr: bool = False) -> Console:
    """Return the console of a stream; on a pipe it is as wide as its lines, so that none is cut."""
    if stderr not in _output.consoles:
        from rich.console import Console

        stream = sys.stderr if stderr else sys.stdout
        width = None if stream.isatty() else 400
        _output.consoles[stderr] = Console(stderr=stderr, width=width, highlight=False)
    stream_console: Console = _output.consoles[stderr]
    return stream_console


def is_terminal() -> bool:
    """Return true where results are shown on a screen."""
    return sys.stdout.isatty()


def width() -> int:
    """Columns of the terminal."""
    return shutil.get_terminal_size().columns


def styled(text: str, style: str) -> str:
    """Colour text of a result, where that is shown on a terminal that wants colours."""
    is_plain = not (style and is_terminal() and wants_colours())
    return text if is_plain else f"\x1b[{_CODES[style]}m{text}\x1b[0m"


def show(result: Result) -> None:
    """Print a result and leave with its exit code."""
    if _output.json:
        _document(ok=result.exit_code == 0, data=result.data, error=result.error)
    elif callable(result.view):
        result.view(console())
    else:
        _write(result.view)
    # Why: a reader that went away is noticed here, not when the interpreter ends.
    sys.stdout.flush()
    if result.exit_code:
        raise typer.Exit(result.exit_code)


def fail(error: FictlError) -> int:
    """Print an error; its exit code."""
    if _output.json:
        _document(ok=False, error=error)
    else:
        problem(error)
    return error.exit_code


def problem(error: FictlError) -> None:
    labelled("[bold red]error:[/]", error.message)
    if error.hint:
        labelled("  [bold]hint:[/]", error.hint)


def labelled(label: str, text: str) -> None:
    """Print a text for people on stderr, after a label with markup."""
    from rich.text import Text

    out = console(stderr=True)
    indent = len(Text.from_markup(label)) + 1
    out.print(label, end=" ")
    out.print(wrapped(_cut(hide_secrets(text)), indent, out), markup=False, soft_wrap=True)


def wrapped(text: str, indent: int, out: Console) -> str:
    """Wrap, on a terminal, text that begins at column `indent` at words, below its beginning.

    A long word, as a path, is left whole, and so is a line to be pasted into a shell.
    """
    if not out.is_terminal:
        return text
    first, *others = text.split("\n")
    return "\n".join([_filled(first, indent, out), *(_filled(line, 0, out) for line in others)])


def _filled(line: str, column: int, out: Console) -> str:
    indent = " " * (column or len(line) - len(line.lstrip()))
    if _COMMAND.match(line) or len(indent) + 20 > out.width:
        return line
    lines = textwrap.wrap(
        line.strip(), out.width - len(indent), break_long_words=False, break_on_hyphens=False
    )
    begun = "" if column else indent
    return begun + f"\n{indent}".join(lines)


def _cut(text: str) -> str:
    """Shorten very long lines in the middle."""
    half = _LONGEST_LINE // 2
    lines = text.split("\n")
    return "\n".join(
        line if len(line) <= _LONGEST_LINE else f"{line[:half]} … {line[-half:]}" for line in lines
    )


def warn(text: str) -> None:
    """Something that is wrong and stops nothing."""
    labelled("[bold yellow]warning:[/]", text)


def note(text: str) -> None:
    """Something on the way, for people: never on stdout."""
    from rich.text import Text

    console(stderr=True).print(Text.from_ansi(hide_secrets(text)), soft_wrap=True)


def _document(ok: bool, data: Any = None, error: FictlError | None = None) -> None:
    shown = error and described(error)
    document = {"schema": f"{_output.command}/1", "ok": ok, "data": data, "error": shown}
    sys.stdout.write(json.dumps(document, default=str) + "\n")


def described(error: FictlError) -> ErrorDocument:
    """Return an error as documents have it, without secrets."""
    message, hint = hide_secrets(error.message), hide_secrets(error.hint)
    return {"code": error.code, "message": message, "hint": hint}


def _write(view: str | Table) -> None:
    if isinstance(view, Table):
        print_table(view)
    else:
        sys.stdout.write(view + "\n")


def print_table(view: Table) -> None:
    """Drawn on a terminal, aligned on a pipe."""
    if not sys.stdout.isatty():
        sys.stdout.write("\n".join(_aligned(view)) + "\n")
        return
    from rich.table import Table as RichTable
    from rich.text import Text

    table = RichTable(*view.columns, box=None, pad_edge=False, header_style="bold")
    for row in view.rows:
        styles = (view.styles.get(cell.partition(" ")[0], "") for cell in row)
        table.add_row(*map(Text, row, styles))
    console().print(table)


def _aligned(view: Table) -> list[str]:
    """Plain text without rich, which takes longer to import than 80 ops to list."""
    lines = [view.columns, *view.rows]
    widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
    padded = ([cell.ljust(w) for cell, w in zip(line, widths, strict=True)] for line in lines)
    return ["  ".join(line).rstrip() for line in padded]
