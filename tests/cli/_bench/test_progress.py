from __future__ import annotations

import pytest

from fictl.bench.row import SKIPPED, Row
from fictl.cli import late_bar
from fictl.cli._bench.progress import BenchProgress


def row(**changes: object) -> Row:
    facts: dict[str, object] = {
        "op": "p/f/m",
        "function": "f",
        "side": "fictl",
        "case": "f-8",
        "sizes": {},
        "dtype": "float32",
    }
    return Row(**{**facts, **changes})  # type: ignore[arg-type]


def told(progress: BenchProgress) -> None:
    with progress:
        progress.cases("p/f/m", 2)
        progress.case("f-8")
        progress.round(3)
        progress.row(row())
        progress.row(row(side="torch", is_baseline=True))
        progress.case("f-9")
        progress.row(row(case="f-9", status=SKIPPED))


def test_a_short_run_says_nothing_on_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    told(BenchProgress())
    assert capsys.readouterr().err == ""


def test_a_long_run_is_a_line_a_case(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(late_bar, "LATE_SECONDS", -1.0)
    told(BenchProgress())
    assert capsys.readouterr().err.splitlines() == ["p/f/m  f-8  timed  1/2"]


def test_where_the_result_is_json_nothing_else_is_said(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(late_bar, "LATE_SECONDS", -1.0)
    told(BenchProgress(quiet=True))
    assert capsys.readouterr().err == ""
