from __future__ import annotations

import shutil

import pytest

from fictl.bench.bench_ops import bench
from fictl.bench.observer import BenchObserver
from fictl.bench.options import BenchOptions
from fictl.bench.row import EMULATED, FAILED, Row
from fictl.errors import SetupError, UsageError
from fictl.project import OpFolder

pytestmark = pytest.mark.usefixtures("hostile")
FEW = BenchOptions(case="-64", rounds=10)


def test_a_report_says_on_what_it_was_measured() -> None:
    report = bench(["right"], FEW)
    assert [row.status for row in report.rows] == [EMULATED]
    assert report.environment.device == "emu"
    assert report.environment.torch
    assert report.environment.warnings == ("emulated: these are times of the host, not of a GPU",)
    assert report.exit_code == 0


def test_a_hang_is_killed_and_the_rest_is_said_to_be_left() -> None:
    report = bench(["hanging", "inplace"], BenchOptions(case="-64", timeout=8.0))
    (row,) = report.rows
    assert (row.function, row.status) == ("hanging", FAILED)
    assert row.note == "it did not end within 8 s, and was killed"
    assert "1 more cases were not run" in report.environment.warnings[-1]
    assert report.exit_code == 1


def test_a_crash_is_a_row_with_its_signal(hostile: OpFolder) -> None:
    report = bench(["dying"], FEW)
    assert report.rows[0].note.startswith("it ended its process with SIGABRT")


def test_no_case_of_that_name_is_a_mistake_in_the_request() -> None:
    with pytest.raises(UsageError, match="no case of right matches nothing_like_it"):
        bench(["right"], BenchOptions(case="nothing_like_it"))


def test_of_several_ops_one_may_have_no_such_case(hostile: OpFolder) -> None:
    other = hostile.path.with_name("other")
    shutil.copytree(hostile.path, other)
    for name in ("op.py", "trace.py", "bench.py"):
        text = (other / name).read_text(encoding="utf-8")
        (other / name).write_text(text.replace("right", "correct"), encoding="utf-8")
    report = bench(["right", "correct"], BenchOptions(case="right-64", rounds=5))
    assert [row.function for row in report.rows] == ["right"]
    assert "no case of correct matches right-64" in report.environment.warnings[-1]


def test_no_baseline_left_of_those_asked_for_is_an_error() -> None:
    with pytest.raises(SetupError, match="no baseline of absent could be timed") as caught:
        bench(["right"], BenchOptions(case="-64", rounds=5, baselines=("absent",)))
    assert "not installed" in caught.value.hint


def test_without_a_gpu_there_is_nothing_to_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FICTL_DEVICE", "cuda")
    with pytest.raises(SetupError, match="there is no GPU here"):
        bench(["right"], FEW)


def test_an_observer_hears_of_cases_and_rows() -> None:
    heard: list[str] = []

    class Listening(BenchObserver):
        def cases(self, op: str, count: int) -> None:
            heard.append(f"{op} {count}")

        def case(self, name: str) -> None:
            heard.append(name)

        def row(self, row: Row) -> None:
            heard.append(row.status)

    bench(["right"], FEW, Listening())
    assert heard == ["hostile/doubling/doubling 1", "right-64-float32", "emulated"]
