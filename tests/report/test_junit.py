"""The XML of a report, as a CI system reads it."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from fictl.report.junit import to_junit
from fictl.report.outcome import TestOutcome
from fictl.report.test_report import TestReport

REPORT = TestReport(
    (
        TestOutcome("tests/test_x.py::test_good", "passed", 0.25),
        TestOutcome(
            "tests/test_x.py::test_bad[1-<&>]", "failed", 1.0, "1 < 2 \x1b[1m", "fictl test x"
        ),
        TestOutcome("tests/test_x.py::test_gpu", "skipped", 0.0, "needs a GPU"),
        TestOutcome("tests/test_x.py::test_large", "out of memory", 0.0, "32 GB"),
    ),
    1.5,
)


def test_the_suite_counts_what_happened() -> None:
    (suite,) = ET.fromstring(to_junit(REPORT))
    wanted = {"tests": "4", "failures": "1", "errors": "1", "skipped": "1", "time": "1.500"}
    assert suite.attrib == {"name": "fictl", **wanted}


def test_every_test_is_a_case_with_its_result() -> None:
    (suite,) = ET.fromstring(to_junit(REPORT))
    results = {case.get("name"): [child.tag for child in case] for case in suite}
    assert results == {
        "test_good": [],
        "test_bad[1-<&>]": ["failure"],
        "test_gpu": ["skipped"],
        "test_large": ["error"],
    }


def test_a_failure_has_its_reason_without_what_xml_forbids_and_its_command() -> None:
    failure = ET.fromstring(to_junit(REPORT)).find(".//failure")
    assert failure is not None
    assert (failure.get("message"), failure.text) == ("1 < 2  [1m", "fictl test x")
