"""What recording by CUPTI does to the times of kernels: the same launches with and without it, in turn."""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Callable, Iterator

import torch

from fictl.profile.cupti.recorder import Recorder
from fictl.profile.cupti.recording import record
from fictl.profile.request import CALLS
from fictl.timing.event_pair import EventPair
from fictl.timing.lead import lead
from fictl.timing.rotation import Rotation, rotations
from fictl.timing.side import Side
from measuring import LARGE, SMALL, Row, timed

_ROUNDS = 15
_REPEATS = 5
_CALLS = 40
# Recording makes the host slower: the GPU waits so long before it, that it never waits between.
_LEAD_SECONDS = 10e-3
_MOST = 0.02


def overhead(name: str, side: Side, promised: bool) -> Row:
    """Of a call among others on a busy GPU, by events; of a short one it is the gap between two."""
    turn = rotations({name: side}, "cuda", cold=False)[0]
    _seconds(turn.calls[0])
    samples = []
    for _ in range(_ROUNDS):
        without = _seconds(turn.calls[0])
        with Recorder() as recorder:
            _seconds(turn.calls[0])
            recorder.forget()
            samples.append((_seconds(turn.calls[0]), without))
            recorder.collect()
    what = f"{name}: recorded over not recorded"
    if promised:
        return _row(what, statistics.median(a / b for a, b in samples))
    excess = statistics.median(a - b for a, b in samples)
    call = statistics.median(b for _, b in samples)
    return Row(what, f"{excess * 1e9:+.0f} ns of {call * 1e6:.2f} us")


def agreement(name: str, side: Side) -> Row:
    """Of the kernel's median in `fictl profile` with that in `fictl bench` of the same call."""
    turn: Rotation = rotations({name: side}, "cuda", cold=True)[0]
    ratios = []
    for _ in range(_REPEATS):
        (ours,) = record(turn, CALLS).summary.kernels
        (theirs,) = timed(side, "cupti").kernels
        ratios.append(ours.median / theirs.seconds)
    return _row(f"{name}: profile over bench --timer cupti", statistics.median(ratios))


def _seconds(call: Callable[[], object]) -> float:
    lead(_LEAD_SECONDS)
    with EventPair() as pair:
        for _ in range(_CALLS):
            call()
    return pair.seconds() / _CALLS


def _row(what: str, ratio: float) -> Row:
    return Row(what, f"{ratio:.4f}", f"1 ± {_MOST}", abs(ratio - 1) <= _MOST)


def rows() -> Iterator[Row]:
    both = {**LARGE, **SMALL}
    for name, (op, size) in both.items():
        yield overhead(name, op(size), promised=name in LARGE)
    for name, (op, size) in both.items():
        yield agreement(name, op(size))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    found = list(rows())
    if asked.json:
        print(json.dumps([vars(row) for row in found]))
    else:
        print(torch.cuda.get_device_name())
        for row in found:
            mark = {True: "✓", False: "✗", None: " "}[row.kept]
            print(f"{mark} {row.what}: {row.found} {row.promised and f'({row.promised})'}")
    return 1 if any(row.kept is False for row in found) else 0


if __name__ == "__main__":
    sys.exit(main())
