from __future__ import annotations

from fictl.bench.options import BenchOptions
from fictl.bench.planned import planned
from fictl.project import OpFolder


def test_cases_sides_and_bytes_are_known_before_anything_runs(hostile: OpFolder) -> None:
    small, large = planned(hostile, ["right"], BenchOptions(baselines=("torch",)))
    assert (small.case, small.sides, small.bytes) == ("right-64-float32", ("fictl", "torch"), 512)
    assert large.spelled_bytes == "8.0 MiB"


def test_bytes_that_the_data_decides_are_not_guessed(hostile: OpFolder) -> None:
    text = hostile.trace.read_text(encoding="utf-8")
    hostile.trace.write_text(text.replace("flops=", "bytes="), encoding="utf-8")
    small, _ = planned(hostile, ["right"], BenchOptions())
    assert (small.bytes, small.spelled_bytes) == (None, "by its data")
