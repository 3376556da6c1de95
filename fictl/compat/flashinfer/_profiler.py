"""Buffers that kernels with FlashInfer's profiler macros have written, as a trace.

fictl's own kernels record with <fictl/device/profiler.cuh>: `fictl profile OP --tool events`.
"""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from fictl.errors import InvalidValue
from fictl.profile.chrome_trace import ChromeTrace

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import torch

__all__ = ["EventType", "decode_tag", "export_to_perfetto_trace"]


class EventType(Enum):
    kBegin = 0  # noqa: N815 FlashInfer's names
    kEnd = 1  # noqa: N815
    kInstant = 2  # noqa: N815


class _Event(NamedTuple):
    block: int
    group: int
    name: int
    kind: int
    sm: int
    at: int


def decode_tag(tag: int, num_blocks: int, num_groups: int) -> tuple[int, int, int, int, int]:
    """Split a tag into (block, group, event, type, SM).

    From the lowest bit: 2 bits type, 10 bits event, 12 bits for the group among those of all
    blocks, 8 bits SM.
    """
    block, group = divmod(tag >> 12 & 0xFFF, num_groups)
    return block, group, tag >> 2 & 0x3FF, tag & 0x3, tag >> 24 & 0xFF


def export_to_perfetto_trace(
    profiler_buffer: torch.Tensor, event_names: Sequence[str], file_name: str
) -> None:
    """Write a file that ui.perfetto.dev opens, in the Trace Event Format.

    An SM becomes a process, a group of a block a thread of it. The first of the buffer's 64-bit
    words holds the numbers of blocks and groups; every other word is a tag and a time in ns, or 0.
    """
    events = sorted(_events(profiler_buffer), key=lambda event: event.at)
    trace = ChromeTrace(events[0].at if events else 0, {"events": len(events)})
    for sm in sorted({event.sm for event in events}):
        trace.process(sm, f"SM {sm}")
    tracks: dict[tuple[int, int, int], tuple[int, int]] = {}
    begun: dict[tuple[tuple[int, int], int], list[int]] = {}
    for event in events:
        key = (event.sm, event.block, event.group)
        if key not in tracks:
            tracks[key] = (event.sm, len(tracks) + 1)
            trace.thread(*tracks[key], f"block {event.block} group {event.group}")
        _add(trace, tracks[key], event, _name(event_names, event.name), begun)
    trace.save(Path(file_name))


def _events(buffer: torch.Tensor) -> Iterator[_Event]:
    import torch

    if buffer.dtype not in (torch.uint64, torch.int64):
        raise InvalidValue(f"profiler_buffer is {buffer.dtype}", "the kernel writes uint64")
    words = [word & (1 << 64) - 1 for word in buffer.cpu().view(torch.int64).flatten().tolist()]
    blocks, groups = words[0] & 0xFFFFFFFF, words[0] >> 32
    if not groups:
        raise InvalidValue(
            "profiler_buffer has no number of groups in its first word", "no kernel has written it"
        )
    for word in filter(None, words[1:]):
        block, group, name, kind, sm = decode_tag(word & 0xFFFFFFFF, blocks, groups)
        yield _Event(block, group, name, kind, sm, word >> 32)


def _name(names: Sequence[str], index: int) -> str:
    if index >= len(names):
        raise InvalidValue(f"event {index} has no name", f"event_names has {len(names)}")
    return names[index]


def _add(
    trace: ChromeTrace,
    track: tuple[int, int],
    event: _Event,
    name: str,
    begun: dict[tuple[tuple[int, int], int], list[int]],
) -> None:
    """Add a span at its end event; an end without a begin event is skipped."""
    open_ones = begun.setdefault((track, event.name), [])
    if event.kind == EventType.kBegin.value:
        open_ones.append(event.at)
    elif event.kind == EventType.kInstant.value:
        trace.instant(track, name, event.at)
    elif open_ones:
        trace.span(track, name, open_ones.pop(), event.at)
