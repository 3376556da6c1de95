"""From the tests of an op to findings: one a defect, judged, and whatever happens to the process."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fictl.errors import FictlError, UsageError
from fictl.project import OpFolder, find
from fictl.report.checked import CheckedOp
from fictl.report.outcome import TestOutcome
from fictl.report.test_report import TestReport
from fictl.sanitize import emulated
from fictl.sanitize.emulated import check_ops

RACE = {
    "op": "twice",
    "test": "test_one",
    "kind": "race",
    "file": "sum.cuh",
    "line": 9,
    "callers": [],
    "other": {"file": "sum.cuh", "line": 8, "callers": []},
    "text": "race: read after write",
}

PASSED = TestOutcome("test_it", "passed")


@pytest.fixture
def folders(tiny: Path) -> tuple[OpFolder, ...]:
    return find("twice")


@pytest.fixture
def check(folders, tiny: Path) -> Callable[..., CheckedOp]:
    """The only op of the project."""

    def run(*words: str, timeout: float = 60, suppressions: Path | None = None) -> CheckedOp:
        (checked,) = check_ops(folders, lambda line: None, words, suppressions, timeout)
        return checked

    return run


@pytest.fixture
def reported(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[Any]]:
    """Answer with a report and these lines instead of running tests; what run_tests was given."""

    def answer(*rows: dict[str, Any], tests: TestReport | FictlError | None = None) -> list[Any]:
        calls: list[Any] = []

        def run_tests(folders, say, arguments, variables, timeout) -> TestReport:
            calls.append((arguments[1:], variables, timeout))
            if rows:
                path = Path(arguments[0].partition("=")[2])
                path.write_text("".join(json.dumps(row) + "\n" for row in rows))
            if isinstance(tests, FictlError):
                raise tests
            return tests or TestReport((PASSED,), device="emu")

        monkeypatch.setattr(emulated, "run_tests", run_tests)
        return calls

    return answer


@pytest.fixture
def accept(tiny: Path) -> Callable[[str], Path]:
    """Write the suppressions of the project."""

    def write(text: str) -> Path:
        path = tiny / "sanitize.toml"
        path.write_text(text)
        return path

    return write


def test_tests_run_in_check_mode_whatever_the_environment_says(reported, check, monkeypatch):
    monkeypatch.setenv("FICTL_DEVICE", "cuda")
    calls = reported()
    check("-k", "reference", timeout=7)
    variables = {"FICTL_DEVICE": "emu", "FICTL_EMU_CHECK": "1"}
    assert calls == [(["-k", "reference"], variables, 7)]


def test_without_a_report_there_is_no_finding(reported, check) -> None:
    reported()
    checked = check()
    assert (checked.op, checked.findings, checked.exit_code) == ("tiny/elementwise/twice", (), 0)


def test_a_report_is_a_finding_with_its_facts_and_words(reported, check) -> None:
    reported(RACE)
    checked = check()
    (finding,) = checked.findings
    assert finding.text == "race: read after write"
    assert finding.facts == {
        **RACE,
        "folder": "tiny/elementwise/twice",
        "inside": [],
        "other": {**RACE["other"], "inside": []},
        "device": "emulated",
        "repeat": "fictl sanitize tiny/elementwise/twice --device emu -k test_one",
    }
    assert (checked.defects, checked.exit_code) == ((finding,), 1)


def test_one_place_is_one_finding_in_however_many_tests(reported, check) -> None:
    reported(RACE, {**RACE, "test": "test_two", "thread": [1, 0, 0]}, {**RACE, "line": 10})
    first, second = check().findings
    assert (first.tests, first.facts["test"]) == (2, "test_one")
    assert (second.tests, second.facts["line"]) == (1, 10)


def test_two_places_that_conflict_with_one_are_two_findings(reported, check) -> None:
    reported(RACE, {**RACE, "other": {"file": "sum.cuh", "line": 7}})
    assert len(check().findings) == 2


def test_what_is_accepted_is_no_defect_and_keeps_its_reason(reported, check, accept) -> None:
    reported(RACE)
    accept('[[suppress]]\nop = "twice"\nkind = "race"\nwhy = "same value"\n')
    checked = check()
    assert [finding.suppressed for finding in checked.findings] == ["same value"]
    assert (checked.defects, checked.unused, checked.exit_code) == ((), (), 0)


def test_another_file_of_suppressions_may_be_named(reported, check, tmp_path: Path) -> None:
    reported(RACE)
    (tmp_path / "mine.toml").write_text('[[suppress]]\nop = "*"\nwhy = "it is so"\n')
    assert check(suppressions=tmp_path / "mine.toml").defects == ()


def test_a_suppression_that_nothing_matches_is_told(reported, check, accept) -> None:
    reported(RACE)
    accept(
        '[[suppress]]\nop = "twice"\nkind = "hang"\nwhy = "slow"\n'
        '[[suppress]]\nop = "of_another"\nwhy = "not asked about"\n'
    )
    assert [each.kind for each in check().unused] == ["hang"]


def test_a_file_of_suppressions_that_cannot_be_read_ends_it_before_any_test(
    reported, check, accept
) -> None:
    calls = reported()
    accept("[[suppress]\n")
    with pytest.raises(UsageError, match=r"sanitize\.toml cannot be read"):
        check()
    assert calls == []


@pytest.mark.parametrize(
    ("tests", "code"),
    [
        (TestReport((PASSED,)), 0),
        (TestReport((PASSED, TestOutcome("test_it", "failed"))), 1),
        (
            TestReport(
                (TestOutcome("test_it", "skipped", 0.0, "too large for the emulated device"),)
            ),
            3,
        ),
        (FictlError("pytest ended with exit code 4 before it ran a test"), 1),
    ],
)
def test_how_the_tests_went_is_in_the_exit_code(reported, check, tests, code: int) -> None:
    reported(tests=tests)
    assert check().exit_code == code


def test_what_was_found_before_the_process_died_is_kept(reported, check) -> None:
    reported(RACE, tests=FictlError("test_it ended the tests with SIGKILL"))
    checked = check()
    assert len(checked.findings) == 1
    assert checked.to_dict()["problem"] == "test_it ended the tests with SIGKILL"


def test_a_test_that_kills_its_process_is_named(folders, check) -> None:
    folders[0].test.write_text("import os\ndef test_fatal(): os.kill(os.getpid(), 9)\n")
    checked = check("-k", "test_fatal")
    (failed,) = checked.tests.failed
    assert failed.test.endswith("::test_fatal")
    assert "SIGKILL" in failed.reason
    assert checked.exit_code == 1


def test_a_test_that_hangs_is_ended_after_the_time_it_was_given(folders, check) -> None:
    folders[0].test.write_text("def test_endless():\n    while True: pass\n")
    checked = check("-k", "test_endless", timeout=2)
    assert [failed.reason for failed in checked.tests.failed] == ["did not end within 2 s"]
    assert checked.exit_code == 1


def test_an_op_whose_process_dies_leaves_the_next_one_alone(folders, tiny: Path) -> None:
    folders[0].test.write_text("import os\ndef test_own(): os.kill(os.getpid(), 9)\n")
    copy = tiny / "kernels" / "elementwise" / "thrice"
    copy.mkdir()
    for path in folders[0].path.glob("*.*"):
        (copy / path.name).write_text(path.read_text().replace("twice", "thrice"))
    (folders[0].test.with_name("test_thrice.py")).write_text("def test_own(): pass\n")
    both = [*folders, *find("thrice")]
    died, passed = check_ops(both, lambda line: None, ["-k", "test_own"], None, 60)
    assert len(died.tests.failed) == 1
    assert (passed.op, passed.tests.passed) == ("tiny/elementwise/thrice", 1)
