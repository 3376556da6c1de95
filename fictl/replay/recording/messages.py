"""The request to the process that plays one recording, and its answer."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class PlayRequest:
    """Request. device: in torch's words."""

    recording: Path
    device: str


@dataclass(frozen=True)
class CallOutcome:
    """Outcome of one step: match, ran, mismatch, error or refused."""

    step: int
    name: str
    status: str
    detail: str = ""


@dataclass(frozen=True)
class PlayAnswer:
    """Outcomes of all steps. refusal: why nothing was played."""

    calls: tuple[CallOutcome, ...] = ()
    refusal: str = ""
