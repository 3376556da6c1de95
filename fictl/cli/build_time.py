"""The view of `fictl build --time`: the longest first, and only what can be acted on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from fictl.jit.build_time.last_edit import LastEdit
    from fictl.jit.build_time.phases import Phase
    from fictl.jit.build_time.report import BuildTime, Header

_SHOWN = 6
_BAR = 20
# Below this nothing is worth a line.
_NOTHING = 0.005


def show_time(out: Console, time: BuildTime) -> None:
    out.print(f"\n  cold, one unit after another: [bold]{time.seconds:.2f} s[/]")
    for unit in dict.fromkeys(phase.unit for phase in time.phases):
        _phases(out, [phase for phase in time.phases if phase.unit == unit], time.seconds)
    for unit in dict.fromkeys(header.unit for header in time.headers):
        _headers(out, unit, [header for header in time.headers if header.unit == unit])
    _kernels(out, time)
    _last_edit(out, time)


def _phases(out: Console, phases: Sequence[Phase], whole: float) -> None:
    """A unit's sum, then its steps; a step that runs for each target once is one line."""
    total = sum(phase.seconds for phase in phases)
    _line(out, total, whole, phases[0].unit or phases[0].name, style="bold")
    if not phases[0].unit:
        return
    steps: dict[str, list[Phase]] = {}
    for phase in phases:
        steps.setdefault(phase.name, []).append(phase)
    for name, parts in sorted(steps.items(), key=lambda step: -_sum(step[1])):
        targets = "  ".join(f"{part.arch} {part.seconds:.2f}" for part in parts if part.arch)
        if _sum(parts) >= _NOTHING:
            _line(out, _sum(parts), whole, f"  {name:14}{targets}".rstrip())


def _line(out: Console, seconds: float, whole: float, what: str, style: str = "") -> None:
    share = seconds / whole if whole else 0.0
    bar = "█" * round(share * _BAR)
    text = f"  {seconds:7.2f} s {share:4.0%}  {bar:{_BAR}}  {what}"
    out.print(text, style=style, markup=False, soft_wrap=True)


def _headers(out: Console, unit: str, headers: Sequence[Header]) -> None:
    worth = [header for header in headers if header.seconds is None or header.seconds >= _NOTHING]
    if not worth:
        return
    measured = {header.measured for header in headers} - {""}
    how = f"seconds {'in cicc' if measured == {'front end'} else 'of a compile of it alone'}, "
    title = f"headers of {unit}: {how if measured else ''}lines, with all that it includes"
    out.print(f"\n  [bold]{title}[/]", soft_wrap=True)
    for header in worth[:_SHOWN]:
        seconds = f"{header.seconds:7.2f} s" if header.seconds is not None else " " * 9
        origin = f"  from {header.includer}" if header.includer else "  from the compiler"
        text = f"  {seconds} {header.lines:8,}  {header.name}"
        out.print(f"{text}{origin}", markup=False, soft_wrap=True)


def _kernels(out: Console, time: BuildTime) -> None:
    kernels = [kernel for kernel in time.kernels if kernel.seconds >= _NOTHING]
    if kernels:
        out.print("\n  [bold]kernels: seconds in optimiser and assembler, all targets[/]")
    for kernel in kernels[:_SHOWN]:
        text = f"  {kernel.seconds:7.2f} s  {kernel.name}"
        out.print(text, markup=False, soft_wrap=True)


def _last_edit(out: Console, time: BuildTime) -> None:
    edit = time.last_edit
    if edit is None:
        out.print("\n  [bold]last edit:[/] none yet")
        return
    share = edit.seconds / time.seconds if time.seconds else 0.0
    out.print(
        f"\n  [bold]last edit:[/] {_changed(edit)}  {edit.seconds:.2f} s, {share:.0%} of cold",
        soft_wrap=True,
    )
    for name, seconds in sorted(edit.units.items(), key=lambda unit: -unit[1]):
        out.print(f"  {seconds:7.2f} s  {name}", markup=False, soft_wrap=True)
    out.print(f"  {edit.link:7.2f} s  link", soft_wrap=True)


def _changed(edit: LastEdit) -> str:
    """`<fictl/elementwise/scale.cuh>` by its last part: the whole is in --json."""
    return ", ".join(PurePath(name.strip("<>")).name for name in edit.changed)


def _sum(phases: Iterable[Phase]) -> float:
    return sum(phase.seconds for phase in phases)
