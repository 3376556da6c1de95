"""fictl farm up: a Ray cluster on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from fictl.cli import console
from fictl.cli.numbers import whole
from fictl.cli.options import DryRun, Json
from fictl.quantity import counted

if TYPE_CHECKING:
    from rich.console import Console

    from fictl.farm.ray.cluster import LocalCluster

EXAMPLES = {
    "fictl farm up -n 2": "two nodes",
    "fictl farm up --dry-run": "see what would start",
}


def command(
    nodes: Annotated[int, whole("-n", "--nodes", low=1, high=64, help="Number of nodes.")] = 1,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Start a Ray cluster here to try places with, which only this machine and its token reach.

    It runs until `fictl farm down`.
    """
    from fictl.farm.ray.cluster import require_ray, start

    if dry_run:
        require_ray()
        words = f"would start {counted(nodes, 'node')} of Ray on the loopback interface"
        console.show(console.Result({"dry_run": True, "nodes": nodes}, words))
        return
    cluster = start(nodes)
    data = {
        "dry_run": False,
        "nodes": cluster.nodes,
        "address": cluster.address,
        "on": cluster.on,
        "token_path": str(cluster.token_path),
    }
    console.show(console.Result(data, lambda out: _view(out, cluster)))


def _view(out: Console, cluster: LocalCluster) -> None:
    lines = (
        f"{counted(cluster.nodes, 'node')} of Ray at {cluster.address}, until `fictl farm down`",
        f"  fictl    --on {cluster.on}",
        f"  others   export RAY_AUTH_MODE=token RAY_AUTH_TOKEN_PATH={cluster.token_path}",
    )
    for line in lines:
        out.print(line, markup=False, soft_wrap=True)
