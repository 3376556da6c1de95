"""fictl cache show: the builds of all stores."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from fictl.cli import console
from fictl.cli.cache import at_remote
from fictl.cli.cache.at_remote import Remote
from fictl.cli.cache.removed import leads_out
from fictl.cli.options import Json, Ops

if TYPE_CHECKING:
    from rich.console import Console

    from fictl.builds.cached import Contents
    from fictl.jit.cache.inventory import Item

_COLUMNS = ("op", "archs", "variant", "size", "built", "last use", "origin", "")
_NEWER = "of a newer fictl"


EXAMPLES = {
    "fictl cache show": "every build",
    "fictl cache show rmsnorm --remote": "what the remotes have of an op",
}


def command(ops: Ops = None, remote: Remote = False, json: Json = False) -> None:
    """Show the stored builds: op, architectures, size, age, last use and store."""
    from fictl.builds.cached import contents

    if remote:
        from fictl.builds.remote_store import show_remote

        console.show(at_remote.show(show_remote(ops or [])))
        return

    inventory = contents(ops or [])
    console.show(console.Result(inventory.to_dict(), lambda out: _view(out, inventory)))


def _view(out: Console, inventory: Contents) -> None:
    from fictl.paths import friendly
    from fictl.quantity import spell_size

    if inventory.builds:
        rows = [_cells(origin, item) for origin, item in inventory.builds]
        console.print_table(console.Table(_COLUMNS, rows, {"in": "cyan", "corrupt": "red"}))
    others = "".join(
        f" · {kind} {spell_size(size)}" for kind, size in sorted(inventory.others.items())
    )
    count = f"{len(inventory.builds)} build{'s' * (len(inventory.builds) != 1)}"
    out.print(
        f"{count} · {spell_size(inventory.size)} in {friendly(inventory.root)}",
        markup=False,
        end="",
    )
    out.print(others, style="dim", soft_wrap=True)
    for item in inventory.links:
        out.print(f"  {leads_out(item)}", markup=False, soft_wrap=True)


def _cells(origin: str, item: Item) -> tuple[str, ...]:
    from fictl.quantity import spell_age, spell_size

    now = time.time()
    manifest = item.entry.manifest if item.entry else None
    return (
        f"{item.project}/{item.module}",
        " ".join(manifest.archs) or manifest.device if manifest else "?",
        manifest.variant if manifest else "?",
        spell_size(item.size),
        # A wheel says no date: it is the same whenever it is made.
        f"{spell_age(now - manifest.created)} ago" if manifest and manifest.created else "?",
        f"{spell_age(now - item.used)} ago",
        origin,
        "in use" if item.in_use else "" if manifest else _NEWER if item.newer else "corrupt",
    )
