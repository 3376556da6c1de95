"""The builds that remotes have of many specs, asked for at once before any compiler starts."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from fictl.arch import Arch
from fictl.errors import FictlError
from fictl.jit.build import lock_path, locked, store_for
from fictl.jit.emulated_runtime import runtime_spec
from fictl.jit.lookup import look_up
from fictl.jit.module_spec import ModuleSpec
from fictl.jit.progress import LogObserver
from fictl.jit.remote.answer import Pulled
from fictl.jit.remote.pull import pull
from fictl.jit.store.lock import is_held
from fictl.jit.store.stores import writable_store

# Why threads: a notebook runs an event loop of its own, and the client lets others run meanwhile.
_AT_ONCE = 32


def prefetch(
    specs: Sequence[ModuleSpec],
    archs: tuple[Arch, ...],
    exact: bool = False,
    patient: bool = False,
    look_only: bool = False,
) -> list[Pulled | FictlError]:
    """Pull what no store has; return the answer or the error of each spec, in order.

    patient: ask remotes, too, that failed or did not have it a moment ago.
    look_only: fetch nothing.
    """
    if not specs:
        return []

    def one(spec: ModuleSpec) -> Pulled | FictlError:
        try:
            return _pulled(spec, archs, exact, patient, look_only)
        except FictlError as error:
            return error

    emulated = any(spec.aimed_at(archs).runs_on == "emu" for spec in specs)
    wanted = [*specs, *([runtime_spec()] if emulated else [])]
    with ThreadPoolExecutor(min(_AT_ONCE, len(wanted))) as pool:
        return list(pool.map(one, wanted))[: len(specs)]


def _pulled(
    spec: ModuleSpec, archs: tuple[Arch, ...], exact: bool, patient: bool, look_only: bool
) -> Pulled | FictlError:
    lookup = look_up(spec.aimed_at(archs), archs, exact)
    if lookup.entry is not None:
        return Pulled(lookup.entry)
    if look_only:
        return pull(lookup, writable_store(), patient, look_only)
    store = store_for(lookup.spec)
    if is_held(lock_path(lookup, store)) and not patient:
        return Pulled(reasons=["another process builds it"])
    with locked(lookup, store, LogObserver()):
        entry = lookup.stored()
        return Pulled(entry) if entry else pull(lookup, store, patient)
