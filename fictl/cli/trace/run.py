"""fictl trace run: an op against the reference of a definition."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fictl.cli import console
from fictl.cli.gpu_use import Wait, together
from fictl.cli.options import Device, Json, sizes, use_device

EXAMPLES = {
    "fictl trace run definitions/rmsnorm/rmsnorm_h4096.json": "the op that it names, on small sizes",
    "fictl trace run rmsnorm_h4096.json --axes batch_size=7 --device emu": "on sizes of one's own, without a GPU",
}


def command(
    definition: Annotated[Path, typer.Argument(metavar="DEF.json", show_default=False)],
    axes: Annotated[
        str,
        typer.Option(
            "--axes",
            metavar="SIZES",
            help="Sizes of variable axes, as in 'rows=7,n=64'; default: small ones.",
        ),
    ] = "",
    device: Device = "",
    wait: Wait = None,
    json: Json = False,
) -> None:
    """Run the op that a definition names, and compare it with the definition's reference.

    The reference is Python code that runs here: read it first if you do not know its author.
    """
    from fictl import settings
    from fictl.testing.device import choose_device, is_asked_for, require_device
    from fictl.testing.traced.definition_run import run_definition
    from fictl.trace import Definition

    use_device(device)
    chosen = choose_device(settings.DEVICE.get() if device else "")
    if is_asked_for():
        require_device(chosen, ())
    settings.DEVICE.set_by_flag("--device", chosen)
    with together(wait):
        result = run_definition(Definition.read(definition), chosen, sizes(axes))
    shown = " ".join(f"{name}={size}" for name, size in result.sizes.items())
    where = "emulated: no GPU was used" if chosen == "emu" else chosen
    mark = "✗" if result.mismatch else "✓"
    lines = [f"{mark} {result.definition}  {shown}  {where}"]
    if result.mismatch:
        lines.append(f"  {result.mismatch}")
    code = 1 if result.mismatch else 0
    console.show(console.Result(result.to_dict(), "\n".join(lines), code))
