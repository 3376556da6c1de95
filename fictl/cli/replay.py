"""fictl replay: run dumped calls again."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fictl.cli import console
from fictl.cli.gpu_use import Wait, alone, together
from fictl.cli.numbers import seconds
from fictl.cli.options import Device, Json, Locked, use_device

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rich.console import Console

    from fictl.replay.outcome import ReplayOutcome

_MARKS = {
    "match": "[green]✓[/]",
    "no reference": "[yellow]![/]",
    "mismatch": "[red]✗[/]",
    "error": "[red]✗[/]",
    "refused": "[red]✗[/]",
    "defect": "[red]✗[/]",
}


EXAMPLES = {
    "fictl replay dumps/": "repeat what FICTL_LOGLEVEL=10 kept, and compare",
    "fictl replay dumps/ --under memcheck": "the same, under a tool",
    "fictl replay calls.json --device emu": "what FICTL_RECORD kept of a program's calls",
}


def command(
    dumps: Annotated[
        list[Path],
        typer.Argument(
            metavar="DUMP",
            help="A dump of FICTL_LOGLEVEL=10, a recording of FICTL_RECORD, or a folder of dumps.",
        ),
    ],
    under: Annotated[
        str,
        typer.Option(
            "--under",
            metavar="TOOL",
            help="Replay under a tool: memcheck, racecheck, initcheck, synccheck, profile or bench.",
            show_default=False,
        ),
    ] = "",
    device: Device = "",
    timeout: Annotated[
        float, seconds("--timeout", help="Time limit of one call with its build, in seconds.")
    ] = 600.0,
    locked: Locked = False,
    wait: Wait = None,
    json: Json = False,
) -> None:
    """Replay dumped calls, each in its own process, and compare the results.

    They run on the device they were recorded on, unless --device or FICTL_DEVICE names one.
    A recording's calls are compared with what they should compute, as it has no results.
    """
    from fictl import settings
    from fictl.replay.dump import find_dumps
    from fictl.replay.outcome import worst
    from fictl.replay.replay_dumps import replay
    from fictl.replay.replay_process import checked_under

    use_device(device)
    chosen = settings.DEVICE.get() if settings.DEVICE.origin().kind != "default" else ""
    tool = checked_under(under)
    use = alone if under in ("bench", "profile") else together
    with use(wait, chosen):
        outcomes = [replay(path, chosen, timeout, tool) for path in find_dumps(dumps)]
    data = [outcome.to_dict() for outcome in outcomes]
    code = worst(outcomes)
    console.show(console.Result(data, lambda out: _view(out, outcomes), code))


def _view(out: Console, outcomes: Sequence[ReplayOutcome]) -> None:
    from rich.markup import escape

    for outcome in outcomes:
        name = escape(Path(outcome.dump).name)
        took = f"   {outcome.seconds:.1f} s" if outcome.status != "refused" else ""
        on = "  emulated" if outcome.device == "emu" and took else ""
        by = f"  under {outcome.under}" if outcome.under and took else ""
        line = f"{_MARKS[outcome.status]} [bold]{outcome.status}[/]  {name}{took}{on}{by}"
        out.print(line, soft_wrap=True)
        for text in (*_looked(outcome), outcome.detail, outcome.hint and f"hint: {outcome.hint}"):
            if text:
                out.print(_indented(text), markup=False, soft_wrap=True)


def _indented(text: str) -> str:
    return "\n".join(f"  {line}".rstrip() for line in text.splitlines())


def _looked(outcome: ReplayOutcome) -> Iterator[str]:
    """Lines of what the tool has found or measured, and of a recording's calls."""
    for call in outcome.calls:
        yield f"step {call.step}  {call.name}  {call.status}: {call.detail}"
    for finding in outcome.defects:
        yield finding.text.replace(f"{Path.cwd()}{os.sep}", "")
    if len(outcome.defects) < len(outcome.findings):
        yield f"{len(outcome.findings) - len(outcome.defects)} suppressed"
    if outcome.profile:
        yield outcome.profile["text"]
    if outcome.time:
        yield from _timed(outcome.time)


def _timed(time: Mapping[str, Any]) -> Iterator[str]:
    from fictl.quantity import spell_time

    low, high = time["interval"]
    copies = f"{time['copies']} cop{'y' if time['copies'] == 1 else 'ies'}"
    yield (
        f"{spell_time(time['median'])} ({spell_time(low)} to {spell_time(high)} at 95 %)  "
        f"{time['timer']}  {'cold' if time['cold'] else 'warm'} L2, {copies} of the call"
    )
    for kernel in time["kernels"]:
        times = f" x {kernel['calls']}" if kernel["calls"] != 1 else ""
        yield f"{kernel['name']}  {spell_time(kernel['seconds'])}{times}"
    if time["why"]:
        yield f"timer: {time['why']}"
    if time["changes"]:
        names = ", ".join(time["changes"])
        yield f"it changes {names}: of each copy, the first call alone found what was dumped"
