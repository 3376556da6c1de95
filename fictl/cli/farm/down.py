"""fictl farm down: end the Ray cluster that `fictl farm up` started."""

from __future__ import annotations

from fictl.cli import console
from fictl.cli.options import DryRun, Json
from fictl.quantity import counted

EXAMPLES = {
    "fictl farm down": "end what `fictl farm up` started",
    "fictl farm down --dry-run": "see what would end",
}


def command(dry_run: DryRun = False, json: Json = False) -> None:
    """End the Ray cluster of `fictl farm up`, with all that runs in it."""
    from fictl.farm.ray.cluster import end, recorded

    cluster = recorded() if dry_run else end()
    data = {"dry_run": dry_run, "address": cluster.address if cluster else None}
    if cluster is None:
        console.show(console.Result(data, "no Ray cluster of `fictl farm up` runs here"))
        return
    verb = "would end" if dry_run else "ended"
    words = f"{verb} {counted(cluster.nodes, 'node')} of Ray at {cluster.address}"
    console.show(console.Result(data, words))
