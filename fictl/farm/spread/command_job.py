"""One command for one place, and its result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fictl.errors import FictlError


@dataclass(frozen=True)
class CommandJob:
    """`argv` is without --json. keeps: see RunCommand. kind: hardware, empty for any.

    seconds: what it took before, as the longest are begun first.
    """

    name: str
    argv: tuple[str, ...]
    keeps: tuple[str, ...] = ()
    kind: str = ""
    seconds: float = 0.0


@dataclass(frozen=True)
class CommandResult:
    """The answer of a job: its data and exit code, or the error that kept it from any.

    kept: files that came back, by their names.
    """

    job: CommandJob
    place: str
    data: Any = None
    code: int = 0
    error: FictlError | None = None
    kept: Mapping[str, Path] = field(default_factory=dict)
    hardware: str = ""


@dataclass(frozen=True)
class SpreadResults:
    """Results in the order of the jobs. `left_out` explains which places were not used."""

    results: tuple[CommandResult, ...]
    left_out: tuple[str, ...] = ()
    undone: tuple[CommandJob, ...] = ()
    seconds: float = 0.0
