"""Entries tuned before, used if FICTL_AUTOTUNER_LOAD_FROM_FILE is set."""

from __future__ import annotations

import hashlib
import re
import sys
from functools import cache
from pathlib import Path

from fictl import settings
from fictl.errors import FictlError
from fictl.log import warn_once
from fictl.op.declared import Op
from fictl.op.folder_specs import folder_specs
from fictl.op.tactics.machine import Machine, machine
from fictl.op.tactics.records import Corrupt, Document, Entry, read
from fictl.paths import cache_root, friendly


def default_path(here: Machine) -> Path:
    """Return the path of this machine type's file."""
    name = " ".join(filter(None, (here.gpu, here.driver_major)))
    return cache_root() / "tune" / f"{re.sub(r'[^A-Za-z0-9.]+', '-', name)}.json"


def entry(op: Op, key: str, device: int) -> Entry | None:
    """Find the entry for a call of the op in the file in use; warn once if the file is ignored."""
    asked = settings.AUTOTUNER_LOAD_FROM_FILE.get()
    if asked is None:
        return None
    here = machine(device)
    path = default_path(here) if asked == Path() else asked
    document = _fitting(path, _stamp(path), here)
    of_op = document.ops.get(op.api) if document else None
    if of_op is None:
        return None
    if of_op.kernel != (kernel_digest(op) or None):
        warn_once(
            f"{friendly(path)}: {op.api} is ignored: its kernel was changed since it was tuned"
        )
        return None
    return of_op.keys.get(key)


def forget() -> None:
    """Read files again."""
    _fitting.cache_clear()
    _recipes.cache_clear()


def kernel_digest(op: Op) -> str:
    """Digest the recipes of its module, or the file of a function outside of op folders.

    '' without a file: then a change of the tuned function cannot be detected.
    """
    file = getattr(sys.modules.get(op.module), "__file__", None)
    if file is None:
        return ""
    try:
        return _recipes(file, settings.DEVICE.get())
    except FictlError:
        return hashlib.sha256(Path(file).read_bytes()).hexdigest()[:24]


@cache
def _recipes(file: str, _device: str) -> str:
    from fictl.jit.recipe import digest, recipe_of
    from fictl.project import OpFolder

    return digest([recipe_of(spec).key for spec in folder_specs(OpFolder.of(file))])


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_mtime_ns, stat.st_size


@cache
def _fitting(path: Path, _stamp: tuple[int, int] | None, here: Machine) -> Document | None:
    try:
        document = read(path)
    except Corrupt as error:
        warn_once(f"tuned tactics are ignored: {error.message}")
        return None
    problem = document.misfit(here) if document else "there is no such file"
    if problem:
        warn_once(f"tuned tactics of {friendly(path)} are ignored: {problem}")
        return None
    return document
