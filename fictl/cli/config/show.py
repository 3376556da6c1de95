"""fictl config show: every setting, its value and who decided it."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from fictl.cli import console
from fictl.cli.options import Archs, Json, Verbose
from fictl.errors import UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from fictl.builds.configuration import Configuration, SettingRow

_WHO = {"flag": "cyan", "environment": "green", "file": "green", "unreadable": "red"}


EXAMPLES = {
    "fictl config show": "what is in force here, and where it is from",
    "fictl config show --json": "for a program",
}


def command(arch: Archs = "", verbose: Verbose = False, json: Json = False) -> None:
    """Show every setting: value, default, and whether a flag, a variable or a file decided it."""
    from fictl import settings
    from fictl.builds.configuration import configuration

    if arch:
        settings.CUDA_ARCH_LIST.set_by_flag("--arch", arch)
    if verbose:
        settings.JIT_VERBOSE.set_by_flag("--verbose", "1")
    current = configuration()
    problems = [UsageError(row.problem, row.doc) for row in current.settings if row.problem]
    data = current.to_dict()
    console.show(console.Result.among(problems, data, lambda out: _view(out, current)))


def _view(out: Console, current: Configuration) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("setting", "value", "default", "origin"):
        table.add_column(title, overflow="fold")
    for row in current.settings:
        cells = [Text(cell) for cell in _cells(row)]
        cells[-1].stylize(_WHO.get(row.origin, ""))
        table.add_row(*cells, style="dim" if row.origin == "default" else "")
    out.print(table)
    out.print(f"\nfile: {current.file}", markup=False, style="dim", soft_wrap=True)
    project = current.project
    out.print(
        f"project: {project['name']}, for {project['archs']} where neither GPU nor list says more",
        markup=False,
        style="dim",
        soft_wrap=True,
    )
    for row in (row for row in current.settings if row.problem):
        console.note(f"error: {row.problem}")
    for unknown, meant in current.unknown:
        console.note(f"warning: {unknown} means nothing{f'; {meant}?' if meant else ''}")


def _cells(row: SettingRow) -> tuple[str, str, str, str]:
    place = "" if row.place == row.name else row.place
    origin = f"{row.origin} {place}".rstrip()
    return row.name, _text(row.value), _text(row.default), origin


def _text(value: Any) -> str:
    if value in (None, "", []):
        return "unset"
    if isinstance(value, list):
        return shlex.join(value)
    return str(value).lower() if isinstance(value, bool) else str(value)
