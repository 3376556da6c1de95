"""The modules of ops that a list of architectures is for: an op may have a backend for some alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fictl.arch import Arch
from fictl.errors import FictlError
from fictl.jit import JitSpec
from fictl.jit.compilers import cuda_targets


def for_archs(
    specs: Sequence[JitSpec], archs: tuple[Arch, ...], note: Callable[[str], None] = lambda _: None
) -> list[JitSpec]:
    """Leave out backends for other architectures, with a note, where the op has one for these.

    An op without any keeps all its modules: their build raises the error that says why.
    """
    reasons = [_misfit(spec, archs) for spec in specs]
    served = {
        (spec.project, spec.name) for spec, reason in zip(specs, reasons, strict=True) if not reason
    }
    kept = []
    for spec, reason in zip(specs, reasons, strict=True):
        if reason and (spec.project, spec.name) in served:
            note(f"{spec.sources[0].name} is left out: {reason}")
        else:
            kept.append(spec)
    return kept


def _misfit(spec: JitSpec, archs: tuple[Arch, ...]) -> str:
    """Say why no target of a build is for this module; '' if one is."""
    aimed = spec.aimed_at(archs)
    if aimed.runs_on == "emu":
        return ""
    try:
        cuda_targets(aimed, archs, None)
    except FictlError as error:
        return error.message
    return ""
