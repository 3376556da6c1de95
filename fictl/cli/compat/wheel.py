"""fictl compat wheel: `import flashinfer` for engines that nobody edits."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fictl.cli import console
from fictl.cli.options import DryRun, Json
from fictl.cli.outputs import writes_folder
from fictl.paths import friendly

if TYPE_CHECKING:
    from fictl.compat.alias_wheel import AliasWheel

EXAMPLES = {
    "fictl compat wheel --version 0.7.2.post1": "for vLLM",
    "fictl compat wheel --out /tmp --dry-run": "see what would be written",
}


def command(
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Output folder.", callback=writes_folder)
    ] = Path("dist"),
    version: Annotated[
        str,
        typer.Option(
            "--version",
            metavar="VERSION",
            help="Version that the engine requires: 0.7.2 (SGLang) or 0.7.2.post1 (vLLM).",
        ),
    ] = "0.7.2",
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Write a wheel that takes the place of FlashInfer's package: fictl serves `import flashinfer`."""
    from fictl.compat.alias_wheel import write_alias_wheel

    wheel = write_alias_wheel(out.absolute(), version, dry_run)
    data = {"dry_run": dry_run, **wheel.to_dict()}
    console.show(console.Result(data, _view(wheel, dry_run)))


def _view(wheel: AliasWheel, dry_run: bool) -> str:
    lines = [f"{wheel.path.name}{' would be written' if dry_run else ''}"]
    lines += [f"  use it: pip install {friendly(wheel.path)}"] * (not dry_run)
    if wheel.replaces:
        lines.append(f"  pip removes what is installed here: flashinfer-python {wheel.replaces}")
    return "\n".join(lines)
