"""Writing of collected workloads: blobs first, then one line each, one process at a time."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import uuid
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fictl.errors import FictlError, SetupError
from fictl.log import warn_once
from fictl.op.watch.dump.tensors import safetensors_bytes, save_safetensors
from fictl.trace import Definition, TraceSet, Workload
from fictl.trace.dataset.trusted import WRITTEN, require_own_folder
from fictl.tracing.entry import WorkloadEntry
from fictl.tracing.policies import KeepAll

LOCK = ".tracing.lock"
_SPACE = uuid.UUID("0c7a1d0e-6f5b-4a55-9a52-33f6a3f0d7a4")
# Lengths of a longer batch are summarised.
_MOST_LENGTHS = 4096


@dataclass(frozen=True)
class Written:
    """Numbers of workloads that were written, and that the dataset had already."""

    workloads: int = 0
    known: int = 0

    def and_(self, other: Written) -> Written:
        return Written(self.workloads + other.workloads, self.known + other.known)


def write_entries(
    root: Path,
    definitions: Mapping[str, Definition],
    policies: Mapping[str, KeepAll],
    held: Mapping[str, Sequence[WorkloadEntry]],
) -> Written:
    """Add the entries, except for those of which other processes have written enough alike.

    A definition that differs from the dataset's of that name is left out, with a warning.
    """
    written = Written()
    if not any(held.values()):
        return written
    try:
        _make_folders(root)
        with _locked(root):
            dataset = TraceSet(root)
            for name, entries in held.items():
                if entries:
                    one = _write(dataset, definitions[name], policies[name], entries)
                    written = written.and_(one)
    except OSError as error:
        raise SetupError(f"{root} cannot be written: {error.strerror}") from None
    return written


def _make_folders(root: Path) -> None:
    """Make the folders for this user alone to write, whatever the umask is."""
    root.parent.mkdir(parents=True, exist_ok=True)
    for folder in (root, *(root / name for name in WRITTEN)):
        folder.mkdir(mode=0o755, exist_ok=True)
    require_own_folder(root)


def _write(
    dataset: TraceSet, definition: Definition, policy: KeepAll, entries: Sequence[WorkloadEntry]
) -> Written:
    try:
        dataset.add_definition(definition)
    except FictlError as error:
        warn_once(f"tracing: workloads of {definition.name} are left out: {error.message}")
        return Written()
    there = _alike(dataset, definition.name, policy) if policy.per_key else Counter()
    workloads = []
    for entry in entries:
        key = policy.key(entry.axes, entry.lengths)
        if policy.per_key and there[key] >= policy.per_key:
            continue
        there[key] += 1
        workloads.append(_workload(dataset, definition, entry, is_alike=bool(policy.per_key)))
    dataset.add_workloads(definition.name, workloads)
    return Written(len(workloads), len(entries) - len(workloads))


def _alike(dataset: TraceSet, definition: str, policy: KeepAll) -> Counter[Hashable | None]:
    """Count the dataset's workloads by key."""
    counts: Counter[Hashable | None] = Counter()
    for trace in dataset.workloads(definition):
        noted = (trace.workload.model_extra or {}).get("fictl") or {}
        lengths = {
            name: tuple(numbers)
            for name, numbers in (noted.get("lengths") or {}).items()
            if isinstance(numbers, list)
        }
        counts[policy.key(trace.workload.axes, lengths)] += 1
    return counts


def _workload(
    dataset: TraceSet, definition: Definition, entry: WorkloadEntry, is_alike: bool
) -> Workload:
    name = _identity(entry) if is_alike else str(uuid.uuid4())
    inputs: dict[str, dict[str, Any]] = {}
    path = dataset.files.new_blob(definition.op_type, definition.name, name)
    stored = {n: t for n, t in entry.tensors.items() if _is_tensor(definition, n)}
    for input_name in definition.inputs:
        if input_name in stored:
            place = f"./{path.relative_to(dataset.root)}"
            inputs[input_name] = {"type": "safetensors", "path": place, "tensor_key": input_name}
        elif input_name in entry.numbers:
            inputs[input_name] = {"type": "scalar", "value": entry.numbers[input_name]}
        else:
            inputs[input_name] = {"type": "random"}
    document = {"axes": dict(entry.axes), "inputs": inputs, "uuid": name}
    if entry.lengths:
        document["fictl"] = {"lengths": {n: _shown(v) for n, v in entry.lengths.items()}}
    workload = Workload.model_validate(document)
    if stored:
        _save(path, stored)
    return workload


def _is_tensor(definition: Definition, name: str) -> bool:
    spec = definition.inputs.get(name)
    return spec is not None and spec.shape is not None


def _identity(entry: WorkloadEntry) -> str:
    """Return the same uuid for the same values, whichever process has collected them."""
    digest = hashlib.sha256(safetensors_bytes(dict(sorted(entry.tensors.items())))).hexdigest()
    text = json.dumps([entry.definition, dict(entry.axes), dict(entry.numbers)], default=str)
    return str(uuid.uuid5(_SPACE, text + digest))


def _shown(numbers: Sequence[int]) -> list[int] | dict[str, float]:
    if len(numbers) <= _MOST_LENGTHS:
        return [*numbers]
    mean = sum(numbers) / len(numbers)
    return {"count": len(numbers), "min": min(numbers), "max": max(numbers), "mean": mean}


def _save(path: Path, tensors: Mapping[str, Any]) -> None:
    """Write a file that is there once it is whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    whole = path.with_name(f".{path.name}.{os.urandom(4).hex()}")
    try:
        save_safetensors(whole, tensors)
        os.replace(whole, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(whole)
        raise


@contextlib.contextmanager
def _locked(root: Path) -> Iterator[None]:
    """Keep other processes from reading and appending meanwhile; without locks, lines stay whole."""
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    handle = os.open(root / LOCK, flags, 0o644)
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
