"""The trace file of a profile: every launch on its stream, and the calls of the host over them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from fictl.profile.chrome_trace import ChromeTrace
from fictl.profile.cupti.device import device
from fictl.profile.cupti.work import BETWEEN, ApiCall, Copy, Kernel, Work

_HOST = 1
# Processes behind the host's: one for each GPU, whose first track is that of the calls.
_GPUS = 2
_CALLS = 0
Track = tuple[int, int]


def save(name: str, work: Iterable[Work], api: Iterable[ApiCall], path: Path) -> None:
    work, api = list(work), list(api)
    base = min((each.start for each in (*work, *api)), default=0)
    trace = ChromeTrace(base, {"name": name, "by": "fictl profile"})
    threads = dict.fromkeys(each.thread for each in api)
    # Viewers want small numbers, and those of threads are addresses.
    tracks = {thread: (_HOST, number) for number, thread in enumerate(threads)}
    _host(trace, api, tracks)
    for number, on_it in _of_each_gpu(work):
        _gpu(trace, number, on_it)
    _arrows(trace, work, api, tracks)
    trace.save(path)


def _host(trace: ChromeTrace, api: Iterable[ApiCall], tracks: Mapping[int, Track]) -> None:
    trace.process(_HOST, "host: CUDA calls")
    for track in tracks.values():
        trace.thread(*track, f"thread {track[1]}")
    for each in api:
        facts = {"correlation": each.correlation}
        trace.span(tracks[each.thread], each.name, each.start, each.end, **facts)


def _gpu(trace: ChromeTrace, number: int, work: Iterable[Work]) -> None:
    process, found = _GPUS + number, device(number)
    trace.process(process, f"GPU {number}{f': {found.name}' if found else ''}")
    trace.thread(process, _CALLS, "calls")
    for stream in sorted({each.stream for each in work}):
        trace.thread(process, stream, f"stream {stream}")
    extents: dict[int, tuple[int, int]] = {}
    for each in work:
        trace.span((process, each.stream), each.name, each.start, each.end, **_facts(each))
        first, last = extents.get(each.call, (each.start, each.end))
        extents[each.call] = min(first, each.start), max(last, each.end)
    for call, (first, last) in extents.items():
        if call != BETWEEN:
            trace.span((process, _CALLS), f"call {call}", first, last)


def _facts(one: Work) -> dict[str, object]:
    facts: dict[str, object] = {"correlation": one.correlation}
    if one.call == BETWEEN:
        facts["between"] = "it is no part of a call: it makes L2 cold"
    if one.graph:
        facts["graph"] = one.graph
    if isinstance(one, Copy):
        return {**facts, "bytes": one.bytes, "GB/s": round(one.gbps, 1)}
    assert isinstance(one, Kernel)
    return {
        **facts,
        "grid": one.grid,
        "block": one.block,
        "cluster": one.cluster,
        "registers": one.registers,
        "static shared memory": one.static_shared,
        "dynamic shared memory": one.dynamic_shared,
    }


def _arrows(
    trace: ChromeTrace,
    work: Iterable[Work],
    api: Iterable[ApiCall],
    tracks: Mapping[int, Track],
) -> None:
    """From the call that launched it; of a graph, to its first node."""
    asked = {each.correlation: each for each in api}
    for each in {one.correlation: one for one in reversed(list(work))}.values():
        call = asked.get(each.correlation)
        if call is not None:
            end = (_GPUS + each.device, each.stream)
            trace.arrow(each.correlation, tracks[call.thread], call.start, end, each.start)


def _of_each_gpu(work: Iterable[Work]) -> Iterator[tuple[int, list[Work]]]:
    found: defaultdict[int, list[Work]] = defaultdict(list)
    for each in work:
        found[each.device].append(each)
    yield from sorted(found.items())
