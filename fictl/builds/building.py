"""Build ops by name, for `fictl build` and the tests."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from fictl.arch import Arch, spell
from fictl.builds.for_archs import for_archs
from fictl.errors import FictlError
from fictl.jit import JitSpec
from fictl.jit.batch import build_all
from fictl.jit.build import BuildOutcome, plan_build
from fictl.jit.build_time.measure import measure
from fictl.jit.build_time.report import BuildTime
from fictl.jit.progress import BuildObserver
from fictl.op.folder_specs import folder_specs
from fictl.project import Project, select
from fictl.redact import hidden, hide_secrets


@dataclass(frozen=True)
class BuiltModule:
    """Result of building one module.

    archs: architectures of the build; `beyond`: those among them that were not requested.
    error: why the build failed. title: the module's name for people, with its backend.
    time: time of a cold build by phase, if requested. place: the other machine that built it.
    """

    project: str
    module: str
    archs: tuple[str, ...] = ()
    beyond: tuple[str, ...] = ()
    origin: str = ""
    compiled: bool = False
    seconds: float = 0.0
    recipe: str = ""
    build: str = ""
    path: str = ""
    error: FictlError | None = None
    time: BuildTime | None = None
    why: str = ""
    title: str = ""
    place: str = ""

    def to_dict(self) -> dict[str, Any]:
        data = {**self.__dict__, "error": None, **(self.time.to_dict() if self.time else {})}
        del data["time"]
        if not self.place:
            del data["place"]
        if self.error:
            data["error"] = self.error.to_dict()
        return data


@dataclass(frozen=True)
class PlannedBuild:
    """Commands that a build of one module would run."""

    project: str
    module: str
    archs: tuple[str, ...]
    origin: str
    warning: str
    variant: str
    flags: dict[str, tuple[str, ...]]
    commands: tuple[str, ...] = field(default=())
    title: str = ""

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def build(
    names: Sequence[str], archs: tuple[Arch, ...], observer: BuildObserver, exact: bool = False
) -> list[BuiltModule]:
    """Build every module of the named ops, or of this project; a failure stops no other module.

    exact: do not reuse a build for more architectures than requested.
    """
    specs = for_archs(specs_of(names), archs, observer.note)
    results = build_all(specs, archs, observer, exact=exact)
    return [_built(spec, result) for spec, result in zip(specs, results, strict=True)]


def joined(built: Sequence[BuiltModule], elsewhere: Sequence[BuiltModule]) -> list[BuiltModule]:
    """Name the places of builds that came from elsewhere; add those of other compilers."""
    came = {module.path: module for module in elsewhere if module.error is None}
    own = [_named(module, came.pop(module.path, None)) for module in built]
    return [*own, *came.values()]


def _named(module: BuiltModule, came: BuiltModule | None) -> BuiltModule:
    return module if came is None else replace(module, place=came.place, compiled=came.compiled)


def build_timed(
    names: Sequence[str], archs: tuple[Arch, ...], observer: BuildObserver
) -> list[BuiltModule]:
    """Build, then measure a cold build by phase, one module after another."""
    specs = for_archs(specs_of(names), archs, observer.note)
    results = build_all(specs, archs, observer)
    return [
        _timed(spec, result, archs, observer) for spec, result in zip(specs, results, strict=True)
    ]


def plan(names: Sequence[str], archs: tuple[Arch, ...]) -> list[PlannedBuild]:
    """List the commands that a build would run, without running them."""
    return [_planned(spec, archs) for spec in for_archs(specs_of(names), archs)]


def specs_of(names: Sequence[str]) -> list[JitSpec]:
    """List the specs of aot() of the named ops, or of all ops of this project."""
    folders = select(names) if names else select((), [Project.at()])
    return [spec for folder in folders for spec in folder_specs(folder)]


def _built(spec: JitSpec, result: BuildOutcome | FictlError) -> BuiltModule:
    if isinstance(result, FictlError):
        return BuiltModule(spec.project, spec.name, error=result, title=spec.title)
    manifest = result.entry.manifest
    return BuiltModule(
        spec.project,
        spec.name,
        manifest.archs,
        _beyond(result),
        result.targets.origin if result.targets else "",
        result.compiled,
        manifest.seconds,
        manifest.recipe,
        manifest.build,
        str(result.entry.path),
        why=result.why,
        title=spec.title,
    )


def _beyond(result: BuildOutcome) -> tuple[str, ...]:
    if result.targets is None:
        return ()
    return tuple(str(arch) for arch in result.entry.archs if arch not in result.targets.archs)


def _timed(
    spec: JitSpec,
    result: BuildOutcome | FictlError,
    archs: tuple[Arch, ...],
    observer: BuildObserver,
) -> BuiltModule:
    built = _built(spec, result)
    if isinstance(result, FictlError):
        return built
    try:
        return replace(built, time=measure(plan_build(spec, archs), result.entry, observer))
    except FictlError as error:
        return replace(built, error=error)


def _planned(spec: JitSpec, archs: tuple[Arch, ...]) -> PlannedBuild:
    plan = plan_build(spec, archs)
    flags = plan.recipe.flags
    from fictl.toolchain import nvcc_flags

    targets = nvcc_flags(plan.targets.archs)
    kernels = "nvcc" if plan.recipe.device == "cuda" else plan.recipe.device
    commands = (*(unit.argv for unit in plan.units), plan.link)
    shown = {kernels: (*flags.kernel, *targets), "cxx": flags.cxx, "link": flags.link}
    return PlannedBuild(
        spec.project,
        spec.name,
        tuple(spell([arch]) for arch in plan.targets.archs),
        plan.targets.origin,
        plan.targets.warning,
        flags.variant,
        {tool: tuple(hidden("", words)) for tool, words in shown.items()},
        tuple(hide_secrets(shlex.join(argv)) for argv in commands),
        spec.title,
    )
