"""What people read of a benchmark, from recorded rows of a GPU."""

from __future__ import annotations

import io
import random
from dataclasses import replace

import pytest
from rich.console import Console

from fictl.bench.result import BenchReport, Environment
from fictl.bench.row import SKIPPED, WRONG, Row
from fictl.cli._bench.table import show_report
from fictl.timing.samples import Kernel

STATE = {"name": "NVIDIA H200", "sm_mhz": 1980, "throttled": (), "others": ()}
ENVIRONMENT = Environment(
    device="cuda",
    timestamp="now",
    fictl="0.1.0",
    commit="3f2a91c0ffee",
    python="3.11",
    before=STATE,
    after=STATE,
)


def row(seconds: float = 64.9e-6, seed: int = 0, **changes: object) -> Row:
    noise = random.Random(seed)
    facts: dict[str, object] = {
        "op": "fictl/norm/norm",
        "function": "norm",
        "side": "fictl",
        "case": "norm-16384x4096-bfloat16",
        "sizes": {"rows": 16384, "hidden": 4096},
        "dtype": "bfloat16",
        "checked": True,
        "timer": "cupti",
        "cold": True,
        "copies": 5,
        "working_set": 268_000_000,
        "bytes": 268_000_000,
        "samples": tuple(seconds * noise.gauss(1, 0.002) for _ in range(40)),
    }
    return Row(**{**facts, **changes})  # type: ignore[arg-type]


def shown(*rows: Row, verbose: bool = False, **changes: object) -> str:
    environment = Environment(**{**vars(ENVIRONMENT), **changes})  # type: ignore[arg-type]
    text = io.StringIO()
    out = Console(file=text, width=400)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdout", text)
        show_report(out, BenchReport(environment, rows), [], verbose)
    return text.getvalue()


def test_the_head_says_where_and_how_it_was_measured() -> None:
    head = shown(row()).splitlines()[0].strip()
    assert head == "H200 · 1980 MHz · cupti · cold L2 (1.3 GB rotated) · commit 3f2a91c"


def test_a_warm_cache_is_never_called_cold() -> None:
    assert "warm L2" in shown(row(cold=False))
    assert "L2 cold for some cases only" in shown(row(), row(cold=False, case="b"))


def test_others_are_shown_by_their_ratio_and_a_tie_is_said() -> None:
    said = shown(
        row(),
        row(82.1e-6, 1, side="torch", is_baseline=True),
        row(64.9e-6, 2, side="peer", is_baseline=True),
    )
    line = said.splitlines()[-1]
    assert line.startswith("16384x4096 bf16")
    assert "(1.27x)" in line or "(1.26x)" in line
    assert "(tie)" in line


def test_the_share_of_a_ceiling_is_a_bar() -> None:
    said = shown(row().against({"copy": 4.2e12}))
    assert "98% of copy ████████████████████" in said


def test_what_was_not_timed_is_marked_and_explained_once() -> None:
    wrong = [
        row(
            side="peer",
            is_baseline=True,
            status=WRONG,
            samples=(),
            note="out: all differ",
            case=name,
        )
        for name in ("a", "b")
    ]
    skipped = row(side="absent", is_baseline=True, status=SKIPPED, samples=(), note="no", case="a")
    said = shown(row(case="a"), row(case="b"), *wrong, skipped)
    assert said.count("✗ wrong") == 2
    assert "✗ 2 cases  peer: out: all differ" in said
    assert "- a  absent: no" in said


def test_a_baseline_that_rounds_more_has_a_time_with_a_mark() -> None:
    torch = row(82.1e-6, 1, side="torch", is_baseline=True, off=2.34)
    said = shown(row(), torch, row(case="b"), replace(torch, case="b", off=3.21))
    assert "x, off 2.3x)" in said
    assert "≈ 2 cases  torch: off by up to 3.2x what the op's tests allow" in said


def test_a_remark_of_all_sides_is_one_line() -> None:
    why = "cupti: no permission"
    said = shown(row(note=why), row(side="torch", is_baseline=True, note=why))
    assert "norm-16384x4096-bfloat16  fictl, torch: cupti: no permission" in said


def test_a_plan_stands_in_a_line_of_its_own() -> None:
    said = shown(row(), row(1.5e-3, step="plan", bytes=None, timer="host"))
    assert "16384x4096 bf16 plan  1.50 ms" in said
    assert "· cupti ·" in said


def test_details_are_shown_on_request() -> None:
    timed = row(kernels=(Kernel("norm_kernel", 6e-5, 1),), host_seconds=2.1e-6)
    assert "norm_kernel" not in shown(timed)
    said = shown(timed, verbose=True)
    assert "1 x norm_kernel" in said
    assert "2.10 us" in said


def test_energy_is_shown_where_it_was_measured() -> None:
    said = shown(row(flops=10**11, joules=0.0362, watts=612.4))
    assert "36.2 mJ" in said
    assert "612 W" in said
    assert "2.76" in said
    assert "TFLOP/s/W" in said
    assert "energy" not in shown(row())


def test_warnings_come_before_the_numbers() -> None:
    said = shown(row(), warnings=("other processes use this GPU (7): do not trust the times",))
    assert said.index("do not trust") < said.index("64.")


def test_rates_of_the_host_are_not_shown() -> None:
    assert "GB/s" in shown(row())
    assert "GB/s" not in shown(row(timer="host"), device="emu", before=None, after=None)


def test_rows_of_several_ranks_have_their_bandwidth() -> None:
    together = row(1e-3, ranks=2, collective="all_gather", message=400_000_000, timer="events")
    text = shown(together, gpus="GPUs 0, 1 (NV18)")
    assert "H200 · GPUs 0, 1 (NV18) · 1980 MHz · 2 ranks, the slowest · events" in text
    header, line = text.splitlines()[-2:]
    assert header.split()[-4:] == ["algorithm", "GB/s", "bus", "GB/s"]
    algorithm, bus = map(float, line.split()[-2:])
    assert (algorithm, bus) == (pytest.approx(400, rel=0.01), pytest.approx(200, rel=0.01))
