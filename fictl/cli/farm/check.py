"""fictl farm check: what each place can do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from fictl.cli import console
from fictl.cli.options import Device, Json, use_device
from fictl.errors import SetupError, shown
from fictl.quantity import counted

if TYPE_CHECKING:
    from rich.console import Console

    from fictl.farm.check import CheckedPlace

EXAMPLES = {
    "fictl farm check ssh:gpu1,gpu2": "two hosts that ssh knows",
    "fictl farm check ./places.toml --untrusted": "as for solutions that nobody trusts",
}


def command(
    places: Annotated[
        str,
        typer.Argument(
            metavar="PLACES",
            help="As --on: local, ssh:gpu1,gpu2, ray://host:port, a file, or names; default: all of FICTL_PLACES.",
            show_default=False,
        ),
    ] = "",
    device: Device = "",
    untrusted: Annotated[
        bool,
        typer.Option(
            "--untrusted", help="Refuse places where no sandbox works.", show_default=False
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Start each place once: versions, GPU and clocks, disk, lock and sandbox.

    The exit code is 3 if one of them cannot work.
    """
    from fictl import settings
    from fictl.farm.check import check_places
    from fictl.farm.places_file import places_of

    use_device(device)
    chosen = settings.DEVICE.get()
    checked = check_places(places_of(places, chosen), chosen, untrusted)
    bad = [one for one in checked if one.problems]
    error = None
    if bad:
        names = ", ".join(one.place.name for one in bad)
        error = SetupError(f"{len(bad)} of {counted(len(checked), 'place')} cannot work: {names}")
    data = [one.to_dict() for one in checked]
    code = SetupError.exit_code if bad else 0
    console.show(console.Result(data, lambda out: _view(out, checked), code, error))


def _view(out: Console, checked: list[CheckedPlace]) -> None:
    for one in checked:
        mark = "[red]✗[/]" if one.problems else "[green]✓[/]"
        out.print(f"{mark} [bold]{one.place.name}[/]", end="")
        out.print(f"  {_facts(one)}", markup=False, soft_wrap=True)
        for problem in one.problems:
            out.print(f"    {problem}", markup=False, soft_wrap=True)
        for note in one.notes:
            out.print(f"    {note}", markup=False, style="yellow", soft_wrap=True)
    good = sum(not one.problems for one in checked)
    out.print(f"{good} of {counted(len(checked), 'place')} can work")


def _facts(one: CheckedPlace) -> str:
    ready = one.ready
    if ready is None:
        return ""
    parts = [
        ready.host,
        f"{ready.gpus} x {ready.gpu}" if ready.gpus > 1 else ready.gpu or ready.hardware,
        ready.clocks,
        f"driver {ready.driver}" if ready.driver else "",
        f"fictl {ready.fictl}" + (f" ({ready.commit[:7]})" if ready.commit else ""),
        f"Python {ready.python}",
        f"torch {ready.torch}" if ready.torch else "no torch",
        f"nvcc {ready.nvcc}" if ready.nvcc else "no nvcc",
        f"sandbox {ready.sandbox}",
        f"{ready.free_bytes >> 30} GiB free",
    ]
    return " · ".join(shown(part) for part in parts if part)
