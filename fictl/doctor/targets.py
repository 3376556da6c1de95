"""Check of the architectures that a build here is for, and that the GPUs here run it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from fictl import settings
from fictl.arch import ArchRule, known_gpus, spell
from fictl.doctor.finding import DoctorFinding, error, ok, warning
from fictl.errors import FictlError
from fictl.toolchain import Gpu, Targets, can_target, select_targets
from fictl.toolchain.search import GET_NVCC

if TYPE_CHECKING:
    from fictl.doctor.facts import Facts

_RULE = ArchRule.parse(">=7.5")


def targets(facts: Facts) -> Iterator[DoctorFinding]:
    if facts.nvcc is None:
        return
    name, nvcc = "architectures", facts.nvcc
    targets = (gpu.full for gpu in known_gpus())
    can = f"nvcc {nvcc.release} can target {spell(a for a in targets if can_target(nvcc, a))}"
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


def _judge(name: str, chosen: Targets, gpus: tuple[Gpu, ...], can: str) -> Iterator[DoctorFinding]:
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
