"""Selects the architectures to build: requested, declared by the op, supported by nvcc."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fictl.arch import Arch, ArchRule, spell, unique
from fictl.errors import FictlError, SetupError, UsageError
from fictl.toolchain.arch_request import FLAG, GPUS, LIST, ArchRequest, make_request
from fictl.toolchain.capability import can_target
from fictl.toolchain.gpus import Gpu
from fictl.toolchain.nvcc import Nvcc
from fictl.toolchain.search import GET_NVCC

_NAME_THEM = "name them with --arch or FICTL_CUDA_ARCH_LIST, as in '8.0 9.0a'"
_BLACKWELL_TYPES = ("-DFICTL_ENABLE_FP8_E8M0", "-DFICTL_ENABLE_FP4_E2M1")


@dataclass(frozen=True)
class Dropped:
    """A requested target that this nvcc lacks."""

    arch: Arch
    reason: str


@dataclass(frozen=True)
class Targets:
    """Targets of a build (never empty), their origin, and dropped targets."""

    archs: tuple[Arch, ...]
    origin: str
    dropped: tuple[Dropped, ...] = ()

    @property
    def warning(self) -> str:
        """One text about all dropped targets; empty if there are none."""
        return "; ".join(dropped.reason for dropped in self.dropped)


def select_targets(
    op: str,
    rule: ArchRule,
    nvcc: Nvcc | None,
    *,
    fallback: str = "",
    explicit: tuple[Arch, ...] | None = None,
    gpus: tuple[Gpu, ...] | None = None,
) -> Targets:
    """Return the targets of `op`; raise an error with reason and fix if there are none.

    Without an nvcc, nothing is dropped.
    """
    request = make_request(rule, fallback, explicit, gpus)
    declared = unique(filter(None, map(rule.select, request.archs)))
    if not declared:
        raise _nothing_declared(op, rule, request)
    if nvcc is None:
        return Targets(declared, request.origin)
    archs, dropped = _within(nvcc, declared, rule, request.detected)
    if not archs:
        raise _nothing_targetable(op, rule, nvcc, request, dropped)
    return Targets(archs, request.origin, dropped)


def defines(archs: Iterable[Arch]) -> tuple[str, ...]:
    """Return the macros that enable Blackwell's types if one target has these types."""
    return _BLACKWELL_TYPES if any(arch.major >= 10 for arch in archs) else ()


def nvcc_flags(archs: Sequence[Arch]) -> tuple[str, ...]:
    return (*(arch.gencode for arch in archs), *defines(archs))


def _within(
    nvcc: Nvcc, declared: Iterable[Arch], rule: ArchRule, detected: Iterable[Arch]
) -> tuple[tuple[Arch, ...], tuple[Dropped, ...]]:
    archs: list[Arch] = []
    dropped: list[Dropped] = []
    for arch in declared:
        if can_target(nvcc, arch):
            archs.append(arch)
            continue
        # fictl chose the `a`, not the user; the plain target runs on that GPU too.
        plain = rule.select(arch.plain) if arch in detected else None
        instead = plain if plain and plain != arch and can_target(nvcc, plain) else None
        archs += [instead] if instead else []
        outcome = f"{instead} is built instead" if instead else "it is left out"
        dropped.append(Dropped(arch, f"{_lacks(nvcc, arch)}: {outcome}"))
    return unique(archs), tuple(dropped)


def _lacks(nvcc: Nvcc, arch: Arch) -> str:
    needed = f" (CUDA {arch.first_cuda} has it)" if arch.first_cuda else ""
    return f"nvcc {nvcc.release} cannot target {arch}{needed}"


def _nothing_declared(op: str, rule: ArchRule, request: ArchRequest) -> FictlError:
    if not request.archs:
        return SetupError(f"{op}: no architecture to build for: {request.nothing}", _NAME_THEM)
    message = f"{op} is for {rule}, not for {_asked(request)}"
    if request.origin in (FLAG, LIST):
        return UsageError(message, f"add one that {op} is for, or leave it out of this build")
    return SetupError(message, f"to build it for another GPU, {_NAME_THEM}")


def _nothing_targetable(
    op: str, rule: ArchRule, nvcc: Nvcc, request: ArchRequest, dropped: tuple[Dropped, ...]
) -> SetupError:
    archs = tuple(target.arch for target in dropped)
    lacks = "; ".join(_lacks(nvcc, arch) for arch in archs)
    message = f"{op} ({rule}) cannot be built for {_asked(request)}: {lacks}"
    releases = [arch.first_cuda for arch in archs if arch.first_cuda]
    oldest = min(releases, key=lambda text: tuple(map(int, text.split("."))), default=None)
    toolkit = f"CUDA {oldest} or newer" if oldest else "a toolkit that has it"
    hint = f"get {toolkit}: {GET_NVCC}"
    usable = _usable_instead(nvcc, rule, request.gpus)
    return SetupError(message, f"{hint}; or FICTL_CUDA_ARCH_LIST={usable}" if usable else hint)


def _usable_instead(nvcc: Nvcc, rule: ArchRule, gpus: Iterable[Gpu]) -> Arch | None:
    """Return an older target that runs on a GPU here, as 10.0 does on 10.3; else None."""
    for gpu in gpus:
        for minor in range(gpu.arch.minor):
            arch = Arch(gpu.arch.major, minor)
            if rule.select(arch) == arch and can_target(nvcc, arch):
                return arch
    return None


def _asked(request: ArchRequest) -> str:
    if request.origin == GPUS:
        return f"the GPUs present, {', '.join(dict.fromkeys(map(str, request.gpus)))}"
    return f"{spell(request.archs)} ({request.origin})"
