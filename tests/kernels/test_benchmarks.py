"""What a benchmark must not believe, by every timer of a GPU."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from fictl.bench.bench_ops import bench
from fictl.bench.options import BenchOptions
from fictl.bench.result import BenchReport
from fictl.bench.row import FAILED, TIMED, WRONG

pytestmark = pytest.mark.needs_gpu
HOSTILE = Path(__file__).parents[1] / "hostile_project"


@pytest.fixture(params=["graph", "events", "auto"])
def timer(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(autouse=True)
def _in_the_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(shutil.copytree(HOSTILE, tmp_path / "hostile"))


def measured(timer: str, *functions: str, **options: object) -> BenchReport:
    asked = BenchOptions(**{"timer": timer, "rounds": 12, "max_seconds": 1.0, **options})  # type: ignore[arg-type]
    return bench(functions, asked)


def test_what_is_right_is_timed_cold_and_checked(timer: str) -> None:
    report = measured(timer, "right", "inplace", baselines=("torch", "prepared"))
    assert {row.status for row in report.rows} == {TIMED}
    assert all(row.cold and row.checked and row.median for row in report.rows)
    assert report.environment.gpu
    assert report.environment.ceilings


def test_what_only_seems_to_work_has_no_time(timer: str) -> None:
    report = measured(timer, "remembering", "late", "returning", "silent", case="-64")
    assert [row.status in (WRONG, FAILED) for row in report.rows] == [True] * 4
    assert not any(row.samples for row in report.rows)
