"""EventsResult: the result of `fictl profile OP --tool events`, for people and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from fictl.profile.events.recording import Kernel, Recording
from fictl.profile.events.statistics import event_rows, sm_rows


@dataclass(frozen=True)
class EventsResult:
    """Recorded events of a case. capacity: events that fit for a warp. trace: a file for
    ui.perfetto.dev.
    """

    op: str
    case: str
    device: str
    capacity: int
    recording: Recording
    trace: Path

    @property
    def warnings(self) -> list[str]:
        return [text for kernel in self.recording.kernels for text in self._warnings(kernel)]

    def _warnings(self, kernel: Kernel) -> Iterator[str]:
        if kernel.lost:
            warps = sum(warp.lost > 0 for warp in kernel.warps)
            most = self.capacity + max(warp.lost for warp in kernel.warps)
            yield (
                f"{kernel.name}: {kernel.lost} events of {warps} warps found no room behind "
                f"{self.capacity} each: --events {most} has room for all"
            )
        if not kernel.launch:
            yield (
                f"{kernel.name}: launched {kernel.launches} times in a call; what is shown is what "
                "the last launch left"
            )
        lasting = sum(not warp.ended for warp in kernel.warps)
        if lasting:
            yield f"{kernel.name}: {lasting} warps did not come to the end of the kernel"

    def to_dict(self) -> dict[str, Any]:
        return {
            "tool": "events",
            "op": self.op,
            "case": self.case,
            "device": self.device,
            "ns_per_cycle": self.recording.cycle,
            "tick_ns": self.recording.tick,
            "kernels": [_kernel(kernel) for kernel in self.recording.kernels],
            "warnings": self.warnings,
            "trace": str(self.trace),
        }


def _kernel(kernel: Kernel) -> dict[str, Any]:
    """Convert a kernel to JSON, with times in ns."""
    return {
        "name": kernel.name,
        "begin": kernel.begin,
        "end": kernel.end,
        "blocks": kernel.blocks,
        "recorded_blocks": kernel.recorded_blocks,
        "warps": len(kernel.warps),
        "launch": kernel.launch,
        "launches": kernel.launches,
        "lost": kernel.lost,
        "events": [asdict(row) for row in event_rows(kernel)],
        "sms": [asdict(row) for row in sm_rows(kernel)],
    }
