"""The request to the process that a tool looks at, and its answer. Documents cross as their JSON text."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class LookRequest:
    """`mode` is build or calls; only calls need the workload. `root` is the dataset's folder."""

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
    """`status` is built or called, or that of a failed evaluation; `rows` are emulated reports."""

    status: str
    message: str = ""
    hint: str = ""
    code: int = 0
    log: str = ""
    builder: str = ""
    seconds: float = 0.0
    rows: tuple[dict[str, Any], ...] = ()
