"""The builds that remotes have of many specs, asked for at once before any compiler starts."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice

from fictl.arch import Arch
from fictl.errors import FictlError
from fictl.jit.build import lock_path, locked, store_for
from fictl.jit.emulated_runtime import runtime_spec
from fictl.jit.lookup import Lookup, look_up
from fictl.jit.module_spec import ModuleSpec
from fictl.jit.progress import LogObserver
from fictl.jit.remote.answer import Pulled
from fictl.jit.remote.pull import pull
from fictl.jit.store.lock import is_held
from fictl.jit.store.stores import writable_store

# Why threads: a notebook runs an event loop of its own, and the client lets others run meanwhile. What
# is looked up here first is Python alone: threads would take twice the time for it.
_AT_ONCE = 64


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

    emulated = any(spec.aimed_at(archs).runs_on == "emu" for spec in specs)
    wanted = [*specs, *([runtime_spec()] if emulated else [])]
    looked_up = [_looked_up(spec, archs, exact) for spec in wanted]
    with ThreadPoolExecutor(min(_AT_ONCE, len(wanted))) as pool:
        answers = pool.map(lambda lookup: _asked(lookup, patient, look_only), looked_up)
        return [*islice(answers, len(specs))]


def _looked_up(spec: ModuleSpec, archs: tuple[Arch, ...], exact: bool) -> Lookup | FictlError:
    try:
        return look_up(spec.aimed_at(archs), archs, exact)
    except FictlError as error:
        return error


def _asked(lookup: Lookup | FictlError, patient: bool, look_only: bool) -> Pulled | FictlError:
    if isinstance(lookup, FictlError):
        return lookup
    if lookup.entry is not None:
        return Pulled(lookup.entry)
    try:
        return _pulled(lookup, patient, look_only)
    except FictlError as error:
        return error


def _pulled(lookup: Lookup, patient: bool, look_only: bool) -> Pulled:
    if look_only:
        return pull(lookup, writable_store(), patient, look_only)
    store = store_for(lookup.spec)
    if is_held(lock_path(lookup, store)) and not patient:
        return Pulled(reasons=["another process builds it"])
    with locked(lookup, store, LogObserver()):
        entry = lookup.stored()
        return Pulled(entry) if entry else pull(lookup, store, patient)
