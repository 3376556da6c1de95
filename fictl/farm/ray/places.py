"""Places in a Ray cluster, as a user names them: by `--on ray…`, or by a table of a file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from fictl import settings
from fictl.errors import InvalidValue, SetupError, UsageError, shown
from fictl.farm.place import Place
from fictl.farm.ray.needs import SCHEME, ClusterNeeds, address_of

RAY = "ray"
KEYS = ("address", "count", "require")
_OPTION = re.compile(r"ray(?::(?P<count>\d{1,5}))?(?:@(?P<at>.+))?")
_TYPE = re.compile(r"\w[\w.-]{0,99}")
_MOST = 10_000
_REQUIRE = 'as in require = { accelerator_type = "B200", gpus = 2 }'
EXAMPLE = "--on ray, ray:4, ray://10.0.0.5:6379, ray:4@10.0.0.5:6379"


def is_ray(on: str) -> bool:
    return on.startswith(SCHEME) or _OPTION.fullmatch(on) is not None


def of_option(on: str, gpus: int) -> Iterator[Place]:
    """Yield the places of an `--on`; without a number, one for each GPU, or for each node."""
    match = _OPTION.fullmatch(on)
    text = on if match is None else match["at"] or _address_set()
    try:
        address = address_of(text)
    except InvalidValue as error:
        raise UsageError(f"--on: {error.message}", error.hint) from None
    needs = ClusterNeeds(address, gpus=gpus)
    count = int(match["count"]) if match and match["count"] else _size(needs)
    if not 0 < count <= _MOST:
        raise UsageError(f"--on {on}: {count} places", f"between 1 and {_MOST}")
    for number in range(count):
        yield Place(f"{RAY}-{number}", engine=RAY, cluster=needs)


def of_table(place: Place, table: dict[str, Any]) -> Iterator[Place]:
    """Yield the places of a table: with `count`, their names end with their numbers."""
    address = table.get("address", "")
    if not isinstance(address, str):
        raise InvalidValue(f"address is {shown(repr(address))}", EXAMPLE)
    needs = _needs(address_of(address or _address_set()), table.get("require", {}))
    labels = (*place.labels, needs.accelerator_type) if needs.accelerator_type else place.labels
    first = replace(place, cluster=needs, labels=labels)
    if "count" not in table:
        yield first
        return
    count = table["count"]
    if type(count) is not int or not 0 < count <= _MOST:
        raise InvalidValue(f"count is {shown(repr(count))}", f"between 1 and {_MOST}")
    for number in range(count):
        yield replace(first, name=f"{place.name}-{number}")


def settled(place: Place, gpus: int) -> Place:
    """Let the device decide how many GPUs a place has that does not say it."""
    if place.cluster is None or place.cluster.gpus is not None:
        return place
    return replace(place, cluster=replace(place.cluster, gpus=gpus))


def _needs(address: str, require: Any) -> ClusterNeeds:
    if not isinstance(require, dict) or {*require} - {"accelerator_type", "gpus"}:
        raise InvalidValue(f"require is {shown(repr(require))}", _REQUIRE)
    kind, gpus = require.get("accelerator_type", ""), require.get("gpus")
    if not isinstance(kind, str) or (kind and not _TYPE.fullmatch(kind)):
        raise InvalidValue(f"accelerator_type is {shown(repr(kind))}", _REQUIRE)
    if gpus is not None and (type(gpus) is not int or not 0 <= gpus <= _MOST):
        raise InvalidValue(f"gpus is {shown(repr(gpus))}", _REQUIRE)
    return ClusterNeeds(address, kind, gpus)


def _address_set() -> str:
    address = settings.RAY_ADDRESS.get()
    if not address:
        raise UsageError(
            f"no Ray cluster is named: {settings.RAY_ADDRESS.name} is not set", EXAMPLE
        )
    return address


def _size(needs: ClusterNeeds) -> int:
    """Count the GPUs of a cluster, or its nodes where a place needs none."""
    from fictl.farm.ray.link import link_to

    nodes = link_to(needs.address).nodes
    if not needs.gpus:
        return len(nodes)
    count = int(sum(node.resources.get("GPU", 0) for node in nodes)) // needs.gpus
    if not count:
        raise SetupError(
            f"the {len(nodes)} nodes of the Ray cluster at {needs.address} have no GPU now",
            "--device emu and cpu need none; --on ray:4 waits for the cluster to start a machine",
        )
    return count
