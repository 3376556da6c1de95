"""The request to the process that records events inside kernels, and its messages."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fictl.case.messages import CaseRequest
from fictl.profile.events.blocks import Blocks
from fictl.profile.events.clocks import Anchor


@dataclass(frozen=True)
class EventsRequest:
    """Record the first case that `case` selects, in these kernels, into `file`.

    events: how many events fit for each warp; 0 means as many as it needs.
    """

    case: CaseRequest
    kernels: tuple[int, ...]
    blocks: Blocks
    events: int
    file: Path


@dataclass(frozen=True)
class RecordedPart:
    """The memory of one kernel: this many bytes of the file, after the earlier parts."""

    kernel: int
    launches: int
    bytes: int


@dataclass(frozen=True)
class EventsRecorded:
    """The parts of the file; `anchors` are clock readings of warps in an earlier call."""

    capacity: int
    parts: tuple[RecordedPart, ...]
    anchors: tuple[Anchor, ...]
