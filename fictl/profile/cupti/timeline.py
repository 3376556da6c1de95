"""The trace file of a profile: every launch on its stream, and the host's calls above them.

A trace of several ranks has the same parts, in one process for each rank.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from fictl.profile.chrome_trace import ChromeTrace
from fictl.profile.cupti.device import device
from fictl.profile.cupti.work import BETWEEN, ApiCall, Copy, Kernel, Work

_HOST = 1
# Processes after the host's: one for each GPU, whose first track shows the calls.
_GPUS = 2
_CALLS = 0
Track = tuple[int, int]


def save(name: str, work: Iterable[Work], api: Iterable[ApiCall], path: Path) -> None:
    work, api = list(work), list(api)
    base = min((entry.start for entry in (*work, *api)), default=0)
    trace = ChromeTrace(base, {"name": name, "by": "fictl profile"})
    trace.process(_HOST, "host: CUDA calls")
    host = host_tracks(trace, _HOST, 0, api)
    for number, on_it in _of_each_gpu(work):
        gpu = device(number)
        trace.process(_GPUS + number, f"GPU {number}{f': {gpu.name}' if gpu else ''}")
        gpu_tracks(trace, _GPUS + number, on_it)
    arrows(trace, work, api, host, lambda entry: (_GPUS + entry.device, entry.stream))
    trace.save(path)


def host_tracks(
    trace: ChromeTrace, process: int, first: int, api: Iterable[ApiCall]
) -> dict[int, Track]:
    """Add a track for each thread of the host, from the number `first` on; return them by thread."""
    api = list(api)
    threads = dict.fromkeys(call.thread for call in api)
    # Viewers need small numbers, and thread numbers are addresses.
    tracks = {thread: (process, first + number) for number, thread in enumerate(threads)}
    for number, track in enumerate(tracks.values()):
        trace.thread(*track, f"thread {number}")
    for call in api:
        facts = {"correlation": call.correlation}
        trace.span(tracks[call.thread], call.name, call.start, call.end, **facts)
    return tracks


def gpu_tracks(
    trace: ChromeTrace,
    process: int,
    work: Iterable[Work],
    of_call: Callable[[int], Mapping[str, object]] = lambda call: {},
) -> None:
    """Add a track of the calls, with facts of each, and one for each stream."""
    work = list(work)
    trace.thread(process, _CALLS, "calls")
    for stream in sorted({entry.stream for entry in work}):
        trace.thread(process, stream, f"stream {stream}")
    extents: dict[int, tuple[int, int]] = {}
    for entry in work:
        trace.span((process, entry.stream), entry.name, entry.start, entry.end, **_facts(entry))
        first, last = extents.get(entry.call, (entry.start, entry.end))
        extents[entry.call] = min(first, entry.start), max(last, entry.end)
    for call, (first, last) in extents.items():
        if call != BETWEEN:
            trace.span((process, _CALLS), f"call {call}", first, last, **of_call(call))


def arrows(
    trace: ChromeTrace,
    work: Iterable[Work],
    api: Iterable[ApiCall],
    host: Mapping[int, Track],
    track: Callable[[Work], Track],
    first: int = 0,
) -> None:
    """Draw arrows from API calls to the work that they launched; of a graph, to its first node.

    first: added to the numbers of the arrows, which are a whole trace's.
    """
    asked = {call.correlation: call for call in api}
    for entry in {one.correlation: one for one in reversed(list(work))}.values():
        call = asked.get(entry.correlation)
        if call is not None:
            begin, number = host[call.thread], first + entry.correlation
            trace.arrow(number, begin, call.start, track(entry), entry.start)


def _facts(one: Work) -> dict[str, object]:
    facts: dict[str, object] = {"correlation": one.correlation}
    if one.call == BETWEEN:
        facts["between"] = (
            "it is not part of a call: it makes L2 cold, or lets ranks begin together"
        )
    if one.graph:
        facts["graph"] = one.graph
    if isinstance(one, Copy):
        return {**facts, "bytes": one.bytes, "GB/s": round(one.gbps, 1)}
    if not isinstance(one, Kernel):
        return facts
    return {
        **facts,
        "grid": one.grid,
        "block": one.block,
        "cluster": one.cluster,
        "registers": one.registers,
        "static shared memory": one.static_shared,
        "dynamic shared memory": one.dynamic_shared,
    }


def _of_each_gpu(work: Iterable[Work]) -> Iterator[tuple[int, list[Work]]]:
    by_device: defaultdict[int, list[Work]] = defaultdict(list)
    for entry in work:
        by_device[entry.device].append(entry)
    yield from sorted(by_device.items())
