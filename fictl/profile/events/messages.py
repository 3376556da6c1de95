"""The request to the process that records events inside kernels, and what it sends."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fictl.case.messages import CaseRequest
from fictl.profile.events.blocks import Blocks
from fictl.profile.events.clocks import Anchor


@dataclass(frozen=True)
class EventsRequest:
    """Record the first case that `case` chooses, in these kernels, into `file`.

    events: room for so many in each warp; 0 is as many as it needs.
    """

    case: CaseRequest
    kernels: tuple[int, ...]
    blocks: Blocks
    events: int
    file: Path


@dataclass(frozen=True)
class RecordedPart:
    """The memory of one kernel: this many bytes of the file, behind those of the parts before."""

    kernel: int
    launches: int
    bytes: int


@dataclass(frozen=True)
class EventsRecorded:
    """The parts of the file; `anchors` are what warps of an earlier call have read of the clocks."""

    capacity: int
    parts: tuple[RecordedPart, ...]
    anchors: tuple[Anchor, ...]
