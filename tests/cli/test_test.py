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

        def run_tests(
            folders: Any, say: Callable[[str], object], words: list[str], variables: dict[str, str]
        ) -> TestReport:
            calls.append(([str(folder) for folder in folders], words, variables))
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
        "data": {
            "passed": 5,
            "failed": ["a::b"],
            "skipped": {"needs a GPU": 3},
            "seconds": 1.23,
            "device": "cuda",
            "schedules": [],
        },
        "error": None,
    }
    assert answer.err == ""


def test_without_names_it_is_every_op_of_the_project_here(fictl, repo: Path, asked) -> None:
    calls = asked(TestReport(1))
    fictl("test")
    assert [call[:2] for call in calls] == [
        (["my_kernels/elementwise/halve", "my_kernels/gemm/dense"], [])
    ]


def test_a_keyword_is_handed_to_pytest(fictl, repo: Path, asked) -> None:
    calls = asked(TestReport(1))
    fictl("test", "dense", "-k", "builds")
    assert [call[:2] for call in calls] == [(["my_kernels/gemm/dense"], ["-k", "builds"])]


def test_emulated_tests_say_so_and_under_how_many_schedules(fictl, repo: Path, asked) -> None:
    asked(TestReport(6, device="emu", schedules=("forward", "reverse", "random-7")))
    out = fictl("test", "halve").out
    assert out == "✓ 6 passed · 3 schedules   0.0 s   emulated: no GPU was used\n"


def test_json_says_which_device_and_which_schedules(fictl, repo: Path, asked) -> None:
    asked(TestReport(6, device="emu", schedules=("random-7",)))
    data = fictl("test", "halve", "--json").document["data"]
    assert (data["device"], data["schedules"]) == ("emu", ["random-7"])


@pytest.mark.parametrize(
    ("words", "environment", "chosen"),
    [
        ((), {}, {"FICTL_DEVICE": "emu"}),
        (("--device", "cuda"), {}, {"FICTL_DEVICE": "cuda"}),
        (("--device", "EMU"), {"FICTL_DEVICE": "cuda"}, {"FICTL_DEVICE": "emu"}),
        ((), {"FICTL_DEVICE": "cuda"}, {"FICTL_DEVICE": "cuda"}),
        # It says what to build for, not what there is to test on.
        ((), {"FICTL_CUDA_ARCH_LIST": "9.0a"}, {"FICTL_DEVICE": "emu"}),
        (
            ("--schedule", "random-7"), {},
            {"FICTL_DEVICE": "emu", "FICTL_EMU_SCHEDULE": "random-7"},
        ),
    ],
)  # fmt: skip
def test_where_there_is_no_gpu_tests_are_emulated_unless_the_user_says_otherwise(
    fictl, repo: Path, asked, monkeypatch, words, environment, chosen
) -> None:
    monkeypatch.setattr("fictl.emu.toolchain.current_toolchain", object)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    calls = asked(TestReport(1))
    fictl("test", "halve", *words)
    assert calls[0][2] == chosen


@pytest.mark.parametrize(
    ("option", "value"),
    [("--schedule", "sideways"), ("--device", "gpu"), ("--schedule", "random-")],
)
def test_a_device_or_a_schedule_that_means_nothing_is_a_usage_error(
    fictl, repo: Path, asked, option: str, value: str
) -> None:
    calls = asked(TestReport(1))
    answer = fictl("test", "halve", option, value)
    assert answer.code == 2
    assert f"{option}={value!r} cannot be read" in answer.err
    assert calls == []


def test_an_unknown_op_is_named(fictl, repo: Path) -> None:
    answer = fictl("test", "halv")
    assert answer.code == 2
    assert "there is no op 'halv'" in answer.err


@pytest.mark.needs_nvcc
def test_a_small_op_is_really_tested(fictl, tiny: Path) -> None:
    answer = fictl("test", "twice", "--json", "-k", "not reference")
    assert answer.code == 0
    assert answer.document["data"]["passed"] == 2
