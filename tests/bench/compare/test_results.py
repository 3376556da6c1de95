"""Results compared as files, and with the baselines of a project."""

from __future__ import annotations

from pathlib import Path

import pytest

from fictl.bench.compare.results import (
    compare_baseline,
    compare_files,
    compare_reports,
    compare_with_stored,
    stored,
)
from fictl.bench.observer import BenchObserver
from fictl.bench.options import BenchOptions
from fictl.bench.result import save
from fictl.bench.stored import FOLDER
from fictl.errors import SetupError, UsageError
from fictl.project import Project
from fictl.timing.verdict import Verdict

LABELS = ("old", "new")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    (tmp_path / "fictl.toml").write_text('name = "my_kernels"\n', encoding="utf-8")
    found = Project.of(tmp_path)
    assert found is not None
    return found


def test_two_files_are_compared(row, report, tmp_path) -> None:
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    save(report(row(20.0)), old)
    save(report(row(22.0)), new)
    found = compare_files(old, new, 0.01)
    assert (found.a, found.b) == (str(old), str(new))
    assert [case.comparison.verdict for case in found.cases] == [Verdict.SLOWER]
    assert found.where == "NVIDIA H200 · 1980 MHz"


def test_a_file_that_is_no_result_is_refused(row, report, tmp_path) -> None:
    (tmp_path / "old.json").write_text("{}", encoding="utf-8")
    with pytest.raises(UsageError, match=r"old\.json"):
        compare_files(tmp_path / "old.json", tmp_path / "old.json", 0.01)


def test_what_was_not_measured_alike_is_refused(row, report) -> None:
    with pytest.raises(UsageError, match="not measured alike"):
        compare_reports(report(row()), report(row(), gpu="NVIDIA H100"), LABELS, 0.01)


def test_force_compares_it_and_says_so(row, report) -> None:
    other = report(row(), gpu="NVIDIA H100")
    found = compare_reports(report(row()), other, LABELS, 0.01, force=True)
    assert "by force: GPU NVIDIA H200 and NVIDIA H100" in found.notes
    assert len(found.cases) == 1


def test_baselines_of_others_are_not_judged(row, report) -> None:
    theirs = row(side="torch", is_baseline=True)
    slower = row(40.0, side="torch", is_baseline=True)
    found = compare_reports(report(row(), theirs), report(row(), slower), LABELS, 0.01)
    assert found.counts == {"SAME": 1}


def test_a_throttled_run_is_said(row, report) -> None:
    hot = report(row(), warnings=("the GPU slowed itself down: power cap",))
    found = compare_reports(report(row()), hot, LABELS, 0.01)
    assert found.notes == ("new: the GPU slowed itself down: power cap",)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"torch": "2.14"}, "torch was 2.13, and is 2.14"),
        ({"driver": "590.2"}, "the driver was 580.1, and is 590.2"),
    ],
)
def test_another_version_is_said(row, report, changes: dict[str, str], said: str) -> None:
    found = compare_reports(report(row()), report(row(), **changes), LABELS, 0.01)
    assert found.notes == (said,)


def test_a_fresh_run_is_compared_with_what_is_kept(row, report, project) -> None:
    save(report(row(20.0)), project.root / FOLDER / "h200-1980" / "halve.json")
    found = compare_with_stored(report(row(21.0)), stored([project]), 0.01)
    assert (found.a, found.b) == ("baseline", "now")
    assert found.counts == {"SLOWER": 1}


def test_a_baseline_of_another_clock_is_not_taken(row, report, project) -> None:
    save(report(row(20.0)), project.root / FOLDER / "h200-1980" / "halve.json")
    save(report(row(30.0), sm_mhz=1410), project.root / FOLDER / "h200-1410" / "halve.json")
    found = compare_with_stored(report(row(30.0), sm_mhz=1410), stored([project]), 0.01)
    assert found.counts == {"SAME": 1}


def test_no_baseline_at_all_says_how_to_make_one(project) -> None:
    with pytest.raises(SetupError, match="there is no baseline in") as error:
        stored([project])
    assert error.value.exit_code == 3
    assert error.value.hint == "fictl bench OP --save makes one, for this GPU"


def test_no_baseline_of_this_gpu_names_those_there_are(row, report, project) -> None:
    save(report(row(), gpu="NVIDIA H100"), project.root / FOLDER / "h100-1980" / "halve.json")
    with pytest.raises(SetupError, match="for NVIDIA H200") as error:
        compare_with_stored(report(row()), stored([project]), 0.01)
    assert "h100-1980/halve.json" in error.value.message


def test_ops_that_were_not_run_are_not_missed(row, report, project) -> None:
    other = report(row(op="my_kernels/gemm/dense"))
    save(other, project.root / FOLDER / "h200-1980" / "dense.json")
    save(report(row()), project.root / FOLDER / "h200-1980" / "halve.json")
    assert compare_with_stored(report(row()), stored([project]), 0.01).only_a == ()


def test_force_takes_the_baseline_of_another_clock(row, report, project) -> None:
    save(report(row()), project.root / FOLDER / "h200-1980" / "halve.json")
    found = compare_with_stored(report(row(), sm_mhz=1410), stored([project]), 0.01, force=True)
    assert found.notes == ("by force: clocks of 1980 and 1410 MHz",)


def test_force_takes_no_baseline_of_another_gpu(row, report, project) -> None:
    save(report(row(), gpu="NVIDIA H100"), project.root / FOLDER / "h100-1980" / "halve.json")
    with pytest.raises(SetupError, match="there is no baseline of"):
        compare_with_stored(report(row()), stored([project]), 0.01, force=True)


@pytest.mark.parametrize(
    ("options", "missing"),
    [(BenchOptions(), ("halve-16-float16",)), (BenchOptions(case="halve-8"), ())],
)
def test_cases_that_are_gone_are_listed_unless_some_were_asked_for(
    row, report, tiny, monkeypatch, options: BenchOptions, missing: tuple[str, ...]
) -> None:
    kept = report(row(), row(case="halve-16-float16"))
    save(kept, tiny / FOLDER / "h200-1980" / "halve.json")
    monkeypatch.setattr("fictl.bench.compare.results.bench", lambda *_asked: report(row()))
    assert compare_baseline([], 0.01, options, BenchObserver()).only_a == missing
