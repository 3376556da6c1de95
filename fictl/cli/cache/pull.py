"""fictl cache pull: fetch what others have built."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fictl.cli import console
from fictl.cli.cache.moved import error_of, view
from fictl.cli.options import Archs, Device, DryRun, Json, Ops, use_device

if TYPE_CHECKING:
    from rich.console import Console

    from fictl.builds.shared import Moved


EXAMPLES = {
    "fictl cache pull": "for the project here",
    "fictl cache pull rmsnorm --arch 9.0a": "an op for another machine",
}


def command(
    ops: Ops = None,
    arch: Archs = "",
    device: Device = "",
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Fetch the builds of the named ops, or of every op of the project here, from FICTL_REMOTE.

    All are asked for at once, and no compiler starts. Builds that you have are kept. Exit code 1 if
    one is in no remote, or nobody whom you trust has signed it.
    """
    from fictl.arch import parse_archs
    from fictl.builds.shared import pull_builds
    from fictl.toolchain import native_targets

    use_device(device, arch)
    results = pull_builds(ops or [], parse_archs(arch, native_targets), dry_run)
    error = error_of(results, "fictl build compiles them here")
    data = {"dry_run": dry_run, "builds": [moved.to_dict() for moved in results]}
    code = error.exit_code if error else 0
    console.show(console.Result(data, lambda out: _view(out, results, dry_run), code, error))


def _view(out: Console, results: list[Moved], dry_run: bool) -> None:
    from fictl.quantity import counted, spell_size

    view(out, results)
    new = [moved for moved in results if moved.state == "fetched"]
    here = sum(moved.state == "here" for moved in results)
    size = spell_size(sum(moved.size for moved in new))
    how = "would fetch" if dry_run else f"fetched {size} in"
    out.print(f"{how} {counted(len(new), 'build')} · {here} were here")
