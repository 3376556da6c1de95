"""The numbers that fictl promises, each measured beside its yardstick in one run: `make perf`."""

from __future__ import annotations

import argparse
import json
import platform
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import builds
import calls
import datasets
import emulation
import solutions
import startup
import testing
from sample import Pair


@dataclass(frozen=True)
class Row:
    """A promise: ours against the yardstick, as a ratio or as a difference."""

    what: str
    ours: float
    yardstick: float
    value: float
    limit: float
    unit: str

    @property
    def kept(self) -> bool:
        return self.value <= self.limit


def ratio(what: str, pair: Pair, limit: float) -> Row:
    return Row(what, pair.ours, pair.yardstick, pair.ratio, limit, "x")


def excess(what: str, pair: Pair, limit: float, unit: str) -> Row:
    scale = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}[unit]
    return Row(what, pair.ours, pair.yardstick, pair.excess * scale, limit, unit)


EMULATED_MS = {
    "scale 1M": 10.0,
    "rmsnorm 64x4096": 6.0,
    "gemm 128x128x128": 4.0,
    "prefill 128x256, 8 heads": 80.0,
}


def emulated() -> Iterator[Row]:
    for name, limit in EMULATED_MS.items():
        yield excess(f"{name}, emulated", emulation.fast(name), limit, "ms")


def checked() -> Iterator[Row]:
    for name in EMULATED_MS:
        yield ratio(f"{name}, check", emulation.checked(name), 15.0)


def emulated_steps() -> Iterator[Row]:
    yield excess("emulated barrier, a thread", emulation.barrier(), 40.0, "ns")
    yield excess("emulated shuffle, a thread", emulation.shuffle(), 40.0, "ns")


def emulated_builds() -> Iterator[Row]:
    yield excess("emulated op, compile and link", emulation.compile_op(), 2.0, "s")
    yield excess("emulated attention, compile and link", emulation.compile_attention(), 15.0, "s")
    yield excess("emulated device's runtime, CPU", emulation.runtime(), 15.0, "s")


def kept_solutions() -> Iterator[Row]:
    for kind in ("python", "tvm_ffi"):
        first, again = solutions.fresh(kind), solutions.again(kind)
        yield excess(f"{kind} solution, kept on disk", first, 5.0, "ms")
        yield excess(f"{kind} solution, built before", again, 5.0, "ms")


PROMISES: dict[str, Callable[[], Iterator[Row]]] = {
    "help": lambda: iter([ratio("fictl --help / import typer", startup.help_text(), 3.0)]),
    "list": lambda: iter([excess("fictl list, 80 modules", startup.list_80(), 250.0, "ms")]),
    "load": lambda: iter([excess("warm load - bare dlopen", builds.warm_load(), 5.0, "ms")]),
    "cold": lambda: iter([ratio("cold build / one nvcc unit", builds.cold(), 0.4)]),
    "edit": lambda: iter([ratio("rebuild after edit / one nvcc unit", builds.edited(), 0.4)]),
    "call": lambda: iter([excess("op call - FFI call", calls.scale_call(), 0.3, "us")]),
    "guard": lambda: iter([excess("kernel call - FFI call", calls.kernel_call(), 0.3, "us")]),
    "auto": lambda: iter([excess("auto backend - its function", calls.auto_backend(), 0.5, "us")]),
    "test": lambda: iter([excess("fictl test - bare pytest", testing.overhead(), 1.0, "s")]),
    "dataset": lambda: iter([excess("10,000 traces validated", datasets.validate(), 10.0, "s")]),
    "solutions": kept_solutions,
    "emulate": emulated,
    "check": checked,
    "step": emulated_steps,
    "emulate-build": emulated_builds,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[[], *PROMISES], help="default: all")
    parser.add_argument("--save", type=Path, help="write the rows as JSON")
    options = parser.parse_args()
    rows = []
    print(f"{'':36}{'ours':>11}{'yardstick':>11}{'result':>10}{'promise':>10}")
    for name in options.names or PROMISES:
        for row in PROMISES[name]():
            rows.append(row)
            print(
                f"{row.what:36}{row.ours * 1e3:>9.3f}ms{row.yardstick * 1e3:>9.3f}ms"
                f"{row.value:>8.2f}{row.unit:2}{'<=':>5}{row.limit:g} {'' if row.kept else 'MISSED'}",
                flush=True,
            )
    if options.save:
        options.save.write_text(json.dumps(_report(rows), indent=1) + "\n", encoding="utf-8")
    return 0 if all(row.kept for row in rows) else 1


def _report(rows: list[Row]) -> dict[str, object]:
    from fictl.toolchain import current_toolchain, visible_gpus
    from fictl.version import describe

    toolchain = current_toolchain()
    return {
        "fictl": describe(),
        "python": platform.python_version(),
        "toolchain": toolchain.identity() if toolchain else {},
        "gpus": [gpu.name for gpu in visible_gpus()],
        "rows": [{**asdict(row), "kept": row.kept} for row in rows],
    }


if __name__ == "__main__":
    sys.exit(main())
