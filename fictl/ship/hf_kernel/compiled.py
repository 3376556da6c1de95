"""The compiled modules of an op, ready to be given to other machines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fictl import rooted, settings
from fictl.arch import Arch
from fictl.builds.for_archs import for_archs
from fictl.errors import FictlError, SetupError, UsageError
from fictl.jit import JitSpec
from fictl.jit.batch import build_all
from fictl.jit.build import BuildOutcome
from fictl.jit.cache.removal import clear
from fictl.jit.emulated_runtime import RUNTIME_NAME, runtime_spec
from fictl.jit.module_spec import ModuleSpec
from fictl.jit.progress import BuildObserver
from fictl.jit.store.entry import Entry
from fictl.jit.store.platform import Platform
from fictl.jit.store.shareable import unshareable, unshared_variant
from fictl.jit.store.use import Removed, keep, unless_removed
from fictl.op.folder_specs import folder_specs
from fictl.paths import cache_root
from fictl.project import OpFolder
from fictl.ship.hf_kernel.metadata import Backend

MODULE = "module"
_RELEASE = re.compile(r"(\d+)\.(\d+)")


@dataclass(frozen=True)
class CompiledModules:
    """Builds by their stem: the name of a module's files and, of several, in Python."""

    entries: dict[str, Entry]
    runtime: Entry | None

    @property
    def files(self) -> dict[str, bytes]:
        files = {f"{stem}.so": rooted.read(entry.module) for stem, entry in self.entries.items()}
        if self.runtime is not None:
            files[RUNTIME_NAME] = rooted.read(self.runtime.module)
        return files

    @property
    def platform(self) -> Platform:
        return Platform.parse(next(iter(self.entries.values())).manifest.platform)

    @property
    def variant(self) -> str:
        """Name of the folder: as in tvm-ffi01-cu130-x86_64-linux."""
        manifest = next(iter(self.entries.values())).manifest
        abi = "".join(manifest.ffi_abi.split(".")[:2])
        return f"tvm-ffi{abi}-{self.backend.variant}-{self.platform.machine}-linux"

    @property
    def backend(self) -> Backend:
        manifest = next(iter(self.entries.values())).manifest
        if manifest.device == "emu":
            return Backend("cpu", "cpu", ())
        release = _RELEASE.search(manifest.toolchain.get("nvcc", ""))
        if release is None:
            raise SetupError(
                f"which CUDA built {manifest.module} is not recorded", "build it again"
            )
        archs = dict.fromkeys(a for e in self.entries.values() for a in e.manifest.archs)
        return Backend("cuda", f"cu{release[1]}{release[2]}", tuple(archs))


def stems(specs: Sequence[JitSpec]) -> list[str]:
    """Name modules: `module` for the only one, else by the parameter in which they differ, such as
    the element type. Modules that differ in more are chosen by the op's Python code.
    """
    if len(specs) == 1:
        return [MODULE]
    values = [_parameters(spec) for spec in specs]
    differ = sorted({name for one in values for name in one if one[name] != values[0].get(name)})
    if len(differ) != 1:
        raise UsageError(
            f"{specs[0].name} cannot be exported: which of its {len(specs)} modules runs is chosen "
            f"in Python, by {', '.join(differ[:4])}, and a thin file cannot carry that",
            "--arch may name architectures that need fewer; export-op without --to copies the op",
        )
    return [_identifier(f"{differ[0]}_{one.get(differ[0], '')}") for one in values]


def specs_to_export(folder: OpFolder, archs: tuple[Arch, ...]) -> list[JitSpec]:
    return for_archs(folder_specs(folder), archs)


def compiled(
    specs: Sequence[JitSpec], archs: tuple[Arch, ...], observer: BuildObserver
) -> CompiledModules:
    """Build the modules as `fictl build` does; refuse builds that are of this machine alone."""
    names = stems(specs)
    entries = dict(zip(names, unless_removed(lambda: _built(specs, archs, observer)), strict=True))
    is_emulated = any(entry.manifest.device == "emu" for entry in entries.values())
    if not is_emulated:
        return CompiledModules(entries, None)
    (runtime,) = unless_removed(lambda: _built([runtime_spec()], (), observer))
    return CompiledModules(entries, runtime)


def _built(
    specs: Sequence[ModuleSpec], archs: tuple[Arch, ...], observer: BuildObserver
) -> list[Entry]:
    """Build; what an older fictl left in the cache, with names of this machine, is built again."""
    outcomes = [*map(_outcome, build_all(specs, archs, observer, exact=True))]
    old = {outcome.entry.path for outcome in outcomes if _is_old(outcome)}
    if old and not settings.DISABLE_JIT.get():
        clear(cache_root(), lambda item: item.path in old)
        outcomes = [*map(_outcome, build_all(specs, archs, observer, exact=True))]
    entries = [outcome.entry for outcome in outcomes]
    for entry in entries:
        keep(entry)
        if reason := unshareable(entry):
            raise UsageError(
                f"the build of {entry.manifest.module} cannot be exported: {reason}",
                "build it again without what is named, where compiling is allowed",
            )
    return entries


def _is_old(outcome: BuildOutcome) -> bool:
    manifest = outcome.entry.manifest
    if outcome.compiled or unshared_variant(manifest.device, manifest.variant):
        return False
    try:
        return bool(unshareable(outcome.entry))
    except FileNotFoundError:
        raise Removed(outcome.entry.path) from None


def _outcome(outcome: BuildOutcome | FictlError) -> BuildOutcome:
    if isinstance(outcome, FictlError):
        raise outcome
    return outcome


def _parameters(spec: JitSpec) -> dict[str, str]:
    parameters = spec.template.parameters if spec.template else {}
    launcher = {"launcher": Path(spec.sources[0]).stem} if spec.sources else {}
    return {**launcher, **{name: str(value) for name, value in parameters.items()}}


def _identifier(text: str) -> str:
    return re.sub(r"\W+", "_", re.sub(r"_{2,}", "_", text)).strip("_").lower()
