"""The split of a wheel by families of GPUs: sm8x, sm9x, … each with its own builds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from fictl.arch import Arch
from fictl.jit import JitSpec
from fictl.jit.compilers import cuda_targets, find_compilers
from fictl.jit.module_spec import ModuleSpec


@dataclass(frozen=True)
class Part:
    """The specs of one wheel. `family` is '' where it has all; then `archs` are the user's."""

    family: str
    specs: tuple[JitSpec, ...]
    archs: tuple[Arch, ...] = ()


def by_family(specs: Sequence[JitSpec], archs: tuple[Arch, ...]) -> list[Part]:
    """Return a part for each family among the targets, oldest first.

    A module is in the parts that it has targets in, and is built there for these alone.
    """
    parts: dict[int, list[JitSpec]] = {}
    for spec in specs:
        targets = _targets(spec.aimed_at(archs), archs)
        for major in dict.fromkeys(arch.major for arch in targets):
            own = tuple(arch for arch in targets if arch.major == major)
            parts.setdefault(major, []).append(replace(spec, exact_archs=own))
    return [Part(f"sm{major}x", tuple(parts[major])) for major in sorted(parts)]


def _targets(spec: ModuleSpec, archs: tuple[Arch, ...]) -> tuple[Arch, ...]:
    compilers = find_compilers("cuda")
    chosen = compilers.targets(spec, archs) if compilers else cuda_targets(spec, archs, None)
    return chosen.archs
