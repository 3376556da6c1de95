"""FlashInfer's public names and their modules: the recorded list names.txt."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

# Version of the API that is followed.
VERSION = "0.7.2"
PACKAGE = "fictl.compat.flashinfer"
TOP = "."

# Names that FlashInfer's documentation uses but its wheel does not have.
DOCUMENTED = {"jit": ("define_variant",)}


@cache
def recorded() -> Mapping[str, frozenset[str]]:
    """Names by module, with those of DOCUMENTED; TOP is the package itself."""
    by_module: dict[str, set[str]] = {}
    module = TOP
    for line in Path(__file__).with_name("names.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith(" "):
            by_module[module].update(line.split())
        elif not line.startswith("#"):
            module = line
            by_module[module] = set()
    return {
        module: frozenset((*names, *DOCUMENTED.get(module, ())))
        for module, names in by_module.items()
    }


def theirs(module: str) -> str:
    """Name of our module in the recorded list."""
    return module.removeprefix(PACKAGE).lstrip(".") or TOP


def spelled(module: str) -> str:
    """Name of a recorded module as FlashInfer's users write it."""
    return "flashinfer" if module == TOP else f"flashinfer.{module}"
