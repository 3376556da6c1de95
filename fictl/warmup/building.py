"""Builds what was recorded, and nothing else; tells an engine how far it is."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fictl.arch import Arch
from fictl.builds.for_archs import for_archs
from fictl.errors import FictlError
from fictl.jit import JitSpec
from fictl.jit.batch import build_all
from fictl.jit.build import BuildOutcome
from fictl.jit.progress import BuildObserver, LogObserver
from fictl.toolchain import native_targets
from fictl.warmup.needs_file import NeededModule, read
from fictl.warmup.specs import is_stale, resolved


@dataclass(frozen=True)
class WarmupProgress:
    """One module has ended. `left` estimates the remaining seconds; None before the first compile."""

    done: int
    total: int
    module: str
    compiled: bool
    seconds: float
    left: float | None
    error: str = ""


@dataclass(frozen=True)
class WarmedModule:
    """Result of one recorded module. `stale`: its sources have changed since it was recorded."""

    title: str
    parameters: dict[str, Any]
    archs: tuple[str, ...] = ()
    compiled: bool = False
    stale: bool = False
    path: str = ""
    error: FictlError | None = None

    def to_dict(self) -> dict[str, Any]:
        error = {"message": self.error.message, "hint": self.error.hint} if self.error else None
        return {**vars(self), "archs": list(self.archs), "error": error}


@dataclass(frozen=True)
class WarmupReport:
    """Results of all modules of a file, the refused ones included."""

    file: Path
    modules: tuple[WarmedModule, ...]
    cut_off: bool = False
    dry_run: bool = False

    @property
    def errors(self) -> list[FictlError]:
        return [module.error for module in self.modules if module.error]

    def to_dict(self) -> dict[str, Any]:
        return {
            "file": str(self.file),
            "dry_run": self.dry_run,
            "cut_off": self.cut_off,
            "modules": [module.to_dict() for module in self.modules],
        }


OnProgress = Callable[[WarmupProgress], None]


def build(
    path: Path | str,
    on_progress: OnProgress | None = None,
    archs: tuple[Arch, ...] = (),
    observer: BuildObserver | None = None,
    dry_run: bool = False,
) -> WarmupReport:
    """Build the recorded modules for `archs`, else for the GPUs here, else as they were recorded.

    `on_progress` gets a WarmupProgress after each module, one at a time; an exception in it ends
    the warm-up, after the compiles that run. Errors of modules are in the report.
    """
    needs = read(path)
    accepted, refused = resolved(needs.modules)
    warmed = [
        WarmedModule(needed.title, dict(needed.parameters or {}), needed.archs, error=error)
        for needed, error in refused
    ]
    if dry_run:
        warmed = [*(_planned(*one) for one in accepted), *warmed]
    else:
        counter = _Counter(len(accepted), on_progress)
        warmed = [*_built(accepted, archs, observer or LogObserver(), counter), *warmed]
    return WarmupReport(needs.path, tuple(warmed), needs.cut_off, dry_run)


def _planned(needed: NeededModule, spec: JitSpec) -> WarmedModule:
    parameters = dict(needed.parameters or {})
    return WarmedModule(needed.title, parameters, needed.archs, stale=is_stale(needed, spec))


def _built(
    accepted: Sequence[tuple[NeededModule, JitSpec]],
    archs: tuple[Arch, ...],
    observer: BuildObserver,
    counter: _Counter,
) -> list[WarmedModule]:
    groups: dict[tuple[Arch, ...], list[tuple[NeededModule, JitSpec]]] = {}
    for needed, spec in accepted:
        groups.setdefault(_targets(needed, archs), []).append((needed, spec))
    warmed: list[WarmedModule] = []
    for targets, group in groups.items():
        wanted = {id(spec) for spec in for_archs([s for _, s in group], targets, observer.note)}
        kept = [(needed, spec) for needed, spec in group if id(spec) in wanted]
        counter.total -= len(group) - len(kept)
        outcomes = build_all([spec for _, spec in kept], targets, observer, on_end=counter.ended)
        warmed += [_warmed(*one, outcome) for one, outcome in zip(kept, outcomes, strict=True)]
    return warmed


def _targets(needed: NeededModule, archs: tuple[Arch, ...]) -> tuple[Arch, ...]:
    """Return the targets of a build; none lets the environment and the GPUs here decide."""
    from fictl import settings

    if needed.device == "emu":
        return ()
    if archs or settings.CUDA_ARCH_LIST.get() or native_targets():
        return archs
    return needed.targets


def _warmed(
    needed: NeededModule, spec: JitSpec, outcome: BuildOutcome | FictlError
) -> WarmedModule:
    parameters = dict(needed.parameters or {})
    if isinstance(outcome, FictlError):
        return WarmedModule(needed.title, parameters, needed.archs, error=outcome)
    manifest = outcome.entry.manifest
    stale = manifest.recipe != needed.recipe
    return WarmedModule(
        needed.title, parameters, manifest.archs, outcome.compiled, stale, str(outcome.entry.path)
    )


@dataclass
class _Counter:
    """Counts ended modules, which end in several threads."""

    total: int
    on_progress: OnProgress | None
    done: int = 0
    compiled: int = 0
    begun: float = field(default_factory=time.monotonic)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def ended(self, outcome: BuildOutcome | FictlError) -> None:
        with self._lock:
            self.done += 1
            failed = isinstance(outcome, FictlError)
            compiled = not isinstance(outcome, FictlError) and outcome.compiled
            self.compiled += compiled
            if self.on_progress is not None:
                self.on_progress(self._progress(outcome, compiled, failed))

    def _progress(
        self, outcome: BuildOutcome | FictlError, compiled: bool, failed: bool
    ) -> WarmupProgress:
        seconds = time.monotonic() - self.begun
        left = seconds / self.done * (self.total - self.done) if self.compiled else None
        if isinstance(outcome, FictlError):
            return WarmupProgress(
                self.done, self.total, "", compiled, seconds, left, outcome.message
            )
        manifest = outcome.entry.manifest
        title = f"{manifest.project}/{manifest.module}"
        return WarmupProgress(self.done, self.total, title, compiled, seconds, left)
