"""fictl cache show: the builds of all stores."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from fictl.cli import console
from fictl.cli.cache.removed import leads_out
from fictl.cli.options import Json, Ops

if TYPE_CHECKING:
    from rich.console import Console

    from fictl.builds.cached import Contents
    from fictl.jit.cache.inventory import Item

_COLUMNS = ("op", "archs", "variant", "size", "built", "last use", "origin", "")


def command(ops: Ops = None, json: Json = False) -> None:
    """Show what is built: op, architectures, size, age, last use, and the store that has it."""
    from fictl.builds.cached import contents

    found = contents(ops or [])
    console.show(console.Result("cache.show", found.to_dict(), lambda out: _view(out, found)))


def _view(out: Console, found: Contents) -> None:
    from fictl.paths import friendly
    from fictl.quantity import spell_size

    if found.builds:
        rows = [_cells(origin, item) for origin, item in found.builds]
        console.print_table(console.Table(_COLUMNS, rows, {"in": "cyan", "corrupt": "red"}))
    others = "".join(f" · {kind} {spell_size(size)}" for kind, size in sorted(found.others.items()))
    count = f"{len(found.builds)} build{'s' * (len(found.builds) != 1)}"
    out.print(f"{count} · {spell_size(found.size)} in {friendly(found.root)}", markup=False, end="")
    out.print(others, style="dim", soft_wrap=True)
    for item in found.links:
        out.print(f"  {leads_out(item)}", markup=False, soft_wrap=True)


def _cells(origin: str, item: Item) -> tuple[str, ...]:
    from fictl.quantity import spell_age, spell_size

    now = time.time()
    made = item.entry.manifest if item.entry else None
    return (
        f"{item.project}/{item.module}",
        " ".join(made.archs) or made.device if made else "?",
        made.variant if made else "?",
        spell_size(item.size),
        f"{spell_age(now - made.created)} ago" if made else "?",
        f"{spell_age(now - item.used)} ago",
        origin,
        "in use" if item.in_use else "" if made else "corrupt",
    )
