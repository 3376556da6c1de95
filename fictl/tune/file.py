"""File of tuned tactics: results are merged into it; a file of another machine is not changed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from fictl import settings
from fictl.errors import UsageError
from fictl.jit.store.lock import build_lock
from fictl.jit.store.writing import writing
from fictl.log import logger
from fictl.op.tactics.machine import Machine
from fictl.op.tactics.records import Corrupt, Document, OpRecords, read
from fictl.paths import friendly, write_atomic


def merge(path: Path, here: Machine, ops: Mapping[str, OpRecords]) -> None:
    """Add results to the file, replacing entries of the same key.

    If an op's kernel has changed, all its older entries are removed.
    """
    with writing(path.parent):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = path.with_name(f".{path.name}.lock")
    with build_lock(lock, settings.LOCK_TIMEOUT.get(), lambda: False, logger().info):
        before = _readable(path) or Document.empty(here)
        problem = before.misfit(here)
        if problem:
            raise UsageError(f"{friendly(path)} stays as it is: {problem}", "write to another file")
        merged = {name: _merged(name, before.ops.get(name), new) for name, new in ops.items()}
        after = before.model_copy(update={"ops": {**before.ops, **merged}})
        with writing(path.parent):
            write_atomic(path, after.to_json())


def _merged(name: str, old: OpRecords | None, new: OpRecords) -> OpRecords:
    if old is None:
        return new
    if old.kernel != new.kernel:
        logger().info("%s: its kernel was changed; what was tuned before is dropped", name)
        return new
    return new.model_copy(update={"keys": {**old.keys, **new.keys}})


def _readable(path: Path) -> Document | None:
    """Read the file; if it cannot be read, rename it with a warning and return None."""
    try:
        return read(path)
    except Corrupt as error:
        aside = path.with_suffix(".corrupt")
        os.replace(path, aside)
        logger().warning("%s; it is now %s", error.message, friendly(aside))
        return None
