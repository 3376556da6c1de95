"""Test outcomes as JUnit XML, which CI systems read."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from fictl.report.outcome import FAILED, OUT_OF_MEMORY, SKIPPED, TestOutcome
from fictl.report.test_report import TestReport

_TAGS = {FAILED: "failure", OUT_OF_MEMORY: "error", SKIPPED: "skipped"}


def to_junit(report: TestReport) -> str:
    counts = {
        "tests": str(len(report.tests)),
        "failures": str(len(report.failed)),
        "errors": str(len(report.out_of_memory)),
        "skipped": str(sum(report.skipped.values())),
        "time": f"{report.seconds:.3f}",
    }
    root = ET.Element("testsuites")
    suite = ET.SubElement(root, "testsuite", {"name": "fictl", **counts})
    for outcome in report.tests:
        suite.append(_case(outcome))
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _case(outcome: TestOutcome) -> ET.Element:
    file, _, name = outcome.test.rpartition("::")
    case = ET.Element("testcase", classname=file, name=name, time=f"{outcome.seconds:.3f}")
    if outcome.outcome in _TAGS:
        result = ET.SubElement(case, _TAGS[outcome.outcome], message=legal(outcome.reason))
        result.text = outcome.command or None
    return case


def legal(text: str, keep: str = "") -> str:
    """Replace control characters, which XML does not allow; `keep` are those to leave."""
    return "".join(letter if letter in keep else max(letter, " ") for letter in text)
