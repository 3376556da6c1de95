"""The tests of an op under a stand-in of compute-sanitizer that reports what it was told to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fictl.errors import SetupError, UsageError
from fictl.project import OpFolder, find
from fictl.report.checked import CheckedOp
from fictl.sanitize.gpu import SanitizeRequest, check_ops
from fictl.testing.runner import group

# It runs the program, and reports between the first test that it hears of and the next.
SANITIZER = """
while [ "${1#--}" != "$1" ]; do shift; done
echo "========= COMPUTE-SANITIZER"
"$@" 2>&1 | while IFS= read -r line; do
  printf '%s\\n' "$line"
  case "$line" in *"fictl: test "*one*) printf '%s\\n' "$REPORT" ;; esac
done
printf '%s\\n' "$SUMMARY"
exit 66
"""
REPORT = """========= Invalid __global__ write of size 4 bytes
=========     at tiny::elementwise::TwiceKernel(int *, int)+0x60 in /of/another/machine/twice.cuh:9
=========     by thread (3,0,0) in block (1,0,0)
=========     Access to 0x7f0000000fa0 is out of bounds
=========     and is 1 bytes after the nearest allocation at 0x7f0000000000 of size 4,000 bytes
========= """
FOREIGN = (
    "========= Uninitialized __global__ memory read of size 4 bytes\n=========     at torch()+0x1"
)
NO_CUDA = "========= Error: Target application terminated before first instrumented API call"
TESTS = """
import os
def test_one(): assert os.environ["FICTL_BARE_TENSORS"] == os.environ["FICTL_JIT_LINEINFO"] == "1"
def test_two(): assert os.environ["FICTL_DEVICE"] == "cuda"
"""


@pytest.fixture
def folder(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> OpFolder:
    """Only with tests of its own."""
    (folder,) = find("twice")
    monkeypatch.setattr(group, "CONTRACT", folder.test)
    folder.test.write_text(TESTS)
    return folder


@pytest.fixture
def check(folder, program, monkeypatch) -> Callable[..., CheckedOp]:
    """Under one tool, which reports and sums up so."""
    program("compute-sanitizer", SANITIZER)

    def run(report: str = "", summary: str = "", *words: str, timeout: float = 60.0) -> CheckedOp:
        monkeypatch.setenv("REPORT", report)
        monkeypatch.setenv("SUMMARY", summary)
        request = SanitizeRequest(("memcheck",), words, None, timeout)
        (checked,) = check_ops([folder], lambda line: None, request)
        return checked

    return run


def test_a_report_is_a_finding_of_the_test_that_ran(check, folder) -> None:
    checked = check(REPORT, "========= ERROR SUMMARY: 1 error")
    (finding,) = checked.findings
    facts = {"kind": "out-of-bounds", "file": str(folder.header), "line": 9, "tool": "memcheck"}
    assert facts.items() <= finding.facts.items()
    assert finding.facts["test"].endswith("test_twice.py::test_one")
    assert (checked.tests.passed, checked.exit_code) == (2, 1)


def test_nothing_reported_is_exit_code_0(check) -> None:
    checked = check()
    assert (checked.findings, checked.tests.passed, checked.exit_code) == ((), 2, 0)


def test_reports_on_other_kernels_are_counted_and_no_findings(check) -> None:
    checked = check(FOREIGN, "========= ERROR SUMMARY: 1 error")
    assert (checked.findings, checked.checks[0].elsewhere, checked.exit_code) == ((), 1, 0)


def test_reports_that_cannot_be_read_are_no_clean_bill(check) -> None:
    checked = check("", "========= ERROR SUMMARY: 3 errors")
    assert checked.exit_code == 1
    assert "memcheck counted 3 reports" in checked.problem.message


def test_a_test_that_ends_its_process_or_does_not_end_is_told_with_the_tool(check, folder) -> None:
    folder.test.write_text(
        "import os, time\ndef test_dies(): os.abort()\ndef test_hangs(): time.sleep(60)\n"
        "def test_goes_on(): pass\n"
    )
    checked = check(timeout=1.5)
    reasons = {each.test.rpartition("::")[2]: each.reason for each in checked.tests.failed}
    assert reasons == {
        "test_dies": "under memcheck: ended its process",
        "test_hangs": "under memcheck: did not end within 1.5 s",
    }
    assert checked.tests.passed == 1


def test_a_sanitizer_that_cannot_look_is_told_with_its_fix(folder, program) -> None:
    program("compute-sanitizer", 'echo "========= Error: Device not supported."; exit 1')
    (checked,) = check_ops([folder], lambda line: None, SanitizeRequest(("memcheck",)))
    assert isinstance(checked.problem, SetupError)
    assert "does not fit this driver" in checked.problem.message
    assert checked.exit_code == 3


def test_no_test_chosen_is_told_as_that_and_not_as_the_tool_s_complaint(check) -> None:
    checked = check("", NO_CUDA, "-k", "of_no_such_name")
    assert isinstance(checked.problem, UsageError)
    assert checked.exit_code == 1
    assert checked.problem.message == "no test was chosen"


def test_every_test_counts_as_badly_as_it_went_under_the_tools(folder, program) -> None:
    program(
        "compute-sanitizer",
        'export TOOL="$1"; while [ "${1#--}" != "$1" ]; do shift; done; exec "$@"',
    )
    folder.test.write_text(
        "import os\ndef test_one(): assert 'race' not in os.environ['TOOL']\ndef test_two(): pass\n"
    )
    request = SanitizeRequest(("memcheck", "racecheck"))
    (checked,) = check_ops([folder], lambda line: None, request)
    assert [each.reason for each in checked.tests.failed] == [
        "under racecheck: AssertionError: assert 'race' not in '--tool=racecheck'"
    ]
    assert (checked.tests.passed, len(checked.checks)) == (1, 2)
