"""Check of installed wheels of prebuilt modules: they are found, and what they hold serves here."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from fictl import settings
from fictl.arch import spell
from fictl.doctor.driver import FIRST_DRIVER
from fictl.doctor.finding import DoctorFinding, Say, error, ok, warning
from fictl.emu.toolchain import HEADERS, ROOT, RUNTIME
from fictl.jit import cuda_runtime
from fictl.jit.cache.inventory import modules
from fictl.jit.module_spec import RUNTIME_MODULE
from fictl.jit.status import is_current
from fictl.jit.store import this_platform
from fictl.jit.store.entry import Entry
from fictl.jit.store.installed import InstalledStore, installed_stores
from fictl.jit.store.stores import Store
from fictl.project import OpFolder, Project, folders
from fictl.toolchain import get_cudart

if TYPE_CHECKING:
    from fictl.doctor.facts import Facts

_NAME = "wheel"
_MOST_NAMED = 4


def of_missing_compiler() -> Say:
    """Return the level of a missing compiler: no problem where prebuilt modules are all that runs."""
    usable = any(not store.problem for store in installed_stores())
    return warning if settings.DISABLE_JIT.get() or usable else error


def wheels(facts: Facts) -> Iterator[DoctorFinding]:
    stores = installed_stores()
    ops = _ops() if stores else {}
    for store in stores:
        if store.problem:
            yield warning(
                _NAME,
                f"{store} is passed over: {store.problem}",
                f"pip install --force-reinstall {store.distribution}, or uninstall it",
            )
        else:
            yield from _judge(facts, store, ops)


def _judge(
    facts: Facts, store: InstalledStore, ops: dict[tuple[str, str], OpFolder]
) -> Iterator[DoctorFinding]:
    entries = _entries(store)
    if not entries:
        yield warning(_NAME, f"{store} holds no build that this fictl can read", "update fictl")
        return
    problems = [*_platform(store, entries), *_cuda(facts, store, entries)]
    problems += [*_archs(facts, store, entries), *_stale(store, entries, ops)]
    yield from problems
    if not problems:
        targets = spell(dict.fromkeys(sorted({arch for e in entries for arch in e.archs})))
        yield ok(_NAME, f"{store}: {len(entries)} builds for {targets or 'the emulated device'}")


def _entries(store: InstalledStore) -> list[Entry]:
    inside = Store(store.root, prebuilt=True, installed=True)
    return [entry for name in sorted(modules(store.root)) for entry in inside.entries(*name)]


def _platform(store: InstalledStore, entries: Sequence[Entry]) -> Iterator[DoctorFinding]:
    reasons = [this_platform.unfit(entry.manifest.platform) for entry in entries]
    unfit = [reason for reason in reasons if reason]
    if unfit:
        text = f"{store}: {len(unfit)} of {len(entries)} builds do not load here: {unfit[0]}"
        yield warning(_NAME, text, f"install the one that fits: {_fitting_tag()}")


def _fitting_tag() -> str:
    """Describe the names of wheels that this machine takes."""
    here = this_platform.here()
    libc = here.floor("glibc")
    newest = f"manylinux_2_{libc[1]}_{here.machine} or a lower number" if libc else str(here)
    return f"its name ends with {newest}"


def _cuda(facts: Facts, store: InstalledStore, entries: Sequence[Entry]) -> Iterator[DoctorFinding]:
    """Compare CUDA with the driver's, and look for its runtime; torch may be of another."""
    cuda = max((e.manifest.cudart for e in entries if e.manifest.device == "cuda"), default=0)
    if facts.driver is None or not cuda:
        return
    if cuda <= facts.driver.cuda[0]:
        if not cuda_runtime.is_here(cuda):
            text = f"{store} is not used: it needs {cuda_runtime.absent(cuda)}"
            yield warning(_NAME, text, get_cudart(cuda))
        return
    other = re.sub(r"([-_]cu)\d+$", rf"\g<1>{facts.driver.cuda[0]}", store.distribution)
    update = f"a driver {FIRST_DRIVER[cuda]} or newer" if cuda in FIRST_DRIVER else "a newer driver"
    yield warning(
        _NAME,
        f"{store} is of CUDA {cuda}, and driver {facts.driver} does not run it",
        f"pip install {other.replace('_', '-')}, or {update}",
    )


def _archs(
    facts: Facts, store: InstalledStore, entries: Sequence[Entry]
) -> Iterator[DoctorFinding]:
    archs = {arch for entry in entries for arch in entry.archs}
    left_out = [
        gpu
        for gpu in facts.gpus.gpus
        if archs and not any(arch.runs_on(gpu.arch) for arch in archs)
    ]
    if left_out:
        missing = spell(dict.fromkeys(gpu.arch for gpu in left_out))
        yield warning(
            _NAME,
            f"{store} is for {spell(sorted(archs))}, which does not run on "
            f"{', '.join(map(str, left_out))}",
            f"install one for {missing}: fictl aot wheel --arch {missing} makes it",
        )


def _stale(
    store: InstalledStore, entries: Sequence[Entry], ops: dict[tuple[str, str], OpFolder]
) -> Iterator[DoctorFinding]:
    stale = [entry for entry in entries if _is_stale(entry, ops)]
    if stale:
        names = [*dict.fromkeys(entry.manifest.module for entry in stale)]
        shown = ", ".join(names[:_MOST_NAMED]) + ", …" * (len(names) > _MOST_NAMED)
        yield warning(
            _NAME,
            f"{store}: {len(stale)} of {len(entries)} builds are of other sources than those here, "
            f"and not used: {shown}",
            "install a wheel that was made of these sources; where compilers are, they are compiled",
        )


def _is_stale(entry: Entry, ops: dict[tuple[str, str], OpFolder]) -> bool:
    project, module = entry.manifest.project, entry.manifest.module
    if (project, module) == ("fictl", RUNTIME_MODULE):
        return not is_current(entry, ROOT, (HEADERS, RUNTIME))
    op = ops.get((project, module))
    if op is None:  # The project of a wheel may be elsewhere; an op of ours that is gone is stale.
        return any(known == project for known, _ in ops)
    return not is_current(entry, op.path, op.project.include_dirs)


def _ops() -> dict[tuple[str, str], OpFolder]:
    every = (folder for project in Project.all() for folder in folders(project))
    return {(folder.project.name, folder.key): folder for folder in every}
