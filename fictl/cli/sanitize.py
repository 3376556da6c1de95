"""fictl sanitize: look for what tests do not see."""

from __future__ import annotations

import json as encoder
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fictl.cli import console
from fictl.cli.no_ops import no_ops
from fictl.cli.options import Device, Json, Keyword, Ops, use_device
from fictl.errors import SetupError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from fictl.sanitize.emulated import Checked


def command(
    ops: Ops = None,
    keyword: Keyword = "",
    device: Device = "",
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Also write one JSON line a report.", show_default=False),
    ] = None,
    suppressions: Annotated[
        Path | None,
        typer.Option(
            "--suppressions",
            help="Accepted reports; else sanitize.toml of the project.",
            exists=True,
            dir_okay=False,
            show_default=False,
        ),
    ] = None,
    timeout: Annotated[
        float, typer.Option("--timeout", help="Seconds that one test may take.")
    ] = 900.0,
    json: Json = False,
) -> None:
    """Run the tests of ops with every access checked: bounds, races, barriers, shared memory."""
    from fictl import settings
    from fictl.emu.toolchain import require_toolchain
    from fictl.project import Project, select
    from fictl.sanitize.emulated import check_ops

    use_device(device or "emu")
    if settings.DEVICE.get() != "emu":
        raise SetupError("sanitize checks on the emulated device only", "--device emu")
    require_toolchain()
    say = (lambda line: None) if json else console.note
    wanted = select(ops or [], [] if ops else [Project.at()])
    arguments = ["-k", keyword] if keyword else []
    if out:
        _write_lines(out, ())  # Whether it can be written is known before the tests run.
    checked = list(check_ops(wanted, say, arguments, suppressions, timeout))
    if out:
        _write_lines(out, checked)
    codes = [each.exit_code for each in checked]
    code = 1 if 1 in codes else max(codes, default=0)
    data = [each.to_dict() for each in checked]
    console.show(console.Result("sanitize", data, lambda screen: _view(screen, checked), code))


def _write_lines(path: Path, checked: Sequence[Checked]) -> None:
    found = (finding for each in checked for finding in each.findings)
    text = "".join(encoder.dumps(finding.to_dict()) + "\n" for finding in found)
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"--out {path} cannot be written: {error.strerror}") from None


def _view(out: Console, checked: Sequence[Checked]) -> None:
    from rich.markup import escape

    out.print("emulated: no GPU was used" if checked else no_ops(), markup=False, soft_wrap=True)
    for each in checked:
        _summary(out, each)
        if each.problem:
            console.problem(each.problem)
        for finding in each.defects:
            out.print()
            # As one would open them from here.
            text = finding.text.replace(f"{Path.cwd()}{os.sep}", "")
            out.print(f"[red]✗[/] {escape(text)}", soft_wrap=True)
            more = f" and {finding.tests - 1} more" if finding.tests > 1 else ""
            out.print(f"  first in {finding.facts['test']}{more}", markup=False, soft_wrap=True)
        for failed in each.tests.failed:
            said = escape(f"{failed.test}  {failed.reason}".rstrip())
            out.print(f"  [red]failed[/] {said}", soft_wrap=True)
        for accepted in each.unused:
            said = f"{accepted.op} {accepted.kind} {accepted.site}"
            out.print(f"  nothing to suppress: {said} ({accepted.why})", markup=False)


def _summary(out: Console, each: Checked) -> None:
    mark = {0: "[green]✓[/]", 1: "[red]✗[/]", 3: "[yellow]![/]"}[each.exit_code]
    count = len(each.defects)
    suppressed = len(each.findings) - count
    parts = [
        f"{each.tests.passed} test{'' if each.tests.passed == 1 else 's'}",
        f"{count} defect{'' if count == 1 else 's'}",
        *([f"{suppressed} suppressed"] if suppressed else []),
        *([f"{len(each.tests.failed)} failed"] if each.tests.failed else []),
    ]
    out.print(f"{mark} [bold]{each.op}[/]  {' · '.join(parts)}   {each.tests.seconds:.1f} s")
