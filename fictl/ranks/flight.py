"""Collectives that this process has called, from torch's flight recorder.

The recorder keeps the last calls of each process group, of nccl and gloo alike, and may be read
by another thread while the main one waits in a collective.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fictl.errors import FictlError

# Of torch 2.9 and newer: of any backend; before, and beside it: of nccl alone.
_READERS = ("_dump_nccl_trace", "_dump_fr_trace")
_DONE = "completed"
# Files in which a call is not where a user's code called it.
_NOT_THE_USERS = ("/torch/", "/fictl/ranks/", "/contextlib.py")
_MOST_CALLS = 4096


@dataclass(frozen=True)
class CollectiveCall:
    """One call. `number` counts the calls of its group, from 1; `at` is file and line.

    shape: sizes of the inputs. began: nanoseconds since 1970, as of time.time_ns().
    """

    record: int
    group: str
    number: int
    name: str
    is_done: bool = False
    at: str = ""
    shape: str = ""
    began: int = 0

    def __str__(self) -> str:
        return f"{self.name} #{self.number}"


def own_calls(since: int = 0, *, where: bool = True) -> list[CollectiveCall]:
    """Return the calls of this process that began after `since`; none if torch keeps none."""
    from torch import distributed

    if not distributed.is_available():
        return []
    from torch._C import _distributed_c10d as c10d

    calls: dict[tuple[str, int, str, int], CollectiveCall] = {}
    for name in _READERS:
        reader = getattr(c10d, name, None)
        if reader is not None:
            dump = reader(includeCollectives=True, includeStackTraces=where, onlyActive=False)
            calls |= {(c.group, c.number, c.name, c.began): c for c in calls_in(dump)}
    return sorted((call for call in calls.values() if call.began > since), key=_order)


def calls_in(dump: bytes) -> list[CollectiveCall]:
    """Read a dump of the recorder: a pickle, of which numbers, texts and lists alone are taken."""
    try:
        document = _Plain(io.BytesIO(dump)).load()
        return [_call(entry) for entry in document["entries"][-_MOST_CALLS:]]
    except (AttributeError, EOFError, IndexError, KeyError, TypeError, ValueError) as error:
        raise FictlError(f"a dump of torch's flight recorder cannot be read: {error}") from None
    except pickle.UnpicklingError as error:
        raise FictlError(f"a dump of torch's flight recorder is refused: {error}") from None


class _Plain(pickle.Unpickler):
    """Refuses whatever is more than data: a pickle may name any function to call."""

    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(f"it names {module}.{name}"[:200])


def _order(call: CollectiveCall) -> tuple[int, int]:
    return call.began, call.record


def _call(entry: Mapping[str, Any]) -> CollectiveCall:
    is_p2p = bool(entry.get("is_p2p"))
    group = entry.get("process_group") or ("", "")
    return CollectiveCall(
        int(entry["record_id"]),
        str(group[1] or group[0])[:80] if isinstance(group, Sequence) else "",
        int(entry["p2p_seq_id" if is_p2p else "collective_seq_id"]),
        _name(str(entry["profiling_name"])),
        bool(entry.get("retired")) or entry.get("state") == _DONE,
        _place(entry.get("frames") or ()),
        _shape(entry.get("input_sizes") or ()),
        int(entry.get("time_created_ns") or 0),
    )


def _name(text: str) -> str:
    """Shorten `nccl:_all_gather_base` and `gloo:all_reduce`."""
    name = text.rpartition(":")[2].strip("_").removesuffix("_base")[:80]
    return _AS_CALLED.get(name, name) or "a collective"


# How torch's backends name what users call otherwise.
_AS_CALLED = {
    "allgather": "all_gather",
    "allreduce": "all_reduce",
    "all_to_all": "all_to_all_single",
    "alltoall": "all_to_all",
}


def _place(frames: Sequence[Mapping[str, Any]]) -> str:
    """Return file and line of the innermost frame that is not torch's."""
    for frame in frames:
        file = str(frame.get("filename", ""))
        if file and not any(part in file for part in _NOT_THE_USERS) and file[0] != "<":
            return f"{Path(file).name}:{int(frame.get('line', 0))}"
    return ""


def _shape(sizes: Any) -> str:
    if not isinstance(sizes, Sequence):
        return ""
    return " ".join("x".join(map(str, size)) for size in sizes if isinstance(size, Sequence))[:80]
