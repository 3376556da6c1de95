"""What was tuned before, where FICTL_AUTOTUNER_LOAD_FROM_FILE asks for it."""

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
from fictl.op.tactics.machine import Machine, machine
from fictl.op.tactics.records import Corrupt, Document, Entry, read
from fictl.paths import cache_root, friendly


def default_path(here: Machine) -> Path:
    """One file for each kind of machine: none is ever in another's way."""
    name = " ".join(filter(None, (here.gpu, here.driver_major)))
    return cache_root() / "tune" / f"{re.sub(r'[^A-Za-z0-9.]+', '-', name)}.json"


def entry(op: Op, key: str, device: int) -> Entry | None:
    """What the file in use has for such a call of the op; a reason to ignore it is said once."""
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
    """Files are read again."""
    _fitting.cache_clear()
    _recipes.cache_clear()


def kernel_digest(op: Op) -> str:
    """The recipes of its module; of a function in no op folder, the file that it stands in.

    '' where it stands in none: nothing says whether it is the function that was tuned.
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

    return digest([recipe_of(spec).key for spec in OpFolder.of(file).specs()])


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


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
