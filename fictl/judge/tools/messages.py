"""The request to the process that a tool observes, and its answer. Documents are sent as
JSON text.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class LookRequest:
    """Request. mode: build or calls; only calls need the workload. root: the dataset's folder."""

    mode: str
    device: str
    definition: str
    solution: str
    workload: str | None
    root: Path | None
    calls: int
    seed: int


@dataclass(frozen=True)
class LookAnswer:
    """Answer. status: built or called, or the status of a failed evaluation; rows: emulated
    reports.
    """

    status: str
    message: str = ""
    hint: str = ""
    code: int = 0
    log: str = ""
    builder: str = ""
    seconds: float = 0.0
    rows: tuple[dict[str, Any], ...] = ()
