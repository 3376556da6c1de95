"""The steps of `make gpu`, in groups that each fit into ten minutes of a GPU."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from fictl.toolchain import visible_gpus

ROOT = Path(__file__).resolve().parents[2]

_OPS = ("scale", "rmsnorm", "segment_sum")
# What engines call for a step of decoding, and the small ops around it.
_ENGINES = (
    *("planned_decode", "planned_prefill", "kv_fp4", "append_fp4"),
    *("rmsnorm_block_quant", "concat_mla_k"),
)
_COMM = ("all_reduce", "all_reduce_norm", "all_gather", "reduce_scatter", "moe_a2a")
_FICTL = (sys.executable, "-m", "fictl")


@dataclass(frozen=True)
class Step:
    name: str
    argv: tuple[str, ...]
    limit_s: int


def groups(out: Path) -> dict[str, tuple[Step, ...]]:
    """Return the steps by the name of their group; `out` gets the results that are kept."""
    return {
        "basics": tuple(_basics(out)),
        "engines": tuple(_engines(out)),
        "comm": tuple(_comm(out)),
        "ship": tuple(_ship(out)),
        "farm": tuple(_farm(out)),
    }


def _basics(out: Path) -> list[Step]:
    return [
        Step("build", (*_FICTL, "build", *_OPS), 120),
        Step("doctor", (*_FICTL, "doctor"), 120),
        Step("aot", (*_FICTL, "aot", "build", "--out", str(ROOT / "build" / "prebuilt")), 120),
        Step("verify", (*_FICTL, "aot", "verify", str(ROOT / "build" / "prebuilt")), 60),
        Step("test", (*_FICTL, "test", *_OPS), 300),
        Step("emulated", (*_FICTL, "sanitize", *_OPS, "--device", "emu", "-k", "not builds"), 300),
        _pytest("suite", 420, "tests", "--ignore=tests/test_packaging.py"),
        Step("sanitize", (*_FICTL, "sanitize", *_OPS, "-k", "not 2_to_the_31"), 400),
        Step("inspect", (*_FICTL, "inspect", *_OPS, "--gate", "spill_bytes==0"), 60),
        *(
            Step(tool, (*_FICTL, "profile", "rmsnorm", "--tool", tool, "--out", str(out)), 60)
            for tool in ("cupti", "ncu", "events")
        ),
        _python("perf", 300, "tests/perf/run.py", "--save", str(out / "perf.json")),
        _python("bench", 120, "tests/gpu/bench.py", "--save", str(out / "scale.json")),
    ]


def _engines(out: Path) -> list[Step]:
    attention = "tests/kernels/attention"
    serve = ("--batch", "16,1,64", "--context", "2048", "--json")
    return [
        _pytest(
            "engine-attention",
            200,
            *(f"{attention}/test_{name}.py" for name in ("planned_decode", "planned_prefill")),
            *(f"{attention}/test_{name}.py" for name in ("fp4_cache", "no_waiting", "recordings")),
        ),
        _pytest(
            "engine-parts",
            200,
            *(f"tests/kernels/{name}" for name in ("page", "quantization", "sampling", "topk")),
            *("tests/kernels/norm", "tests/kernels/elementwise", "tests/compat", "tests/replay"),
        ),
        _python("serve", 200, "docs/examples/serve.py", "--compare", "flashinfer,torch", *serve),
        Step("decode", (*_FICTL, "bench", "planned_decode", "--baseline", "all"), 120),
        _python("cache-bits", 90, "tests/perf/fp4_decode.py", "--save", str(out / "bits.json")),
        _python("host", 60, "tests/gpu/host_time.py", "--save", str(out / "host.json")),
        Step("engine-sanitize", (*_FICTL, "sanitize", *_ENGINES, "--tool", "memcheck"), 200),
    ]


def _comm(out: Path) -> list[Step]:
    """As many ranks as GPUs: 2, 4 or 8."""
    here = len(visible_gpus())
    gpus = str(max([number for number in (2, 4, 8) if number <= here], default=2))
    ranks = (sys.executable, "-m", "fictl.ranks.launch", "--ranks", gpus)
    ranks = (*ranks, "--report", str(out / "ranks.json"), "--", sys.executable)
    tests = ("-m", "pytest", "-v", "-p", "no:cacheprovider", "--fictl-gpus", gpus)

    def bench(op: str) -> Step:
        sides = ("--baseline", "all", "--max-time", "0.3", "--out", str(out / f"{op}.json"))
        return Step(f"bench-{op}", (*_FICTL, "bench", op, "--gpus", gpus, *sides), 120)

    def sanitized(tool: str) -> Step:
        # NCCL asks for kernels of other GPUs, which is no error of ours.
        check = ("compute-sanitizer", "--tool", tool, "--report-api-errors", "no")
        few = ("tests/kernels/comm", "-k", "(bits_of and bfloat16) or a_norm or gpus_of")
        return Step(
            f"comm-{tool}", (*check, "--target-processes", "all", *ranks, *tests, *few), 120
        )

    crossovers = ("tests/perf/crossovers.py", "--save", str(out / "crossovers.json"))
    return [
        Step("comm-doctor", (*_FICTL, "doctor", "--gpus"), 60),
        Step("comm-ranks", (*ranks, *tests, "tests/kernels/comm"), 200),
        Step("crossovers", (*ranks, *crossovers), 120),
        *(bench(op) for op in _COMM),
        *map(sanitized, ("racecheck", "memcheck")),
        _pytest("comm-tests", 200, "tests/comm", "tests/kernels/comm", "tests/multi"),
    ]


def _ship(out: Path) -> list[Step]:
    wheels = str(out / "wheels")
    wheel = (sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation")
    return [
        Step("modules", (*_FICTL, "aot", "wheel", "--arch", "9.0a", "--out", wheels), 400),
        Step("own-wheel", (*wheel, "--wheel-dir", wheels, "."), 60),
        _python(
            "alone", 120, "tests/gpu/wheel_alone.py", wheels, "--save", str(out / "wheel.json")
        ),
    ]


def _farm(out: Path) -> list[Step]:
    dataset = str(out / "dataset")
    return [
        _python("places", 200, "tests/gpu/places.py", "--save", str(out / "places.json")),
        _pytest("farm-tests", 200, "tests/farm", "tests/gpu_lock"),
        Step("export", (*_FICTL, "dataset", "export", "--out", dataset), 120),
        Step("evaluate", (*_FICTL, "dataset", "run", dataset, "--large", "--resume"), 300),
    ]


def _pytest(name: str, limit_s: int, *words: str) -> Step:
    # Verbose: a failure has its name in the log also where the time ends before the summary.
    pytest = (sys.executable, "-m", "pytest", "-v", "--tb=short", "--numprocesses=8")
    return Step(name, (*pytest, *words), limit_s)


def _python(name: str, limit_s: int, *words: str) -> Step:
    return Step(name, (sys.executable, *words), limit_s)
