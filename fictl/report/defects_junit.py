"""Defects as JUnit XML, which CI systems read: a test case for each test, under each tool."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.etree import ElementTree as ET

from fictl.report.checked import CheckedOp, ToolCheck
from fictl.report.finding import DefectFinding, site
from fictl.report.junit import legal
from fictl.report.outcome import FAILED, OUT_OF_MEMORY, SKIPPED, TestOutcome


def to_junit(checked: Sequence[CheckedOp], base: Path) -> str:
    """Make the document; paths below `base` are relative to it."""
    root = ET.Element("testsuites")
    for op in checked:
        root.append(_suite(op, base))
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _suite(checked: CheckedOp, base: Path) -> ET.Element:
    cases = [case for check in checked.checks for case in _cases(checked, check, base)]
    counts = {
        tag: str(sum(case.find(child) is not None for case in cases))
        for tag, child in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped"))
    }
    suite = ET.Element(
        "testsuite",
        {"name": checked.op, "tests": str(len(cases)), **counts},
        time=f"{checked.tests.seconds:.3f}",
    )
    suite.extend(cases)
    return suite


def _cases(checked: CheckedOp, check: ToolCheck, base: Path) -> Iterator[ET.Element]:
    """Yield the tests, then the tool itself where it has a problem, or defects of no known test."""
    defects = [d for d in checked.defects if d.facts.get("tool", check.tool) == check.tool]
    shown = {id(defect): _tests_of(defect, check) for defect in defects}
    known = {_short(outcome.test) for outcome in check.tests.tests}
    for outcome in check.tests.tests:
        here = [one for one in defects if _short(outcome.test) in shown[id(one)]]
        yield _test(checked, check, outcome, here, base)
    lost = [one for one in defects if not known & shown[id(one)]]
    problem = check.problem or (checked.problem if check.unprinted else None)
    if not (lost or problem):
        return
    case = _case(checked, check, check.tool, check.tests.seconds)
    if lost:
        _add(case, "failure", _headline(lost), "\n\n".join(_text(one, base) for one in lost))
    elif problem:
        _add(case, "error", problem.message, problem.hint)
    yield case


def _test(
    checked: CheckedOp,
    check: ToolCheck,
    outcome: TestOutcome,
    defects: Sequence[DefectFinding],
    base: Path,
) -> ET.Element:
    case = _case(checked, check, _relative(outcome.test, base), outcome.seconds)
    reason = _relative(outcome.reason, base)
    if defects:
        texts = [_text(one, base, outcome.test) for one in defects]
        _add(case, "failure", _headline(defects), "\n\n".join([*texts, *filter(None, [reason])]))
    elif outcome.outcome in (FAILED, OUT_OF_MEMORY):
        _add(case, "failure" if outcome.outcome == FAILED else "error", reason, outcome.command)
    elif outcome.outcome == SKIPPED:
        _add(case, "skipped", reason)
    return case


def _tests_of(defect: DefectFinding, check: ToolCheck) -> set[str]:
    rows = [row for row in check.rows if site(row) == site(defect.facts)]
    return {_short(row["test"]) for row in (defect.facts, *rows)}


def _short(test: str) -> str:
    """Name a test without folders, which depend on where it was run."""
    file, between, name = test.partition("::")
    return f"{file.rpartition('/')[2]}{between}{name}"


def _case(checked: CheckedOp, check: ToolCheck, name: str, seconds: float) -> ET.Element:
    return ET.Element(
        "testcase",
        classname=f"{checked.op}.{check.tool}",
        name=legal(name),
        time=f"{seconds:.3f}",
    )


def _add(case: ET.Element, tag: str, message: str, text: str = "") -> None:
    ET.SubElement(case, tag, message=legal(message)).text = legal(text, "\n") or None


def _headline(defects: Sequence[DefectFinding]) -> str:
    more = f", and {len(defects) - 1} more" if len(defects) > 1 else ""
    return defects[0].text.partition("\n")[0] + more


def _text(finding: DefectFinding, base: Path, test: str = "") -> str:
    """Describe a finding, in full in the first test that shows it."""
    first, again = finding.facts["test"], finding.facts.get("repeat", "")
    if test and _short(test) != _short(first):
        return f"{_headline([finding])}\n  first in {_relative(first, base)}"
    more = f" and {finding.tests - 1} more" if finding.tests > 1 else ""
    lines = [finding.text, f"  first in {first}{more}", *([f"  repeat: {again}"] if again else ())]
    return _relative("\n".join(lines), base)


def _relative(text: str, base: Path) -> str:
    return text.replace(f"{base}{os.sep}", "")
