"""Which architectures a build made here would be for, and whether the GPUs here run it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from fictl import settings
from fictl.arch import ArchRule, parse_archs, spell
from fictl.doctor.finding import Finding, error, ok, warning
from fictl.errors import FictlError
from fictl.toolchain import Gpu, Targets, can_target, select_targets
from fictl.toolchain.search import GET_NVCC

if TYPE_CHECKING:
    from fictl.doctor.facts import Facts

_RULE = ArchRule.parse(">=7.5")
_USUAL = parse_archs("7.5 8.0 8.6 8.9 9.0a 10.0a 10.3a 12.0a")


def targets(facts: Facts) -> Iterator[Finding]:
    if facts.nvcc is None:
        return
    name, nvcc = "architectures", facts.nvcc
    can = (
        f"nvcc {nvcc.release} can target {spell(arch for arch in _USUAL if can_target(nvcc, arch))}"
    )
    asked = (
        settings.CUDA_ARCH_LIST.get() or settings.ENABLE_SM120.get() or settings.ENABLE_SM120A.get()
    )
    if not asked and not facts.gpus.gpus:
        yield ok(name, can)
        return
    try:
        chosen = select_targets("a module", _RULE, nvcc, gpus=facts.gpus.gpus)
    except FictlError as problem:
        yield error(name, problem.message, problem.hint)
        return
    yield from _judge(name, chosen, facts.gpus.gpus, can)


def _judge(name: str, chosen: Targets, gpus: tuple[Gpu, ...], can: str) -> Iterator[Finding]:
    left_out = [gpu for gpu in gpus if not any(arch.runs_on(gpu.arch) for arch in chosen.archs)]
    seen = f"{spell(chosen.archs)} ({chosen.origin})"
    if left_out:
        add = spell(dict.fromkeys(gpu.arch for gpu in left_out))
        yield error(
            name,
            f"builds are for {seen}, which does not run on {', '.join(map(str, left_out))}",
            f"unset {settings.CUDA_ARCH_LIST.name}, or add {add} to it",
        )
    elif chosen.dropped:
        yield warning(name, chosen.warning, f"get a newer CUDA: {GET_NVCC}")
    else:
        yield ok(name, seen, can)
