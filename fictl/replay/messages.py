"""The request to the process that replays one dump, and its answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class ReplayRequest:
    """`device` is torch's word for it; `under` is what looks at the call, or ''."""

    dump: Path
    device: str
    under: str = ""


@dataclass(frozen=True)
class ReplayAnswer:
    """Result of the call. code: of an error of this machine, else 0.

    rows, profile, time: what the emulated checks, CUPTI or a timer reported, as users read it.
    """

    status: str
    detail: str = ""
    hint: str = ""
    code: int = 0
    rows: tuple[dict[str, Any], ...] = ()
    profile: Mapping[str, Any] = field(default_factory=dict)
    time: Mapping[str, Any] = field(default_factory=dict)
