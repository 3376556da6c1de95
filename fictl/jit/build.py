"""Build a module: take a build from the stores, or compile it once for all who wait."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path

from fictl import settings
from fictl.arch import Arch, spell
from fictl.errors import FictlError, SetupError
from fictl.jit.cache.cause import recorded_summary
from fictl.jit.compile import SourcesChanged, compile_plan, prepare
from fictl.jit.compilers import require_compilers
from fictl.jit.emulated_runtime import runtime_spec
from fictl.jit.lookup import Lookup, look_up, look_up_to_run
from fictl.jit.module_spec import ModuleSpec
from fictl.jit.ninja_file import ninja_text
from fictl.jit.plan import Plan, make_plan
from fictl.jit.progress import BuildObserver, LogObserver
from fictl.jit.recipe import recipe_of
from fictl.jit.remote import remotes
from fictl.jit.reproducible import remember_folders
from fictl.jit.store.entry import Entry
from fictl.jit.store.failure import raise_failure_since
from fictl.jit.store.lock import build_lock
from fictl.jit.store.stores import LAYOUT, Store, writable_store
from fictl.log import logger
from fictl.paths import write_atomic
from fictl.toolchain import Targets

_TRIES = 3


@dataclass(frozen=True)
class BuildOutcome:
    """A build, and whether it was compiled now (`why` gives the reason) or taken from a store."""

    entry: Entry
    compiled: bool
    targets: Targets | None = None
    why: str = ""


def ensure(
    spec: ModuleSpec,
    archs: tuple[Arch, ...] = (),
    observer: BuildObserver | None = None,
    cores: int | None = None,
    exact: bool = False,
    asked: Sequence[str] | None = None,
) -> BuildOutcome:
    """Build for `archs`, or for the environment's or GPUs' targets, unless a store has the build.

    `exact`: for these targets and no others, unless this machine cannot compile.
    `asked`: why the remotes, which were asked a moment ago, have no build; None: ask them.
    """
    watch = observer or LogObserver()
    for _ in range(_TRIES):
        try:
            outcome = _ensure_once(spec.aimed_at(archs), archs, watch, cores, exact, asked)
        except SourcesChanged:
            asked = None
            watch.note(f"{spec.name}: sources changed while they were compiled; building again")
        else:
            remember_folders(spec, outcome.entry)
            return outcome
    raise FictlError(f"{spec.name}: its sources keep changing", "save them and build again")


def _ensure_once(
    spec: ModuleSpec,
    archs: tuple[Arch, ...],
    watch: BuildObserver,
    cores: int | None,
    exact: bool,
    asked: Sequence[str] | None,
) -> BuildOutcome:
    lookup = look_up(spec, archs, exact)
    _note_dropped_targets(lookup, watch, exact)
    if lookup.entry is not None:
        return BuildOutcome(lookup.entry, compiled=False, targets=lookup.targets)
    if not remotes.are_set():
        lookup.require_compilers()  # Before the lock: there is nothing to wait for.
    began, store = time.time(), store_for(spec)
    with locked(lookup, store, watch):
        if entry := lookup.stored():
            return BuildOutcome(entry, compiled=False, targets=lookup.targets)
        outcome, reasons = _pulled(lookup, store, asked)
        if outcome is not None:
            return outcome
        compilers, targets = lookup.require_compilers(reasons)
        plan = _with_runtime(make_plan(spec, lookup.recipe, targets, compilers), watch)
        raise_failure_since(began, spec.name, store.module_dir(spec.project, spec.name), plan.keys)
        entry = compile_plan(plan, store, watch, cores)
    if remotes.is_written():
        from fictl.jit.remote.sender import send_later

        send_later(entry, spec.base)
    return BuildOutcome(entry, compiled=True, targets=targets, why=recorded_summary(entry))


def _pulled(
    lookup: Lookup, store: Store, asked: Sequence[str] | None
) -> tuple[BuildOutcome | None, Sequence[str]]:
    """Ask the remotes, if there are any to ask; return also why they have no build to use."""
    if asked is not None or not remotes.are_set():
        return None, asked or ()
    from fictl.jit.remote.pull import pull  # Only here: it imports clients and keys.

    pulled = pull(lookup, store)
    if pulled.entry is None:
        return None, pulled.reasons
    logger().info("%s/%s: %s", lookup.spec.project, lookup.spec.name, pulled.why)
    return BuildOutcome(pulled.entry, False, lookup.targets, pulled.why), []


def ensure_runs(spec: ModuleSpec) -> Entry:
    """Return a build for the GPUs present, compiled if needed: the caller will launch it."""
    lookup = look_up_to_run(spec)
    entry = lookup.entry or ensure(spec).entry
    if not lookup.need.met_by(entry.archs):
        raise SetupError(
            f"{spec.name} was built for {spell(entry.archs)}, the GPU is {spell(lookup.need.gpus)}",
            f"add it to {settings.CUDA_ARCH_LIST.name}, or unset that",
        )
    return entry


def write_ninja(spec: ModuleSpec, folder: Path | None = None) -> Path:
    """Write the whole build graph; no unit is taken from a cache."""
    plan = _with_runtime(plan_build(spec), LogObserver())
    if folder is None:
        folder = store_for(spec, "ninja").module_dir(spec.project, spec.name) / "ninja"
    folder.mkdir(parents=True, exist_ok=True)
    prepare(plan, folder)
    write_atomic(folder / "build.ninja", ninja_text(plan))
    return folder / "build.ninja"


def plan_build(spec: ModuleSpec, archs: tuple[Arch, ...] = ()) -> Plan:
    """Plan what a build would run now."""
    spec = spec.aimed_at(archs)
    compilers = require_compilers(spec.runs_on)
    return make_plan(spec, recipe_of(spec), compilers.targets(spec, archs), compilers)


def _note_dropped_targets(lookup: Lookup, watch: BuildObserver, exact: bool) -> None:
    """Warn about targets that this nvcc lacks, before a compile or if the user named them."""
    if lookup.targets and lookup.targets.warning and (exact or lookup.compiles):
        watch.note(lookup.targets.warning)


def store_for(spec: ModuleSpec, *parts: str) -> Store:
    """Return the writable store, with a private folder for the module in it."""
    store = writable_store()
    store.ensure_private(spec.project, spec.name, *parts)
    return store


def locked(lookup: Lookup, store: Store, watch: BuildObserver) -> AbstractContextManager[None]:
    """Keep other processes from compiling the same recipe; waiting ends when it is published."""
    path, timeout = lock_path(lookup, store), settings.LOCK_TIMEOUT.get()
    return build_lock(path, timeout, lambda: lookup.stored() is not None, watch.note)


def lock_path(lookup: Lookup, store: Store) -> Path:
    spec, key = lookup.spec, lookup.recipe.key
    return store.root / LAYOUT / ".locks" / f"{spec.project}.{spec.name}.{key}"


def _with_runtime(plan: Plan, watch: BuildObserver) -> Plan:
    """Add the emulated device's runtime. It is built separately, with its own time and errors."""
    if plan.recipe.device != "emu" or plan.spec.is_runtime:
        return plan
    return replace(plan, runtime=ensure(runtime_spec(), observer=watch).entry.module)
