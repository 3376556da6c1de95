"""Record of the modules that a process loads: FICTL_WARMUP_RECORD, for `fictl warmup build`.

A module is one sealed line, appended at once, so that processes and threads share a file and a
killed process loses nothing.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

from fictl import settings
from fictl.arch import spell
from fictl.jit.module_spec import ModuleSpec
from fictl.jit.store.entry import Entry
from fictl.log import warn_once
from fictl.sealed import seal
from fictl.version import VERSION

SCHEMA_NAME, SCHEMA_NUMBER = "fictl.warmup", 1
SCHEMA = f"{SCHEMA_NAME}/{SCHEMA_NUMBER}"
_FLAGS = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC

_written: set[tuple[Path, str]] = set()


def record_needed(spec: ModuleSpec, entry: Entry) -> None:
    """Append the module to the file of FICTL_WARMUP_RECORD; a failure never ends the call."""
    path = settings.WARMUP_RECORD.get()
    if path is None or spec.is_runtime:
        return
    line = seal(_facts(spec, entry))
    if (path, line) in _written:
        return
    try:
        _append(path, line)
    except OSError as error:
        warn_once(f"needed modules are not recorded in {path}: {error.strerror}")
    _written.add((path, line))


def _facts(spec: ModuleSpec, entry: Entry) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "fictl": VERSION,
        "project": spec.project,
        "module": spec.name,
        "sources": [path.name for path in spec.sources],
        "parameters": dict(spec.template.parameters) if spec.template else None,
        "cuda_flags": [*spec.extra_cuda_cflags],
        "cxx_flags": [*spec.extra_cflags],
        "link_flags": [*spec.extra_ldflags],
        "max_spill_bytes": spec.max_spill_bytes,
        "allowed_remarks": [*spec.allowed_remarks],
        "device": spec.runs_on,
        "archs": spell(entry.archs).split(),
        "recipe": entry.manifest.recipe,
    }


def _append(path: Path, line: str) -> None:
    """Append by one write, after a line break, which ends what a full disk may have cut off."""
    handle = os.open(path, _FLAGS, 0o644)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(22, "is not a regular file")
        os.write(handle, f"\n{line}\n".encode())
    finally:
        os.close(handle)
