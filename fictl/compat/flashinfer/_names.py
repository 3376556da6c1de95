"""FlashInfer's public names and their modules: the recorded list names.txt."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from fictl.compat.flashinfer._lists import paragraphs

# Version of the API that is followed.
VERSION = "0.7.2"
PACKAGE = "fictl.compat.flashinfer"
# The name that engines import; the package of `fictl compat wheel` has it.
ALIAS = "flashinfer"
TOP = "."

# Names that FlashInfer's documentation uses but its wheel does not have.
DOCUMENTED = {"jit": ("define_variant",)}


@cache
def recorded() -> Mapping[str, frozenset[str]]:
    """Names by module, with those of DOCUMENTED; TOP is the package itself."""
    return {
        module: frozenset((*names, *DOCUMENTED.get(module, ())))
        for (module,), names in paragraphs("names.txt")
    }


def theirs(module: str) -> str:
    """Name of our module in the recorded list."""
    root = PACKAGE if f"{module}.".startswith(f"{PACKAGE}.") else ALIAS
    return f"{module}.".removeprefix(f"{root}.").rstrip(".") or TOP


def spelled(module: str) -> str:
    """Name of a recorded module as FlashInfer's users write it."""
    return ALIAS if module == TOP else f"{ALIAS}.{module}"


def below(module: str, name: str) -> str:
    """Name of what a recorded module has, below the package."""
    return name if module == TOP else f"{module}.{name}"
