"""The numbers that fictl promises, each measured beside its yardstick in one run: `make perf`."""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]  # The second: servers.

import builds
import calls
import datasets
import emulation
import evaluations
import farm
import places
import reproducible
import sharing
import solutions
import startup
import testing
from fictl.cli.gpu_use import alone
from sample import Pair


@dataclass(frozen=True)
class Row:
    """A promise: ours in units of the yardstick, both taken in this run, and the most it may be."""

    what: str
    yardstick: str
    ours_s: float
    yardstick_s: float
    ratio: float
    limit: float

    @property
    def kept(self) -> bool:
        return self.ratio <= self.limit


def row(what: str, yardstick: str, pair: Pair, limit: float) -> Row:
    return Row(what, yardstick, pair.ours, pair.yardstick, pair.ratio, limit)


TYPER, START, CALL = "import typer", "Python's start", "empty call"
HANDS = "1M through two queues"
REQUEST = "20 ms request"
UNIT, LOOP, STEP = "one nvcc unit", "copy loop of 1M", "step of the loop"
EMULATED = {
    "scale 1M": 36.0,
    "rmsnorm 64x4096": 22.0,
    "gemm 128x128x128": 14.0,
    "prefill 128x256, 8 heads": 290.0,
}


def startups() -> Iterator[Row]:
    for words in (["--help"], ["cache", "path"], ["test", "--help"]):
        yield row(f"fictl {' '.join(words)}", TYPER, startup.command(*words), 1.6)
    yield row("completion of a word", TYPER, startup.completion(), 1.6)
    yield row("fictl list, 80 modules", TYPER, startup.list_80(), 3.0)


def loads() -> Iterator[Row]:
    yield row("warm load over its dlopen", START, builds.warm_load(), 0.4)


def rebuilds() -> Iterator[Row]:
    yield row("cold build", UNIT, builds.cold(), 0.4)
    yield row("rebuild after an edit", UNIT, builds.edited(), 0.4)


def overheads() -> Iterator[Row]:
    yield row("op call over the FFI call", CALL, calls.scale_call(), 7.0)
    yield row("kernel call over the FFI call", CALL, calls.kernel_call(), 7.0)
    yield row("auto backend over its function", CALL, calls.auto_backend(), 12.0)


def tests() -> Iterator[Row]:
    yield row("fictl test of a small op", "the same by pytest", testing.overhead(), 1.5)


def traces() -> Iterator[Row]:
    yield row("10,000 traces validated", "their json.loads", datasets.validate(), 10.0)


def evaluated() -> Iterator[Row]:
    pair, builds = evaluations.small_op()
    yield row("evaluation of a small op, built", "import torch", pair, 2.0)
    yield Row(f"{builds} build of equal sources", "one", pair.ours, pair.ours, builds, 1.0)


def kept_solutions() -> Iterator[Row]:
    for kind in ("python", "tvm_ffi"):
        yield row(f"{kind} solution, kept on disk", START, solutions.fresh(kind), 0.4)
        yield row(f"{kind} solution, built before", START, solutions.again(kind), 0.4)


def shared() -> Iterator[Row]:
    yield row("warm load, a remote set", "no remote", sharing.warm_load(), 1.1)
    yield row("signature and hash of 1 MB", "the hash", sharing.signature(), 3.0)
    yield row("a miss", REQUEST, sharing.miss(), 1.25)
    yield row("all misses of the set", REQUEST, sharing.all_misses(), 8.0)
    yield row("a hit", "its build", sharing.hit(), 0.05)
    first, later = sharing.dead()
    yield row("a dead remote, first process", "a second", first, 1.1)
    yield row("a dead remote, later process", START, later, 0.1)
    yield row("64 processes, one download", "the same, warm", sharing.at_once(), 1.5)


def shared_set() -> Iterator[Row]:
    second, cold = sharing.whole_set()
    yield row("push of the set, the second", REQUEST, second, 100.0)
    yield row("cold machine, whole set loaded", "import torch", cold, 5.0)


