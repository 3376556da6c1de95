"""Inspecting ops: their modules compiled as a build would, each unit once for each architecture."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from fictl import settings
from fictl.arch import Arch
from fictl.errors import FictlError
from fictl.inspect.binary import inspect_file
from fictl.inspect.compile_unit import compile_unit
from fictl.inspect.compiled import Compiled, find, folder_of
from fictl.inspect.inspected import Inspected
from fictl.inspect.inspected import Unit as AnyUnit
from fictl.inspect.kernel import Kernel
from fictl.inspect.sources import Sources
from fictl.jit import JitSpec
from fictl.jit.build import ensure, plan_build
from fictl.jit.compile import SourcesChanged
from fictl.jit.jobs import fitting, usable_cores
from fictl.jit.module_spec import ModuleSpec
from fictl.jit.plan import Plan, Unit
from fictl.jit.progress import BuildObserver
from fictl.jit.triton.step import targets
from fictl.process import stop_all
from fictl.toolchain import defines

_TRIES = 3


def inspect_specs(
    specs: Sequence[JitSpec], archs: tuple[Arch, ...], observer: BuildObserver
) -> list[Inspected]:
    """Each module by itself: one that does not compile leaves the others alone."""
    return [_inspect(replace(spec, device="cuda"), archs, observer) for spec in specs]


def _inspect(spec: JitSpec, archs: tuple[Arch, ...], observer: BuildObserver) -> Inspected:
    try:
        return _inspect_as_is(spec, archs, observer)
    except FictlError as error:
        return Inspected(spec.name, error=error)


def _inspect_as_is(spec: JitSpec, archs: tuple[Arch, ...], observer: BuildObserver) -> Inspected:
    """Of sources that stay as they are while they are compiled."""
    for _ in range(_TRIES):
        try:
            return _inspect_plan(plan_build(spec, archs), observer)
        except SourcesChanged:
            observer.note(f"{spec.name}: sources changed while they were compiled; once more")
    raise FictlError(f"{spec.name}: its sources keep changing", "save them and ask again")


def _inspect_plan(plan: Plan, observer: BuildObserver) -> Inspected:
    compiled = _all(plan, observer)
    others = _made_by_triton(plan, observer) if plan.spec.triton else ()
    units: tuple[AnyUnit, ...] = (*compiled, *others)
    known = {each.key: each for unit in reversed(units) for each in unit.kernels}
    return Inspected(
        module=_title(plan.spec),
        archs=tuple(map(str, plan.targets.archs)),
        origin=plan.targets.origin,
        units=units,
        sources=Sources.of(plan.spec, [unit.folder for unit in compiled]),
        note=_note(plan.spec, known),
        warning=plan.targets.warning,
        kernels=tuple(sorted(known.values(), key=_in_source)),
    )


def _made_by_triton(plan: Plan, observer: BuildObserver) -> tuple[AnyUnit, ...]:
    """Their code is in the built module, as bytes that nvcc has not seen; maybe for more GPUs."""
    assert plan.spec.triton is not None
    wanted = {arch.plain for arch in targets(plan.spec.triton.name, plan.targets.archs)}
    built = ensure(plan.spec, plan.targets.archs, observer).entry
    return inspect_file(built.module, wanted).units


def _all(plan: Plan, observer: BuildObserver) -> tuple[Compiled, ...]:
    """What is kept, and the rest compiled side by side."""
    plans = {arch: _for_one(plan, arch) for arch in plan.targets.archs}
    jobs = [(one, unit, arch) for arch, one in plans.items() for unit in one.units if unit.device]
    found = [find(folder_of(*job)) for job in jobs]
    missing = [job for job, kept in zip(jobs, found, strict=True) if kept is None]
    compiled = iter(_compile(missing, observer) if missing else ())
    return tuple(kept or next(compiled) for kept in found)


def _for_one(plan: Plan, arch: Arch) -> Plan:
    """As it would be built for this one alone, so that a longer list finds what is kept of it."""
    if defines(plan.targets.archs) != defines([arch]):
        return plan  # Beside a newer one it is compiled with types that it has not alone.
    return plan_build(plan.spec, (arch,))


def _compile(jobs: Sequence[tuple[Plan, Unit, Arch]], observer: BuildObserver) -> list[Compiled]:
    width = settings.MAX_JOBS.get() or min(usable_cores(), max(1, fitting()))

    def one(job: tuple[Plan, Unit, Arch]) -> Compiled:
        plan, unit, arch = job
        observer.note(f"{plan.spec.name}: compiling {unit.source.name} for {arch}")
        return compile_unit(plan, unit, arch)

    with ThreadPoolExecutor(min(width, len(jobs))) as pool:
        try:
            return list(pool.map(one, jobs))
        except BaseException:
            # Ctrl-C arrives in this thread, not in those that wait for compilers.
            pool.shutdown(wait=False, cancel_futures=True)
            stop_all()
            raise


def _in_source(kernel: Kernel) -> tuple[object, ...]:
    """In the order in which one reads them, its architectures side by side."""
    place = kernel.place
    where = (place.file, place.line) if place else ("", 0)
    return kernel.unit, *where, kernel.mangled, kernel.target


def _title(spec: ModuleSpec) -> str:
    """Modules of one op differ in what they are rendered with."""
    given = spec.template.parameters if spec.template else {}
    words = " ".join(f"{name}={value}" for name, value in given.items())
    return f"{spec.name} {words}".rstrip()


def _note(spec: ModuleSpec, kernels: Collection[object]) -> str:
    if spec.triton:
        return (
            f"the kernels of {spec.triton.name} are made by Triton: they are read from the built "
            "module, which says neither spills nor barriers"
        )
    return "" if kernels else "it has no kernel"
