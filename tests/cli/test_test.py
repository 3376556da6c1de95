"""fictl test: how a report is shown, and with which exit code."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fictl.testing.run import TestReport


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Callable[[TestReport], list[Any]]:
    """Answer with a report instead of running pytest; the list fills with what was asked."""

    def answer(report: TestReport) -> list[Any]:
        calls: list[Any] = []

        def run_tests(folders: Any, say: Callable[[str], object], words: list[str]) -> TestReport:
            calls.append(([str(folder) for folder in folders], words))
            say("pytest's own words")
            return report

        monkeypatch.setattr("fictl.testing.run.run_tests", run_tests)
        return calls

    return answer


def test_what_passed_and_what_did_not_run_here_is_told(fictl, repo: Path, asked) -> None:
    asked(TestReport(5, skipped={"needs a GPU": 12}, seconds=1.23))
    answer = fictl("test", "halve")
    assert answer.code == 0
    assert answer.out.splitlines() == ["✓ 5 passed   1.2 s", "  not run here: 12 (needs a GPU)"]
    assert "pytest's own words" in answer.err


def test_a_failure_is_named_and_is_exit_code_1(fictl, repo: Path, asked) -> None:
    asked(TestReport(5, ("tests/test_halve.py::test_wrong[1-2]",)))
    answer = fictl("test", "halve")
    assert answer.code == 1
    assert "✗ 5 passed · 1 failed" in answer.out
    assert "  failed tests/test_halve.py::test_wrong[1-2]" in answer.out


def test_where_nothing_could_run_it_is_exit_code_3(fictl, repo: Path, asked) -> None:
    asked(TestReport(0, skipped={"needs a GPU": 3}))
    answer = fictl("test", "halve")
    assert answer.code == 3
    assert answer.out.startswith("! 0 passed")


def test_json_is_one_document_without_the_words_of_pytest(fictl, repo: Path, asked) -> None:
    asked(TestReport(5, ("a::b",), {"needs a GPU": 3}, 1.234))
    answer = fictl("test", "halve", "--json")
    assert answer.code == 1
    assert answer.document == {
        "schema": "fictl.test/1",
        "ok": False,
        "data": {"passed": 5, "failed": ["a::b"], "skipped": {"needs a GPU": 3}, "seconds": 1.23},
        "error": None,
    }
    assert answer.err == ""


def test_without_names_it_is_every_op_of_the_project_here(fictl, repo: Path, asked) -> None:
    calls = asked(TestReport(1))
    fictl("test")
    assert calls == [(["my_kernels/elementwise/halve", "my_kernels/gemm/dense"], [])]


def test_a_keyword_is_handed_to_pytest(fictl, repo: Path, asked) -> None:
    calls = asked(TestReport(1))
    fictl("test", "dense", "-k", "builds")
    assert calls == [(["my_kernels/gemm/dense"], ["-k", "builds"])]


def test_an_unknown_op_is_named(fictl, repo: Path) -> None:
    answer = fictl("test", "halv")
    assert answer.code == 2
    assert "there is no op 'halv'" in answer.err


@pytest.mark.needs_nvcc
def test_a_small_op_is_really_tested(fictl, tiny: Path) -> None:
    answer = fictl("test", "twice", "--json", "-k", "not reference")
    assert answer.code == 0
    assert answer.document["data"]["passed"] == 2
