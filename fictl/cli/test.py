"""fictl test: run an op's tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fictl.cli import console
from fictl.cli.options import Device, Json, Keyword, Ops, Schedule, use_device

if TYPE_CHECKING:
    from rich.console import Console

    from fictl.testing.run import TestReport


def command(
    ops: Ops = None,
    keyword: Keyword = "",
    device: Device = "",
    schedule: Schedule = "",
    json: Json = False,
) -> None:
    """Test ops: their own tests, that they build, and that they compute their reference.

    Where there is no GPU they run on the emulated device.
    """
    from fictl import settings
    from fictl.project import Project, select
    from fictl.testing.device import choose_device
    from fictl.testing.run import run_tests

    use_device(device)
    variables = {settings.DEVICE.name: choose_device(settings.DEVICE.get() if device else "")}
    if schedule:
        settings.EMU_SCHEDULE.set_by_flag("--schedule", schedule)
        variables[settings.EMU_SCHEDULE.name] = settings.EMU_SCHEDULE.get()
    wanted = select(ops or [], [] if ops else [Project.at()])
    say = (lambda line: None) if json else console.note
    report = run_tests(wanted, say, ["-k", keyword] if keyword else [], variables)
    data = {
        "passed": report.passed,
        "failed": list(report.failed),
        "skipped": report.skipped,
        "seconds": round(report.seconds, 2),
        "device": report.device,
        "schedules": list(report.schedules),
    }
    console.show(console.Result("test", data, lambda out: _view(out, report), report.exit_code))


def _view(out: Console, report: TestReport) -> None:
    from rich.markup import escape

    mark = {0: "[green]✓[/]", 1: "[red]✗[/]", 3: "[yellow]![/]"}[report.exit_code]
    failed = f" · [red]{len(report.failed)} failed[/]" if report.failed else ""
    count = len(report.schedules)
    orders = f" · {count} schedule{'s' if count > 1 else ''}" if count else ""
    device = "   emulated: no GPU was used" if report.device == "emu" else ""
    out.print(f"{mark} {report.passed} passed{failed}{orders}   {report.seconds:.1f} s{device}")
    for name in report.failed:
        # A test's id has brackets, which are not rich's.
        out.print(f"  [red]failed[/] {escape(name)}", soft_wrap=True)
    for reason, skipped in sorted(report.skipped.items()):
        out.print(f"  not run here: {skipped} ({reason})", markup=False)
