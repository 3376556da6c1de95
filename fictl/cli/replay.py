"""fictl replay: run dumped calls again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fictl.cli import console
from fictl.cli.options import Device, Json, use_device

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from fictl.replay.outcome import Outcome

_MARKS = {
    "match": "[green]✓[/]",
    "no reference": "[yellow]![/]",
    "mismatch": "[red]✗[/]",
    "error": "[red]✗[/]",
    "refused": "[red]✗[/]",
}


def command(
    dumps: Annotated[
        list[Path],
        typer.Argument(metavar="DUMP", help="A dump of FICTL_LOGLEVEL=10, or a folder of them."),
    ],
    device: Device = "",
    timeout: Annotated[
        float, typer.Option("--timeout", help="Seconds that one call may take, its build included.")
    ] = 600.0,
    json: Json = False,
) -> None:
    """Run dumped calls again, each in its own process, and compare what they give.

    They run on the device that they were recorded on, unless --device or FICTL_DEVICE names one.
    """
    from fictl import settings
    from fictl.replay.dump import find_dumps
    from fictl.replay.outcome import worst
    from fictl.replay.run import replay

    use_device(device)
    chosen = settings.DEVICE.get() if settings.DEVICE.origin().kind != "default" else ""
    outcomes = [replay(path, chosen, timeout) for path in find_dumps(dumps)]
    data = [outcome.to_dict() for outcome in outcomes]
    code = worst(outcomes)
    console.show(console.Result("replay", data, lambda out: _view(out, outcomes), code))


def _view(out: Console, outcomes: Sequence[Outcome]) -> None:
    from rich.markup import escape

    for each in outcomes:
        name = escape(Path(each.dump).name)
        took = f"   {each.seconds:.1f} s" if each.status != "refused" else ""
        on = "  emulated" if each.device == "emu" and took else ""
        out.print(f"{_MARKS[each.status]} [bold]{each.status}[/]  {name}{took}{on}", soft_wrap=True)
        for text in filter(None, (each.detail, each.hint and f"hint: {each.hint}")):
            out.print(f"  {text}", markup=False, soft_wrap=True)
