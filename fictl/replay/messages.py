"""The request to the process that replays one dump, and its answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class ReplayRequest:
    """Request. device: in torch's words; under: the tool that observes the call, or ''."""

    dump: Path
    device: str
    under: str = ""


@dataclass(frozen=True)
class ReplayAnswer:
    """Result of the call. code: exit code if this machine is at fault, else 0.

    rows, profile, time: reports of the emulated checks, CUPTI or a timer, in their form for users.
    """

    status: str
    detail: str = ""
    hint: str = ""
    code: int = 0
    rows: tuple[dict[str, Any], ...] = ()
    profile: Mapping[str, Any] = field(default_factory=dict)
    time: Mapping[str, Any] = field(default_factory=dict)
