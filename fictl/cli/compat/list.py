"""fictl compat list: which of FlashInfer's public names fictl has."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated

import typer

from fictl.cli import console
from fictl.cli.options import Json
from fictl.errors import UsageError

if TYPE_CHECKING:
    from fictl.compat.flashinfer._listing import PublicName

_STYLES = {"served": "green", "planned": "yellow", "refused": "red"}


def _known_status(value: str) -> str:
    if value and value not in _STYLES:
        raise typer.BadParameter(f"{value!r} is none of {', '.join(_STYLES)}")
    return value


EXAMPLES = {
    "fictl compat list --status served": "names that fictl has",
    "fictl compat list decode --json": "names with decode in them, for a script",
}


def command(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME", help="A name, or a part of some.  [default: all]", show_default=False
        ),
    ] = None,
    status: Annotated[
        str,
        typer.Option(
            "--status",
            metavar="served|planned|refused",
            help="Only names of this status.",
            callback=_known_status,
            show_default=False,
        ),
    ] = "",
    json: Json = False,
) -> None:
    """List FlashInfer's public names: served, planned or refused, and why."""
    from fictl.compat.flashinfer._listing import public_names, reached_names
    from fictl.compat.flashinfer._names import VERSION

    listed = [name for name in public_names() if _is_asked(name, names or [], status)]
    if names and not listed:
        raise UsageError(
            f"no public name of FlashInfer {VERSION} has {' or '.join(names)} in it",
            "fictl compat list --status served shows what there is",
        )
    data = {
        "flashinfer": VERSION,
        "counts": Counter(name.status for name in listed),
        "names": [name.to_dict() for name in listed],
        "engines": [name.to_dict() for name in reached_names()],
    }
    view = _each(listed) if names or status else _counted(listed)
    console.show(console.Result(data, view))


def _is_asked(name: PublicName, parts: list[str], status: str) -> bool:
    named = not parts or any(part.lower() in name.name.lower() for part in parts)
    return named and status in ("", name.status)


def _each(names: list[PublicName]) -> console.Table:
    rows = [(name.name, name.status, " ".join(name.engines), name.reason) for name in names]
    return console.Table(("name", "status", "engines", "why, or what serves"), rows, _STYLES)


def _counted(names: list[PublicName]) -> console.Table:
    """Rows by status and reason, the largest first."""
    counts = Counter((name.status, name.reason) for name in names)
    order = [*_STYLES]
    rows = [
        (status, str(count), reason)
        for (status, reason), count in sorted(
            counts.items(), key=lambda item: (order.index(item[0][0]), -item[1])
        )
    ]
    return console.Table(("status", "names", "why, or what serves"), rows, _STYLES)
