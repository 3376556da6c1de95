"""The requested architectures and their origin: flag, environment, GPUs present, project."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from fictl import settings
from fictl.arch import Arch, ArchRule, parse_archs, unique
from fictl.toolchain.gpus import Gpu, Probe, probe

FLAG = "flag"
LIST = settings.CUDA_ARCH_LIST.name
GPUS = "GPUs present"
PROJECT = "fictl.toml"
RULE = "op"

_SM120, _SM120A = Arch(12, 0), Arch(12, 0, "a")


@dataclass(frozen=True)
class ArchRequest:
    """Requested architectures. detected: targets derived from the GPUs, not named by a user."""

    archs: tuple[Arch, ...]
    origin: str
    gpus: tuple[Gpu, ...] = ()
    detected: tuple[Arch, ...] = ()
    nothing: str = ""


def make_request(
    rule: ArchRule, fallback: str, explicit: tuple[Arch, ...] | None, gpus: tuple[Gpu, ...] | None
) -> ArchRequest:
    """Return the first source that is set. The SM12 switches add to any source but the flag."""
    if explicit is not None:
        return ArchRequest(unique(explicit), FLAG, nothing="--arch names none")
    listed = settings.CUDA_ARCH_LIST.get()
    if listed:
        return _from_list(listed, gpus)
    present = _probe(gpus)
    detected = native_targets(present.gpus)
    archs, origin = (detected, GPUS) if detected else (parse_archs(fallback), PROJECT)
    wanted = _with_switches(archs)
    if rule.only_major(12) and not any(arch.major == 12 for arch in wanted):
        # An op for SM12 only has one possible target, whatever GPUs are present.
        return ArchRequest((_SM120A,), RULE)
    if rule.exact and not detected and not any(map(rule.select, wanted)):
        # Without a GPU, a project's default does not keep a backend from its only targets.
        return ArchRequest(rule.exact, RULE)
    nothing = f"{present.problem or 'no GPU is visible'} and FICTL_CUDA_ARCH_LIST is not set"
    return ArchRequest(wanted, origin if archs else _switch(), present.gpus, detected, nothing)


def native_targets(gpus: Iterable[Gpu] | None = None) -> tuple[Arch, ...]:
    """Return targets for the GPUs present: from 9.0 on, the one with all features (9.0a)."""
    present = _probe(None).gpus if gpus is None else gpus
    return unique(gpu.arch.full for gpu in present)


def _from_list(listed: str, gpus: tuple[Gpu, ...] | None) -> ArchRequest:
    detected: list[Arch] = []

    def native() -> tuple[Arch, ...]:
        detected.extend(native_targets(_probe(gpus).gpus))
        return tuple(detected)

    archs = _with_switches(parse_archs(listed, native))
    nothing = f"{LIST}={listed!r} names none that is here"
    return ArchRequest(archs, LIST, detected=tuple(detected), nothing=nothing)


def _probe(gpus: Iterable[Gpu] | None) -> Probe:
    return probe() if gpus is None else Probe(tuple(gpus))


def _with_switches(archs: tuple[Arch, ...]) -> tuple[Arch, ...]:
    plain, full = settings.ENABLE_SM120.get(), settings.ENABLE_SM120A.get()
    if full and not plain:
        archs = tuple(_SM120A if arch == _SM120 else arch for arch in archs)
    return unique((*archs, *[_SM120] * plain, *[_SM120A] * full))


def _switch() -> str:
    return (settings.ENABLE_SM120A if settings.ENABLE_SM120A.get() else settings.ENABLE_SM120).name
