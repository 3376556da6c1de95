from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from fictl.bench.result import BenchReport, joined, load, save
from fictl.bench.row import FAILED, SKIPPED, WRONG, Row
from fictl.errors import UsageError

Make = Callable[..., BenchReport]


def test_a_saved_report_is_loaded_as_it_was(make_report: Make, tmp_path: Path) -> None:
    report = make_report(warnings=("hot",))
    save(report, tmp_path / "a" / "r.json")
    loaded = load(tmp_path / "a" / "r.json")
    assert loaded.rows == report.rows
    assert (loaded.environment.gpu, loaded.environment.sm_mhz) == ("NVIDIA H200", 1965)
    assert loaded.environment.warnings == ("hot",)


def test_what_json_prints_is_loaded_too(make_report: Make, tmp_path: Path) -> None:
    report = make_report()
    data = {name: value for name, value in report.to_dict().items() if name != "schema"}
    path = tmp_path / "printed.json"
    path.write_text(
        json.dumps({"schema": "fictl.bench/1", "ok": True, "data": data, "error": None})
    )
    assert load(path).rows == report.rows


def test_what_a_newer_fictl_adds_is_passed_over(make_report: Make, tmp_path: Path) -> None:
    said = make_report().to_dict()
    said["environment"]["news"] = said["rows"][0]["news"] = 1
    (tmp_path / "r.json").write_text(json.dumps(said))
    assert load(tmp_path / "r.json").rows[0].side == "fictl"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "cannot be read as a result"),
        ("[]", "has the schema None"),
        ('{"schema": "fictl.bench/9"}', "has the schema 'fictl.bench/9'"),
        ('{"schema": "fictl.bench/1"}', "is not a whole result"),
        ('{"schema": "fictl.bench/1", "ok": false, "data": null}', "is not a whole result"),
    ],
)
def test_what_is_no_result_is_said(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "r.json"
    path.write_text(text)
    with pytest.raises(UsageError, match=message) as caught:
        load(path)
    assert "--out" in caught.value.hint


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        load(tmp_path / "none.json")


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ([{}], 0),
        ([{}, {"status": WRONG, "samples": ()}], 1),
        ([{}, {"status": FAILED, "samples": ()}], 1),
        ([{}, {"status": WRONG, "samples": (), "is_baseline": True}], 0),
        ([{"status": SKIPPED, "samples": ()}], 3),
    ],
)
def test_the_exit_code_is_the_ops_own(
    make_report: Make, make_row: Callable[..., Row], changes: list[dict[str, object]], code: int
) -> None:
    assert make_report(*(make_row(**each) for each in changes)).exit_code == code


def test_reports_are_joined_in_order(make_report: Make, make_row: Callable[..., Row]) -> None:
    a = make_report(make_row(case="a"), warnings=("one",))
    b = make_report(make_row(case="b"), warnings=("one", "two"))
    whole = joined([a, b])
    assert [row.case for row in whole.rows] == ["a", "b"]
    assert whole.environment.warnings == ("one", "two")
