"""Test lists: files of `fictl bench` command lines, with comments, run as one."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from fictl.cli._bench.request import BenchLine
from fictl.cli.group import as_command
from fictl.errors import FictlError, UsageError, unreadable
from fictl.paths import friendly
from fictl.user_file import read_text

# They are of the whole list: what is written, shown and run on.
_OF_THE_LIST = (
    "test_list",
    "save",
    "out",
    "csv",
    "jsonl",
    "plot",
    "device",
    "dry_run",
    "json",
)


def requests_of(
    path: Path, command: Callable[..., None]
) -> tuple[list[BenchLine], list[FictlError]]:
    """The lines that can be read, and an error with its number for each of the others."""
    try:
        text = read_text(path)
    except OSError as error:
        raise unreadable(path, error) from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} cannot be read: it is not UTF-8 text") from error
    requests: list[BenchLine] = []
    errors: list[FictlError] = []
    for number, line in _lines(text):
        place = f"{friendly(path)}:{number}"
        try:
            requests.append(_request(line, place, command))
        except FictlError as error:
            errors.append(type(error)(f"{place}: {error.message}", error.hint))
    if not (requests or errors):
        raise UsageError(f"{path} has no command line", "as in: fictl bench rmsnorm --dtype bf16")
    return requests, errors


def _lines(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            yield number, line


def _request(line: str, place: str, command: Callable[..., None]) -> BenchLine:
    try:
        words = shlex.split(line, comments=True)
    except ValueError as error:
        raise UsageError(f"{line.strip()!r} cannot be read: {error}") from error
    begun = next(
        (begin for begin in (["fictl", "bench"], ["bench"]) if words[: len(begin)] == begin), []
    )
    flags = _parsed(words[len(begun) :], command)
    alien = [name for name in _OF_THE_LIST if flags[name] not in (None, "", False)]
    if alien:
        names = ", ".join(f"--{name.removeprefix('test_').replace('_', '-')}" for name in alien)
        raise UsageError(f"{names} in a line of a list", "give it beside --list, for all lines")
    return BenchLine.of(flags, place)


def _parsed(words: list[str], command: Callable[..., None]) -> dict[str, Any]:
    try:
        context = as_command(command).make_context("fictl bench", words)
    except Exception as error:
        # As in fictl.cli: the class that Typer's errors share moves from release to release.
        if not hasattr(error, "format_message"):
            raise
        raise UsageError(
            error.format_message(), "fictl bench --help shows what it takes"
        ) from error
    return dict(context.params)
