"""A recording as a trace: an SM becomes a process, a warp of a block a thread."""

from __future__ import annotations

from pathlib import Path

from fictl.profile.chrome_trace import ChromeTrace
from fictl.profile.events.recording import Kernel, Recording, Warp


def write_trace(recording: Recording, path: Path, case: str) -> None:
    trace = ChromeTrace(0, {"case": case})
    warps = [(kernel, warp) for kernel in recording.kernels for warp in kernel.warps]
    for sm in sorted({warp.sm for _, warp in warps}):
        trace.process(sm, f"SM {sm}")
    for thread, (kernel, warp) in enumerate(sorted(warps, key=lambda both: both[1].begin), 1):
        _add(trace, kernel, warp, (warp.sm, thread))
    trace.save(path)


def _add(trace: ChromeTrace, kernel: Kernel, warp: Warp, track: tuple[int, int]) -> None:
    trace.thread(*track, f"block {warp.block} {warps_of(kernel, warp)}")
    begin, end = round(warp.begin), round(warp.end)
    trace.span(track, kernel.name, begin, end, block=warp.block, lost=warp.lost)
    for event in warp.happened:
        if event.end is None:
            trace.instant(track, event.name, round(event.begin))
        else:
            trace.span(track, event.name, round(event.begin), round(event.end))


def warps_of(kernel: Kernel, warp: Warp) -> str:
    """`warp 3`, or `warps 4-7` if several form one group."""
    first = warp.group * kernel.group_warps
    last = first + kernel.group_warps - 1
    return f"warp {first}" if first == last else f"warps {first}-{last}"
