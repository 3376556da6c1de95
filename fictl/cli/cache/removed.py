"""The result of clear and gc: what was removed and what was kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from fictl.cli import console
from fictl.paths import friendly
from fictl.quantity import spell_size

if TYPE_CHECKING:
    from rich.console import Console

    from fictl.jit.cache.inventory import Item
    from fictl.jit.cache.removal import Removal


def result(removal: Removal, dry_run: bool) -> console.Result:
    data = {
        "dry_run": dry_run,
        "freed": removal.freed,
        "left": removal.left,
        "removed": [_described(item) for item in removal.removed],
        "kept": [_described(item) for item in removal.kept],
        "links": [_described(item) for item in removal.links],
    }
    return console.Result(data, lambda out: _view(out, removal, dry_run))


def leads_out(item: Item) -> str:
    """Describe a link or a mount in the cache."""
    what = "a link" if item.kind == "link" else "a mounted file system"
    return f"{friendly(item.path)}: {what}; the cache ends there"


def _described(item: Item) -> dict[str, Any]:
    named = {"project": item.project, "module": item.module} if item.module else {}
    return {"kind": item.kind, "path": str(item.path), "size": item.size, **named}


def _view(out: Console, removal: Removal, dry_run: bool) -> None:
    if dry_run:
        for item in removal.removed:
            out.print(f"  {friendly(item.path)}", markup=False, style="dim", soft_wrap=True)
    what = ", ".join(_counted(removal.removed)) or "nothing"
    verb = "would free" if dry_run else "freed"
    left = f"{spell_size(removal.left)} left"
    out.print(f"{verb} {spell_size(removal.freed)} ({removal.freed} bytes): {what} · {left}")
    for item in removal.kept:
        name = f"{item.project}/{item.module} " if item.module else ""
        out.print(f"  kept {name}{friendly(item.path)}: in use", markup=False, soft_wrap=True)
    for item in removal.links:
        out.print(f"  left {leads_out(item)}", markup=False, soft_wrap=True)
    if removal.kept:
        out.print("  a process has it loaded; fictl cache clear --force removes it all the same")


def _counted(items: Iterable[Item]) -> list[str]:
    counts = Counter(item.kind for item in items)
    return [f"{n} {kind}{'s' * (n != 1)}" for kind, n in sorted(counts.items())]
