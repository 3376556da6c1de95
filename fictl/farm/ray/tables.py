"""Tables of a file of places for a running Ray cluster."""

from __future__ import annotations

import json
from collections import Counter

from fictl.errors import InvalidValue, UsageError
from fictl.farm.ray.link import link_to
from fictl.farm.ray.messages import Node
from fictl.farm.ray.needs import SCHEME, address_of
from fictl.quantity import counted

_TYPE = "accelerator_type:"


def cluster_tables(text: str) -> list[str]:
    """Return a table for each kind of accelerator, or one for all nodes if there is none."""
    try:
        address = address_of(text)
    except InvalidValue as error:
        raise UsageError(f"--ray: {error.message}", error.hint) from None
    nodes = link_to(address).nodes
    gpus = Counter[str]()
    for node in nodes:
        gpus[_type_of(node)] += int(node.resources.get("GPU", 0))
    tables = [
        _table(address, count, {"accelerator_type": kind, "gpus": 1} if kind else {"gpus": 1})
        for kind, count in sorted(gpus.items())
        if count
    ]
    return tables or [_table(address, len(nodes), {"gpus": 0})]


def _type_of(node: Node) -> str:
    return next((n.removeprefix(_TYPE) for n in node.resources if n.startswith(_TYPE)), "")


def _table(address: str, count: int, require: dict[str, object]) -> str:
    """Return a table; what the cluster calls its accelerators is quoted."""
    needs = ", ".join(f"{key} = {json.dumps(value)}" for key, value in require.items())
    kind = str(require.get("accelerator_type", "")).lower()
    name = json.dumps(f"ray-{kind}" if kind else "ray")
    return (
        f"# A Ray cluster: {counted(count, 'place')} of it.\n"
        f'[[place]]\nname = {name}\nengine = "ray"\naddress = "{SCHEME}{address}"\n'
        f"count = {count}\nrequire = {{ {needs} }}\n"
    )
