"""Names of FlashInfer's that serving engines reach, and how: the recorded list engines.txt."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from fictl.compat.flashinfer._lists import paragraphs

# Imported with a file of the engine, with no way round: without the name there is no engine.
ALWAYS = "always"


@cache
def reached() -> Mapping[str, Mapping[str, frozenset[str]]]:
    """Names below the package by engine (as "vllm 0.33.0") and way."""
    engines: dict[str, dict[str, frozenset[str]]] = {}
    for heads, names in paragraphs("engines.txt"):
        ways = engines.setdefault(heads[0], {})
        ways |= {way: frozenset(names) for way in heads[1:]}
    return engines


@cache
def needed() -> frozenset[str]:
    """Names that some engine cannot be imported without."""
    return frozenset().union(*(ways.get(ALWAYS, ()) for ways in reached().values()))
