"""Inspection of ops: their modules are compiled as in a build, once for each architecture."""

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
from fictl.inspect.inspected import Inspected, InspectedUnit
from fictl.inspect.kernel import InspectedKernel
from fictl.inspect.launches import block_sizes
from fictl.inspect.sources import KernelSources
from fictl.jit import JitSpec
from fictl.jit.build import ensure, plan_build
from fictl.jit.compile import SourcesChanged
from fictl.jit.jobs import fitting, usable_cores
from fictl.jit.kernel_language import language_of
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
    """Inspect each module by itself, so that one that does not compile affects no other."""
    return [_inspect(replace(spec, device="cuda"), archs, observer) for spec in specs]


def _inspect(spec: JitSpec, archs: tuple[Arch, ...], observer: BuildObserver) -> Inspected:
    try:
        return _inspect_as_is(spec, archs, observer)
    except FictlError as error:
        return Inspected(_title(spec), error=error)


def _inspect_as_is(spec: JitSpec, archs: tuple[Arch, ...], observer: BuildObserver) -> Inspected:
    """Inspect a module; start again if its sources change during compilation."""
    for _ in range(_TRIES):
        try:
            return _inspect_plan(plan_build(spec, archs), observer)
        except SourcesChanged:
            observer.note(f"{spec.name}: sources changed while they were compiled; once more")
    raise FictlError(f"{spec.name}: its sources keep changing", "save them and ask again")


def _inspect_plan(plan: Plan, observer: BuildObserver) -> Inspected:
    compiled = _all(plan, observer)
    others = _made_by_triton(plan, observer) if plan.spec.triton else ()
    units: tuple[InspectedUnit, ...] = (*compiled, *others)
    known = {kernel.key: kernel for unit in reversed(units) for kernel in unit.kernels}
    sources = KernelSources.of(plan.spec, [unit.folder for unit in compiled])
    return Inspected(
        module=_title(plan.spec),
        archs=tuple(map(str, plan.targets.archs)),
        origin=plan.targets.origin,
        units=units,
        sources=sources,
        note=_note(plan.spec, known),
        warning=plan.targets.warning,
        kernels=_launched(sorted(known.values(), key=_in_source), plan, sources),
    )


def _launched(
    kernels: Sequence[InspectedKernel], plan: Plan, sources: KernelSources
) -> tuple[InspectedKernel, ...]:
    """Add the block sizes of launches in the units and in the headers that the kernels are from."""
    units = {str(unit.source) for unit in plan.units if unit.device}
    places = {place.file for kernel in kernels for place in kernel.places}
    sizes = block_sizes(sources.whole(name) for name in sorted(units | places))
    return tuple(replace(kernel, launched=sizes.get(kernel.function)) for kernel in kernels)


def _made_by_triton(plan: Plan, observer: BuildObserver) -> tuple[InspectedUnit, ...]:
    """Kernels of a kernel.py, read from the built module, which may hold more architectures."""
    assert plan.spec.triton is not None
    wanted = {arch.plain for arch in targets(plan.spec.triton.name, plan.targets.archs)}
    built = ensure(plan.spec, plan.targets.archs, observer).entry
    return inspect_file(built.module, wanted).units


def _all(plan: Plan, observer: BuildObserver) -> tuple[Compiled, ...]:
    """Stored units; the missing ones are compiled in parallel."""
    plans = {arch: _for_one(plan, arch) for arch in plan.targets.archs}
    jobs = [(one, unit, arch) for arch, one in plans.items() for unit in one.units if unit.device]
    stored = [find(folder_of(*job)) for job in jobs]
    missing = [job for job, kept in zip(jobs, stored, strict=True) if kept is None]
    compiled = iter(_compile(missing, observer) if missing else ())
    return tuple(kept or next(compiled) for kept in stored)


def _for_one(plan: Plan, arch: Arch) -> Plan:
    """Plan for one architecture alone, so that different lists of architectures share units."""
    if defines(plan.targets.archs) != defines([arch]):
        return plan  # With a newer one beside it, it is compiled with more types.
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
            # Ctrl-C arrives in this thread, not in the threads that wait for compilers.
            pool.shutdown(wait=False, cancel_futures=True)
            stop_all()
            raise


def _in_source(kernel: InspectedKernel) -> tuple[object, ...]:
    """Sort key: the order in the source, then the architecture."""
    place = kernel.place
    where = (place.file, place.line) if place else ("", 0)
    return kernel.unit, *where, kernel.mangled, kernel.target


def _title(spec: ModuleSpec) -> str:
    """Name of the module with its template parameters, by which modules of one op differ."""
    given = spec.template.parameters if spec.template else {}
    words = " ".join(f"{name}={value}" for name, value in given.items())
    return f"{spec.title} {words}".rstrip()


def _note(spec: ModuleSpec, kernels: Collection[object]) -> str:
    if spec.triton:
        title = language_of(spec.triton).title
        return (
            f"the kernels of {spec.triton.name} are made by {title}: they are read from the built "
            "module, which says neither spills nor barriers"
        )
    return "" if kernels else "it has no kernel"
