"""Recording: a JSON file of a program's calls, its tensors, and the integers that it put into them.

A file is data from a stranger: sizes are bounded, and nothing in it names code to import.
"""

from __future__ import annotations

import json
from math import prod
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, ValidationError

from fictl.op.watch.dump.record import Refused
from fictl.op.watch.dump.values import dtype_named
from fictl.user_file import read_bytes

FORMAT: Literal["fictl.calls/1"] = "fictl.calls/1"

_LONGEST = 16 << 20
_MOST_BYTES = 64 << 30  # of all tensors together: a GPU's memory
_Name = Annotated[str, Field(max_length=200, pattern=r"^[\w.]*$")]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class StorageEntry(_Part):
    """Memory of tensors. fill: dtype of the random values in it; "" is zeros."""

    bytes: NonNegativeInt
    place: Literal["cuda", "pinned", "cpu"]
    fill: _Name = ""


class View(_Part):
    """A tensor: its place in a storage; offset and strides count elements."""

    storage: NonNegativeInt
    dtype: _Name
    shape: tuple[NonNegativeInt, ...]
    stride: tuple[NonNegativeInt, ...]
    offset: NonNegativeInt


class Made(_Part):
    """An object was made of a class."""

    kind: Literal["make"] = "make"
    object: _Name
    name: _Name
    args: list[Any] = []
    kwargs: dict[str, Any] = {}


class Called(_Part):
    """A function was called, or the method of an object. error: how the call ended, if so."""

    kind: Literal["call"] = "call"
    object: _Name = ""
    name: _Name
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    result: Any = None
    error: str = ""


class Written(_Part):
    """The program changed a tensor. runs: (first, step, count) of its elements in order."""

    kind: Literal["write"] = "write"
    view: NonNegativeInt
    runs: list[tuple[int | float, int, NonNegativeInt]]


class AttributeRead(_Part):
    """The program read an attribute of an object."""

    kind: Literal["read"] = "read"
    object: _Name
    name: _Name
    value: Any = None


class GraphEvent(_Part):
    """Capture of a CUDA graph begins or ends, or the graph runs."""

    kind: Literal["graph"] = "graph"
    graph: _Name
    event: Literal["capture", "end", "replay"]


Step = Annotated[Made | Called | Written | AttributeRead | GraphEvent, Field(discriminator="kind")]


class Recording(_Part):
    """Steps in order; values are encoded as fictl.op.watch.dump.values does, tensors by their index."""

    format: Literal["fictl.calls/1"] = FORMAT
    program: str
    scene: str
    api: str
    storages: list[StorageEntry]
    views: list[View]
    steps: list[Step]

    def text(self) -> str:
        """Return the file's content: a line for each step."""
        whole = self.model_dump(exclude_defaults=True)
        lists = ("storages", "views", "steps")
        head = {"format": self.format, **{n: v for n, v in whole.items() if n not in lists}}
        lines = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in head.items()]
        for name in lists:
            kinds = [{"kind": part.kind} if name == "steps" else {} for part in getattr(self, name)]
            rows = [
                json.dumps({**kind, **entry}, separators=(",", ":"))
                for kind, entry in zip(kinds, whole.get(name, []), strict=True)
            ]
            lines.append(f"{json.dumps(name)}: [\n" + ",\n".join(rows) + "\n]")
        return "{\n" + ",\n".join(lines) + "\n}\n"

    @classmethod
    def read(cls, path: Path) -> Recording:
        """Read a file; Refused where it is damaged or asks for too much."""
        try:
            text = read_bytes(path, _LONGEST)
        except OSError as error:
            raise Refused(f"{path} cannot be read: {error.strerror}") from None
        try:
            recording = cls.model_validate_json(text)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(map(str, first["loc"]))
            raise Refused(f"{path} is not a recording of calls: {where}: {first['msg']}") from None
        recording.check()
        return recording

    def check(self) -> None:
        """Refuse what asks for too much, and tensors that reach beyond their storage."""
        total = sum(storage.bytes for storage in self.storages)
        if total > _MOST_BYTES:
            raise Refused(f"its tensors take {total} bytes, and {_MOST_BYTES} are the most")
        for index, view in enumerate(self.views):
            self._check_view(index, view)
        for step in self.steps:
            if isinstance(step, Written) and step.view >= len(self.views):
                raise Refused(f"a step writes to tensor {step.view} of {len(self.views)}")
            if isinstance(step, Written):
                self._check_runs(step)

    def _check_view(self, index: int, view: View) -> None:
        if view.storage >= len(self.storages) or len(view.shape) != len(view.stride):
            raise Refused(f"tensor {index} is in storage {view.storage}, of which there is none")
        size = dtype_named(view.dtype).itemsize
        last = sum((n - 1) * step for n, step in zip(view.shape, view.stride, strict=True))
        end = (view.offset + last + 1) * size if prod(view.shape) else 0
        room = self.storages[view.storage].bytes
        if len(view.shape) > 64 or end > room:
            raise Refused(f"tensor {index} ends at byte {end} of a storage of {room}")

    def _check_runs(self, step: Written) -> None:
        view = self.views[step.view]
        room, count = prod(view.shape), sum(run[2] for run in step.runs)
        if count != room:
            raise Refused(f"a step writes {count} elements to tensor {step.view}, which has {room}")
        # As many are allocated, which is more than the storage where elements share their place.
        if room * dtype_named(view.dtype).itemsize > self.storages[view.storage].bytes:
            raise Refused(
                f"a step writes {room} elements to tensor {step.view}, which share places"
            )


def is_recording(path: Path) -> bool:
    """Tell whether a path names a file that may be a recording, by its name."""
    return path.suffix == ".json"