def emulated() -> Iterator[Row]:
    for name, limit in EMULATED.items():
        yield row(f"{name}, emulated", LOOP, emulation.fast(name), limit)
    for name in EMULATED:
        yield row(f"{name}, check", "unchecked", emulation.checked(name), 15.0)
    yield row("emulated barrier, a thread", STEP, emulation.barrier(), 150.0)
    yield row("emulated shuffle, a thread", STEP, emulation.shuffle(), 150.0)


def emulated_builds() -> Iterator[Row]:
    yield row("emulated op, compile and link", UNIT, emulation.compile_op(), 0.5)
    yield row("emulated attention, the same", UNIT, emulation.compile_attention(), 4.0)
    yield row("emulated device's runtime, CPU", UNIT, emulation.runtime(), 4.0)


def scheduling() -> Iterator[Row]:
    yield row("1M tasks, 1,000 places", HANDS, farm.large(), 40.0)
    yield row("evaluation's messages by Ray", "50 ms", farm.over_ray(), 1.0)


def at_places() -> Iterator[Row]:
    yield row("an evaluation by ssh, its pipe", REQUEST, places.over_ssh(), 1.0)
    yield row("--on with one place here", "without --on", places.one_place_here(), 1.02)
    yield row("24 compiles at four places", "at one", places.four_places(), 1 / 3)
    yield row("4 ops at two cores' places", "at one core's", places.two_cores(), 0.75)
    yield row("a place that stops, till the end", "15 s", places.stopped(), 1.1)


def reproducible_builds() -> Iterator[Row]:
    """The number of modules that two machines build differently, in the place of a ratio."""
    start = time.monotonic()
    problems = reproducible.compare([])
    for module, problem in problems:
        if problem:
            print(f"{module}: {problem}")
    differing = sum(bool(problem) for _, problem in problems)
    seconds = time.monotonic() - start
    yield Row(f"{len(problems)} ops built twice differ", "both", seconds, seconds, differing, 0.0)


PROMISES: dict[str, Callable[[], Iterator[Row]]] = {
    "start": startups,
    "load": loads,
    "build": rebuilds,
    "call": overheads,
    "test": tests,
    "dataset": traces,
    "evaluate": evaluated,
    "solutions": kept_solutions,
    "share": shared,
    "share-set": shared_set,
    "emulate": emulated,
    "emulate-build": emulated_builds,
    "farm": scheduling,
    "places": at_places,
    "reproducible": reproducible_builds,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[[], *PROMISES], help="default: all")
    parser.add_argument("--save", type=Path, help="write the rows as JSON")
    options = parser.parse_args()
    with alone(None):
        rows = _rows(options.names or PROMISES)
    if options.save:
        options.save.write_text(json.dumps(_report(rows), indent=1) + "\n", encoding="utf-8")
    return 0 if all(row.kept for row in rows) else 1


def _rows(names: Iterable[str]) -> list[Row]:
    rows = []
    print(f"{'':32}{'ours':>11}  {'yardstick':30}{'ratio':>8}{'promise':>9}")
    for name in names:
        for found in PROMISES[name]():
            rows.append(found)
            yardstick = f"{found.yardstick} {found.yardstick_s * 1e3:.4g} ms"
            print(
                f"{found.what:32}{found.ours_s * 1e3:>9.3f}ms  {yardstick:30}{found.ratio:>7.2f}x"
                f"  <= {found.limit:g}x {'' if found.kept else 'MISSED'}",
                flush=True,
            )
    return rows


def _report(rows: list[Row]) -> dict[str, object]:
    from fictl.toolchain import current_toolchain, visible_gpus
    from fictl.version import describe

    toolchain = current_toolchain()
    return {
        "fictl": describe(),
        "python": platform.python_version(),
        "toolchain": toolchain.identity() if toolchain else {},
        "gpus": [gpu.name for gpu in visible_gpus()],
        "rows": [{**asdict(each), "kept": each.kept} for each in rows],
    }


if __name__ == "__main__":
    sys.exit(main())
