"""How far a measurement can be trusted, measured on a GPU: repeats, verdicts, timers against each other."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

import torch

import fictl.ops
from fictl.errors import FictlError
from fictl.timing.gpu_state import gpu_state
from fictl.timing.measure import measure
from fictl.timing.offset import graph_offset
from fictl.timing.samples import Samples
from fictl.timing.side import Side
from fictl.timing.stop import Stop
from fictl.timing.verdict import Verdict, compare_rounds

_REPEATS = 10
_COMPARISONS = 100
_REPEAT = Stop(min_seconds=0.05, max_seconds=0.5)
_COMPARE = Stop(stdrel=0.002, min_rounds=30, min_seconds=0.02, max_seconds=0.15, max_rounds=60)
_RECORDED = 3


@dataclass(frozen=True)
class Row:
    """A promise and what was found; `kept` is None where nothing was promised."""

    what: str
    found: str
    promised: str = ""
    kept: bool | None = None


def scale(rows: int, columns: int = 4096) -> Side:
    @cache
    def tensors(index: int) -> tuple[torch.Tensor, ...]:
        x = torch.randn(rows, columns, device="cuda")
        return x, torch.empty_like(x)

    def make(index: int) -> Callable[[], object]:
        x, out = tensors(index)
        return lambda: fictl.ops.scale(x, 2.0, out=out)

    return Side(make, 2 * rows * columns * 4)


def rmsnorm(rows: int, columns: int = 4096) -> Side:
    @cache
    def tensors(index: int) -> tuple[torch.Tensor, ...]:
        x = torch.randn(rows, columns, device="cuda", dtype=torch.bfloat16)
        return x, torch.ones(columns, device="cuda", dtype=torch.bfloat16), torch.empty_like(x)

    def make(index: int) -> Callable[[], object]:
        x, weight, out = tensors(index)
        return lambda: fictl.ops.rmsnorm(x, weight, out=out)

    return Side(make, 2 * rows * columns * 2)


LARGE = {"scale 4096x4096 float32": (scale, 4096), "rmsnorm 16384x4096 bfloat16": (rmsnorm, 16384)}
SMALL = {"scale 64x4096 float32": (scale, 64), "rmsnorm 128x4096 bfloat16": (rmsnorm, 128)}


def timed(side: Side, timer: str, stop: Stop = _REPEAT, *, cold: bool = True) -> Samples:
    return measure({"it": side}, timer=timer, cold=cold, stop=stop)["it"]


def repeated(timer: str) -> Iterator[Row]:
    for name, (op, rows) in LARGE.items():
        side = op(rows)
        medians = [timed(side, timer).median for _ in range(_REPEATS)]
        spread = max(medians) / min(medians) - 1
        found = f"{us(min(medians))} .. {us(max(medians))}, {spread:.2%}"
        yield Row(f"{name}: {_REPEATS} repeats", found, "<= 1 %", spread <= 0.01)


def verdicts(timer: str, recorded: list[dict[str, object]]) -> Iterator[Row]:
    """`b` is the very kernel of `a`; or the same over 3 % more rows."""
    for name, (op, rows) in LARGE.items():
        a = op(rows)
        for what, b, wanted in (
            ("same", op(rows), Verdict.SAME),
            ("slower3", op(round(rows * 1.03)), Verdict.SLOWER),
        ):
            runs = [rounds(a, b, timer) for _ in range(_COMPARISONS // len(LARGE))]
            recorded += [
                {"name": f"{what} {name} {number}", "sides": run}
                for number, run in enumerate(runs[:_RECORDED])
            ]
            yield judged(f"{name}: {what}", runs, wanted)


def rounds(a: Side, b: Side, timer: str) -> dict[str, list[float]]:
    samples = measure({"a": a, "b": b}, timer=timer, stop=_COMPARE)
    return {name: [round(x, 11) for x in each.seconds] for name, each in samples.items()}


def judged(what: str, runs: list[dict[str, list[float]]], wanted: Verdict) -> Row:
    found = [compare_rounds(run["a"], run["b"]) for run in runs]
    counts = Counter(each.verdict for each in found)
    ratios = [each.ratio for each in found]
    said = ", ".join(f"{count} {verdict.value}" for verdict, count in counts.items())
    return Row(
        what,
        f"{said}; ratio {min(ratios):.4f} .. {max(ratios):.4f}",
        f"{wanted.value} in 95 of 100",
        counts[wanted] >= 0.95 * len(runs),
    )


def timers_agree() -> Iterator[Row]:
    for name, (op, rows) in (LARGE | SMALL).items():
        side = op(rows)
        cupti, graph, events = (timed(side, timer) for timer in ("cupti", "graph", "events"))
        difference = graph.median / cupti.median - 1
        found = (
            f"cupti {us(cupti.median)}, graph {us(graph.median)} ({difference:+.1%}), "
            f"events {us(events.median)}"
        )
        promised = "within 5 %" if cupti.median >= 20e-6 else ""
        yield Row(f"{name}: timers", found, promised, abs(difference) <= 0.05 if promised else None)


def caches() -> Iterator[Row]:
    """What the cold cache costs, and whether rotated copies and a flush agree on it."""
    for name, (op, rows) in SMALL.items():
        side = op(rows)
        cold, warm = timed(side, "auto"), timed(side, "auto", cold=False)
        flushed = timed(Side(side.make, working_set=0), "auto")
        found = (
            f"{us(cold.median)} over {cold.copies} copies, {us(flushed.median)} after a flush, "
            f"{us(warm.median)} warm"
        )
        yield Row(f"{name}: cold L2", found)


def offset() -> Iterator[Row]:
    found = graph_offset()
    yield Row(
        "a graph's gap between kernels",
        f"cupti {us(found.cupti)}, graph {us(found.graph)}: {us(found.seconds)}",
    )


def us(seconds: float) -> str:
    return f"{seconds * 1e6:.2f} us"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--timer", default="auto")
    parser.add_argument("--save", type=Path, help="the table as JSON")
    parser.add_argument("--record", type=Path, help="raw samples, for the tests of statistics")
    options = parser.parse_args()
    began = time.monotonic()
    rows: list[Row] = []
    recorded: list[dict[str, object]] = []
    steps = (
        offset,
        timers_agree,
        caches,
        lambda: repeated(options.timer),
        lambda: verdicts(options.timer, recorded),
    )
    for step in steps:
        try:
            rows += list(step())
        except FictlError as error:
            rows.append(Row(getattr(step, "__name__", "step"), f"not measured: {error}"))
        print(f"{time.monotonic() - began:5.0f} s  {len(rows)} rows", file=sys.stderr)
    state = gpu_state()
    if options.save:
        document = {"gpu": asdict(state) if state else None, "rows": [asdict(row) for row in rows]}
        options.save.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    if options.record:
        options.record.write_text(json.dumps({"cases": recorded}) + "\n", encoding="utf-8")
    print(state)
    for row in rows:
        mark = {True: "kept", False: "MISSED", None: ""}[row.kept]
        print(f"{row.what:48} {row.found:72} {row.promised:22} {mark}")
    return int(any(row.kept is False for row in rows))


if __name__ == "__main__":
    sys.exit(main())
