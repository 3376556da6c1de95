"""fictl artifacts build: freeze builds as a snapshot."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from fictl.cli import console
from fictl.cli.artifacts.options import Folder, Snapshot
from fictl.cli.build import SAME, Elsewhere, require_toolchain_use, show_plans
from fictl.cli.no_ops import no_ops
from fictl.cli.options import Archs, Device, DryRun, Json, On, Ops, Toolchain, Verbose, use_device
from fictl.paths import friendly

if TYPE_CHECKING:
    from rich.console import Console

    from fictl.ship.artifacts.freeze import Frozen


EXAMPLES = {
    "fictl artifacts build release-1": "all ops of the project here",
    "fictl artifacts build release-1 rmsnorm --arch 9.0a": "one op for one architecture",
}


def command(
    context: typer.Context,
    name: Snapshot,
    ops: Ops = None,
    arch: Archs = "",
    device: Device = "",
    folder: Folder = None,
    on: On = "",
    toolchain: Toolchain = SAME,
    dry_run: DryRun = False,
    verbose: Verbose = False,
    json: Json = False,
) -> None:
    """Build all modules that ops declare, and freeze them in the folder of artifacts under a name.

    The snapshot is signed if FICTL_SIGNING_KEY is set.
    """
    from fictl.arch import parse_archs
    from fictl.cli.progress import ConsoleObserver
    from fictl.ship.artifacts.folder import ArtifactsFolder
    from fictl.ship.artifacts.freeze import freeze
    from fictl.ship.artifacts.names import checked_name
    from fictl.toolchain import native_targets

    checked_name(name)
    require_toolchain_use(toolchain, on)
    use_device(device or "cuda", arch)
    archs = parse_archs(arch, native_targets)
    if dry_run:
        show_plans(ops or [], archs)
        return
    elsewhere = Elsewhere(context, ops or [], on, archs, toolchain, quiet=json)
    with ConsoleObserver(verbose) as observer:
        at = ArtifactsFolder.at(folder)
        frozen = freeze(name, ops or [], archs, at, observer, elsewhere)
    errors = [built.error for built in frozen.built if built.error]
    data = {**frozen.to_dict(), **elsewhere.to_dict()}
    console.show(console.Result.among(errors, data, lambda out: _view(out, frozen)))


def _view(out: Console, frozen: Frozen) -> None:
    from fictl.quantity import counted, spell_size

    for built in frozen.built:
        if built.error:
            console.problem(built.error)
            continue
        how = f"compiled in {built.seconds:.1f} s" if built.compiled else "was built already"
        targets = " ".join(built.archs) or "emulated"
        at = f"  at {built.place}" if built.place else ""
        out.print(f"[green]✓[/] [bold]{built.module}[/]  {targets}  {how}{at}")
    if frozen.signed is None:
        nothing = (
            no_ops() if not frozen.built else "no snapshot was written: all modules must build"
        )
        out.print(nothing, markup=False, soft_wrap=True)
        return
    snapshot = frozen.signed.snapshot
    sums = f"{counted(len(snapshot.documents), 'build')}, {spell_size(snapshot.size)}"
    signed = "signed" if frozen.signed.signature else "not signed"
    again = ", as before" if frozen.again else ""
    out.print(
        f"{snapshot.name}@{snapshot.sha256}: {sums}, {signed}{again}, in {friendly(frozen.folder)}",
        markup=False,
        soft_wrap=True,
    )
    out.print(f"  next: fictl artifacts push {snapshot.name} --to URL", markup=False)
