"""From a spec to a finished build: look in the stores, else compile once however many ask."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from fictl import settings
from fictl.arch import Arch, parse_archs, spell
from fictl.errors import FictlError, SetupError
from fictl.jit.compile import SourcesChanged, compile_plan, prepare
from fictl.jit.compilers import cuda_targets, find_compilers, require_compilers
from fictl.jit.ffi import ffi_abi
from fictl.jit.ninja_file import ninja_text
from fictl.jit.plan import Plan, make_plan
from fictl.jit.progress import LogObserver, Observer
from fictl.jit.recipe import Recipe, recipe_of
from fictl.jit.spec import JitSpec
from fictl.jit.store.entry import Entry
from fictl.jit.store.failure import Failure
from fictl.jit.store.lock import build_lock
from fictl.jit.store.stores import LAYOUT, Store, stores, writable_store
from fictl.log import logger
from fictl.paths import write_atomic
from fictl.toolchain import Targets, visible_gpus

_TRIES = 3


class MissingBuild(SetupError):
    """FICTL_DISABLE_JIT is set and no store has the module."""

    def __init__(self, spec: JitSpec, recipe: Recipe) -> None:
        super().__init__(
            f"{spec.name} is in no store as recipe {recipe.key}, and "
            f"{settings.DISABLE_JIT.name} forbids to compile it",
            f"fictl build {spec.name.rpartition('.')[2]} makes it where compiling is allowed",
        )
        self.spec = spec


@dataclass(frozen=True)
class Need:
    """What a build must cover: these very targets, or GPUs that it must run on.

    With `exact` it holds these targets and no others.
    """

    targets: tuple[Arch, ...] = ()
    gpus: tuple[Arch, ...] = ()
    exact: bool = False

    def met_by(self, archs: tuple[Arch, ...]) -> bool:
        runs = all(any(arch.runs_on(gpu) for arch in archs) for gpu in self.gpus)
        targets, built = set(self.targets), set(archs)
        return runs and (targets == built if self.exact else targets <= built)


@dataclass(frozen=True)
class Outcome:
    """A build and how it came: compiled now, or found."""

    entry: Entry
    compiled: bool
    targets: Targets | None = None


@dataclass(frozen=True)
class Look:
    """What a build would be of now, and the one that is there already."""

    recipe: Recipe
    need: Need
    targets: Targets | None
    entry: Entry | None


def examine(
    spec: JitSpec,
    archs: tuple[Arch, ...] = (),
    recipe: Recipe | None = None,
    exact: bool = False,
) -> Look:
    """Hit or miss, without building. Where nothing can compile, any build that runs will do."""
    spec = spec.aimed_at(archs)
    recipe = recipe or recipe_of(spec)
    compilers = None if settings.DISABLE_JIT.get() else find_compilers(recipe.device)
    if compilers is not None:
        targets = compilers.targets(spec, archs)
        need = Need(targets=targets.archs, exact=exact)
        return Look(recipe, need, targets, _lookup(spec, recipe, need))
    if exact and recipe.device == "cuda":
        return _best_there_is(spec, recipe, cuda_targets(spec, archs, None))
    need = Need(targets=archs) if archs else _need_to_run(spec)
    return Look(recipe, need, None, _lookup(spec, recipe, need))


def find(spec: JitSpec) -> Entry | None:
    """The newest valid build that runs on this machine's GPUs."""
    return _lookup(spec, recipe_of(spec), _need_to_run(spec))


def ensure(
    spec: JitSpec,
    archs: tuple[Arch, ...] = (),
    observer: Observer | None = None,
    cores: int | None = None,
    exact: bool = False,
) -> Outcome:
    """A build for `archs`, or for what the environment and the GPUs ask for.

    `exact`: for these and no others, unless nothing here can compile.
    """
    spec, watch = spec.aimed_at(archs), observer or LogObserver()
    for _ in range(_TRIES):
        try:
            return _ensure_recipe(spec, recipe_of(spec), archs, watch, cores, exact)
        except SourcesChanged:
            watch.note(f"{spec.name}: sources changed while they were compiled; building again")
    raise FictlError(f"{spec.name}: its sources keep changing", "save them and build again")


def ensure_runs(spec: JitSpec) -> Entry:
    """A build that the GPUs present can run, for a caller that is about to launch."""
    need = _need_to_run(spec)
    entry = _lookup(spec, recipe_of(spec), need) or ensure(spec).entry
    if not need.met_by(entry.archs):
        raise SetupError(
            f"{spec.name} was built for {spell(entry.archs)}, the GPU is {spell(need.gpus)}",
            f"add it to {settings.CUDA_ARCH_LIST.name}, or unset that",
        )
    return entry


def write_ninja(spec: JitSpec, folder: Path | None = None) -> Path:
    """The whole graph, nothing taken from a cache."""
    plan = plan_build(spec)
    store = writable_store()
    if folder is None:
        store.ensure_private(spec.project, spec.name, "ninja")
        folder = store.module_dir(spec.project, spec.name) / "ninja"
    folder.mkdir(parents=True, exist_ok=True)
    prepare(plan, folder)
    write_atomic(folder / "build.ninja", ninja_text(plan))
    return folder / "build.ninja"


