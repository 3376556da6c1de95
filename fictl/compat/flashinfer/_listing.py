"""Statuses of FlashInfer's public names, and of the names that engines reach."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from importlib import import_module
from typing import Any

from fictl.compat.flashinfer._engines import needed, reached
from fictl.compat.flashinfer._missing import instead
from fictl.compat.flashinfer._names import PACKAGE, TOP, below, recorded, spelled, theirs
from fictl.compat.flashinfer._public import PLANNED, REFUSED, SERVED, plans

STATUSES = (SERVED, PLANNED, REFUSED)
# A name that can be imported, and whose call is refused.
STANDS_IN = "stands in"


@dataclass(frozen=True)
class PublicName:
    """A public name: its status, why it is not served, where FlashInfer has it, who reaches it."""

    name: str
    status: str
    reason: str
    modules: tuple[str, ...]
    engines: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class ReachedName:
    """A name that an engine reaches, in which way, and what it gets."""

    engine: str
    way: str
    name: str
    status: str
    reason: str

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def public_names() -> list[PublicName]:
    """List all public names, by their letters."""
    served = {name.rpartition(".")[2] for name in _served()}
    places: dict[str, list[str]] = {}
    for module, names in recorded().items():
        for name in (*names, *([] if module == TOP else [module.rpartition(".")[2]])):
            home = module if name in names else module.rpartition(".")[0] or TOP
            places.setdefault(name, []).append(spelled(home))
    users = _users()
    return [
        PublicName(
            name,
            SERVED if name in served else plan.status,
            "" if name in served else plan.reason,
            tuple(sorted({*places.get(name, ())})),
            tuple(sorted(users.get(name, ()))),
        )
        for name, plan in sorted(plans().items(), key=lambda item: (item[0].lower(), item[0]))
    ]


def reached_names() -> list[ReachedName]:
    """List what engines import, try and ask for, with what they get."""
    return [
        ReachedName(engine, way, spelled(name), *_outcome(name))
        for engine, ways in reached().items()
        for way, names in ways.items()
        for name in sorted(names)
    ]


def modules() -> Iterator[str]:
    """Our modules, by their whole names."""
    yield PACKAGE
    package = import_module(PACKAGE)
    for module in pkgutil.walk_packages(package.__path__, f"{PACKAGE}."):
        if not any(part.startswith("_") for part in module.name.split(".")):
            yield module.name


def _outcome(name: str) -> tuple[str, str]:
    if name in _served():
        return SERVED, ""
    module, _, last = name.rpartition(".")
    stands_in = name in needed() and (module in _served() or not module)
    return STANDS_IN if stands_in else REFUSED, instead(last)


@cache
def _served() -> frozenset[str]:
    """Names below the package that can be had, modules too."""
    own = {*modules()}
    names = {below(theirs(module), name) for module in own for name in dir(import_module(module))}
    return frozenset(names | {theirs(module) for module in own} | {"__version__"})


def _users() -> Mapping[str, set[str]]:
    users: dict[str, set[str]] = {}
    for engine, ways in reached().items():
        for name in frozenset().union(*ways.values()):
            users.setdefault(name.rpartition(".")[2], set()).add(engine.partition(" ")[0])
    return users
