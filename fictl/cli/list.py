"""fictl list: what ops there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fictl.cli import console
from fictl.cli.options import Archs, Json, Ops
from fictl.errors import SetupError

if TYPE_CHECKING:
    from fictl.arch import Arch
    from fictl.builds.catalogue import CatalogueRow

_COLUMNS = ("project", "family", "module", "function", "dtypes", "archs", "devices", "built")
_STYLES = {"built": "green", "stale": "yellow", "no": "dim"}


def command(ops: Ops = None, arch: Archs = "", json: Json = False) -> None:
    """List ops: functions, dtypes, architectures, devices, and whether they are built."""
    from fictl.arch import parse_archs
    from fictl.builds.catalogue import catalogue

    rows = catalogue(ops or [], parse_archs(arch, _present))
    table = console.Table(_COLUMNS, [_cells(row) for row in rows], _STYLES)
    console.show(console.Result([row.to_dict() for row in rows], table))


def _present() -> list[Arch]:
    """Architectures of the GPUs present, as `--arch native`."""
    from fictl.toolchain import visible_gpus

    gpus = visible_gpus()
    if not gpus:
        raise SetupError("--arch native: there is no GPU here", "name them, as in '8.0 9.0a'")
    return [gpu.arch for gpu in gpus]


def _cells(row: CatalogueRow) -> tuple[str, ...]:
    return (
        row.project,
        row.family,
        row.module,
        row.function,
        " ".join(row.dtypes),
        row.archs,
        " ".join(row.devices),
        " ".join((row.built, *row.built_archs)),
    )