def plan_build(spec: JitSpec, archs: tuple[Arch, ...] = ()) -> Plan:
    """What a build would run now."""
    spec = spec.aimed_at(archs)
    compilers = require_compilers(spec.runs_on)
    return make_plan(spec, recipe_of(spec), compilers.targets(spec, archs), compilers)


def _ensure_recipe(
    spec: JitSpec,
    recipe: Recipe,
    archs: tuple[Arch, ...],
    watch: Observer,
    cores: int | None,
    exact: bool,
) -> Outcome:
    look = examine(spec, archs, recipe, exact)
    if exact and look.targets and look.targets.warning:
        watch.note(look.targets.warning)
    if look.entry is not None:
        return Outcome(look.entry, compiled=False, targets=look.targets)
    if settings.DISABLE_JIT.get():
        raise MissingBuild(spec, recipe)
    compilers, targets = require_compilers(recipe.device), look.targets
    assert targets is not None
    asked = time.time()
    if targets.warning and not exact:
        watch.note(targets.warning)
    store = writable_store()
    store.ensure_private(spec.project, spec.name)
    lock = store.root / LAYOUT / ".locks" / f"{spec.project}.{spec.name}.{recipe.key}"

    def published() -> Entry | None:
        return _lookup(spec, recipe, look.need)

    wait = settings.LOCK_TIMEOUT.get()
    with build_lock(lock, wait, lambda: published() is not None, watch.note):
        entry = published()
        if entry is not None:
            return Outcome(entry, compiled=False, targets=targets)
        plan = make_plan(spec, recipe, targets, compilers)
        if recipe.device == "emu" and not spec.is_runtime:
            from fictl.jit.emulation import build_runtime

            build_runtime(watch)  # Apart from the module, whose time and failures are its own.
        _raise_failure_since(asked, plan, store)
        return Outcome(compile_plan(plan, store, watch, cores), compiled=True, targets=targets)


def _best_there_is(spec: JitSpec, recipe: Recipe, targets: Targets) -> Look:
    """The build for exactly these targets, else one that covers them."""
    needs = (Need(targets.archs, exact=True), Need(targets.archs))
    found = ((need, _lookup(spec, recipe, need)) for need in needs)
    need, entry = next((each for each in found if each[1]), (needs[1], None))
    return Look(recipe, need, targets, entry)


def _raise_failure_since(asked: float, plan: Plan, store: Store) -> None:
    """What another process found out while this one waited for it."""
    module_dir = store.module_dir(plan.spec.project, plan.spec.name)
    failure = Failure.read(module_dir)
    same = failure and (failure.recipe, failure.build) == (plan.recipe.key, plan.build_key)
    if failure and same and asked <= failure.when <= time.time():
        raise failure.error(plan.spec.name, module_dir)


def _lookup(spec: JitSpec, recipe: Recipe, need: Need) -> Entry | None:
    identity, looked = _identity(recipe), []
    for store in stores():
        fits = _fitting(need, None if store.prebuilt else identity)
        entry = store.find(spec.project, spec.name, recipe.key, fits)
        if entry is not None:
            logger().debug("%s/%s: found %s", spec.project, spec.name, entry.path)
            return entry
        looked.append(str(store.root))
    logger().debug(
        "%s/%s: recipe %s for %s is in none of %s",
        spec.project,
        spec.name,
        recipe.key,
        spell(need.targets or need.gpus) or "any GPU",
        ", ".join(looked),
    )
    return None


def _fitting(need: Need, identity: dict[str, str] | None) -> Callable[[Entry], bool]:
    def fits(entry: Entry) -> bool:
        same_tools = identity is None or identity.items() <= entry.manifest.toolchain.items()
        return same_tools and entry.manifest.ffi_abi == ffi_abi() and need.met_by(entry.archs)

    return fits


def _identity(recipe: Recipe) -> dict[str, str] | None:
    """What the toolchain of a usable build must be; None where any will do."""
    if settings.DISABLE_JIT.get():
        return None
    compilers = find_compilers(recipe.device)
    return compilers.identity(recipe.libraries) if compilers else None


def _need_to_run(spec: JitSpec) -> Need:
    spec.require_device()
    if spec.runs_on == "emu":
        return Need()
    gpus = tuple(sorted({gpu.arch for gpu in visible_gpus()}))
    listed = parse_archs(settings.CUDA_ARCH_LIST.get(), native=lambda: gpus)
    supported = tuple(gpu for gpu in gpus if spec.archs.supports(gpu))
    covered = tuple(gpu for gpu in supported if any(arch.runs_on(gpu) for arch in listed))
    # A GPU that the spec is not for is met by no build: the selection of targets then says so.
    return Need(gpus=covered or supported or gpus)
