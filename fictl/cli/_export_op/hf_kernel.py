"""fictl export-op --to hf-kernel."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fictl.cli import console
from fictl.errors import UsageError
from fictl.paths import friendly

if TYPE_CHECKING:
    from rich.console import Console

    from fictl.project import OpFolder
    from fictl.ship.hf_kernel.export import Exported

_SHIPPED_LICENCE = "Apache-2.0"


def write(
    op: OpFolder,
    target: Path,
    name: str,
    licence: str,
    version: int,
    arch: str,
    verbose: bool,
    dry_run: bool,
) -> None:
    """Export the op, or with `dry_run` only tell what would be exported."""
    from fictl.arch import parse_archs
    from fictl.cli.progress import ConsoleObserver
    from fictl.ship.hf_kernel.export import ExportRequest, export
    from fictl.ship.hf_kernel.metadata import default_name
    from fictl.toolchain import native_targets

    request = ExportRequest(
        op,
        target.absolute(),
        name or default_name(op.project.name, op.module),
        _licence(op, licence),
        version,
        parse_archs(arch, native_targets),
    )
    if dry_run:
        exported = export(request)
    else:
        with ConsoleObserver(verbose) as observer:
            exported = export(request, observer)
    data = {"op": str(op), "written": not dry_run, **exported.to_dict()}
    console.show(console.Result(data, lambda out: _view(out, exported, dry_run)))


def _licence(op: OpFolder, given: str) -> str:
    if given or op.project.is_shipped:
        return given or _SHIPPED_LICENCE
    raise UsageError(
        "a kernel of the hub says its license, and none is given", "as in --license Apache-2.0"
    )


def _view(out: Console, exported: Exported, dry_run: bool) -> None:
    for function in exported.functions:
        out.print(f"  {function.signature}", markup=False, soft_wrap=True)
    for why in exported.left_out:
        out.print(f"  left out: {why}", markup=False, soft_wrap=True)
    if dry_run:
        files = " ".join(exported.files)
        out.print(f"  would be written below build/: {files}", markup=False, soft_wrap=True)
        return
    if exported.note:
        out.print(f"  note: {exported.note}", markup=False, soft_wrap=True)
    where = friendly(exported.target)
    out.print(f"  {exported.name}: {where}/build/{exported.variant}", markup=False, soft_wrap=True)
    out.print(
        f"  next: kernels.get_local_kernel(Path({str(exported.target)!r}))",
        markup=False,
        soft_wrap=True,
    )
