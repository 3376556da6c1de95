from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fictl.bench.result import BenchReport, load
from fictl.bench.row import WRONG, Row
from fictl.bench.stored import store
from fictl.errors import UsageError
from fictl.project import OpFolder

Make = Callable[..., BenchReport]


def test_a_baseline_lies_in_the_project_by_gpu_and_clock(
    hostile: OpFolder, make_report: Make, make_row: Callable[..., Row]
) -> None:
    other = make_row(op="hostile/doubling/other")
    (path,) = store(make_report(make_row(), other), (hostile,))
    assert path == hostile.project.root / "benchmarks" / "h200-1980" / "doubling.json"
    assert [row.op for row in load(path).rows] == [str(hostile)]


def test_a_clock_that_is_held_down_is_another_one(hostile: OpFolder, make_report: Make) -> None:
    state = dict(make_report().environment.after or {}, sm_mhz=1500)
    (path,) = store(make_report(after=state), (hostile,))
    assert path.parent.name == "h200-1500"


def test_a_run_with_failures_is_no_baseline(
    hostile: OpFolder, make_report: Make, make_row: Callable[..., Row], tmp_path: Path
) -> None:
    report = make_report(make_row(), make_row(status=WRONG, samples=()))
    with pytest.raises(UsageError, match="a run with failures is not a baseline"):
        store(report, (hostile,))


def test_emulated_times_are_no_baseline(hostile: OpFolder, make_report: Make) -> None:
    with pytest.raises(UsageError, match="times of the emulated device are no baseline"):
        store(make_report(device="emu", before=None, after=None), (hostile,))
