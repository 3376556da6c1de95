"""Profiles that `fictl profile --json` printed, read back from a file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from fictl.errors import UsageError, unreadable
from fictl.printable import printable_document
from fictl.profile.difference.facts import KernelFacts
from fictl.user_file import read_text

SCHEMA = "fictl.profile/1"
_WRITES = "fictl profile OP --json > FILE writes one"
_LARGEST = 64 << 20
# Larger than any counter, and small enough that a product of two is a number.
Amount = Annotated[float, Field(ge=0, le=1e20)]
Size = Annotated[int, Field(ge=0, le=1 << 40)]


class _Document(BaseModel):
    """A part of a document: what it lacks is not compared, and what is unknown is left out."""

    model_config = ConfigDict(extra="ignore", allow_inf_nan=False)


class _Event(_Document):
    name: str
    count: Amount = 0
    median: Amount | None = None


class _Kernel(_Document):
    """A kernel or a copy of any tool."""

    name: str
    launches: Amount = 1.0
    count: Amount | None = None
    seconds: Amount | list[Amount] | None = None
    median: Amount | None = None
    begin: Amount | None = None
    end: Amount | None = None
    grid: list[Size] = []
    block: list[Size] = []
    registers: Amount | None = None
    occupancy: Amount | None = None
    waves: Amount | None = None
    static_shared: Amount | None = None
    dynamic_shared: Amount | None = None
    bytes: Amount | dict[str, Amount] | None = None
    stalls: dict[str, Amount] = {}
    events: list[_Event] = []

    def facts(self) -> Iterator[KernelFacts]:
        names = ("registers", "occupancy", "waves", "static_shared", "dynamic_shared")
        numbers = {name: getattr(self, name) for name in names}
        moved = self.bytes if isinstance(self.bytes, dict) else {"copied": self.bytes or 0.0}
        yield KernelFacts(
            self.name,
            tuple(self.grid),
            tuple(self.block),
            self.count or self.launches,
            self._time(),
            {name: value for name, value in numbers.items() if value is not None},
            self.stalls,
            {memory: count for memory, count in moved.items() if count},
        )
        for event in self.events:
            if event.median is not None:
                name = f"{self.name} · {event.name}"
                yield KernelFacts(name, launches=event.count, seconds=event.median * 1e-9)

    def _time(self) -> float | None:
        """Seconds of one launch; the recorder of events counts in ns."""
        if self.median is not None:
            return self.median
        if self.begin is not None and self.end is not None:
            return (self.end - self.begin) * 1e-9
        return self.seconds if isinstance(self.seconds, (int, float)) else None


class _Result(_Document):
    tool: str = "cupti"
    kernels: list[_Kernel] = []
    copies: list[_Kernel] = []
    tables: dict[str, list[_Kernel]] = {}
    median: Amount | None = None


class SavedCase(_Document):
    """The profile of one case; `result` is None where it failed."""

    op: str
    case: str
    result: _Result | None = None

    @property
    def tool(self) -> str:
        """Name of the tool, without its version."""
        return self.result.tool.partition(" ")[0] if self.result else ""

    @property
    def seconds(self) -> float | None:
        """GPU time of one call, where the tool knows it."""
        return self.result.median if self.result else None

    def kernels(self) -> list[KernelFacts]:
        if self.result is None:
            return []
        rows = [*self.result.kernels, *self.result.copies]
        rows += [
            row for name, table in self.result.tables.items() if "api" not in name for row in table
        ]
        return [facts for row in rows for facts in row.facts()]


class _Profile(_Document):
    schema_: str = Field(alias="schema")
    data: list[SavedCase]


def load(path: Path) -> list[SavedCase]:
    """Read a file that `fictl profile --json` wrote."""
    try:
        return cases(json.loads(read_text(path, largest=_LARGEST)), str(path))
    except OSError as error:
        raise unreadable(path, error, _WRITES) from error
    except RecursionError:
        raise UsageError(f"{path} is nested too deeply to be a profile", _WRITES) from None
    except UsageError:
        raise
    except ValueError as error:
        raise UsageError(f"{path} cannot be read as a profile: {error}", _WRITES) from error


def cases(document: Any, origin: str) -> list[SavedCase]:
    """Check a document, and return its cases."""
    schema = document.get("schema") if isinstance(document, Mapping) else None
    if schema != SCHEMA:
        raise UsageError(f"{origin} has the schema {schema!r}, not {SCHEMA!r}", _WRITES)
    if document.get("data") is None:
        raise UsageError(f"{origin} is of a run that failed", _WRITES)
    try:
        return _Profile.model_validate(printable_document(document, kept="")).data
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise UsageError(
            f"{origin} is not a whole profile: {place}: {first['msg']}", _WRITES
        ) from None
