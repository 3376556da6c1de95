"""Defects as JUnit XML, which CI systems read: one test case for each op and tool."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree as ET

from fictl.report.checked import CheckedOp, ToolCheck
from fictl.report.finding import DefectFinding
from fictl.report.junit import legal


def to_junit(checked: Sequence[CheckedOp]) -> str:
    root = ET.Element("testsuites")
    for op in checked:
        root.append(_suite(op))
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _suite(checked: CheckedOp) -> ET.Element:
    cases = [_case(checked, check) for check in checked.checks]
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


def _case(checked: CheckedOp, check: ToolCheck) -> ET.Element:
    seconds = f"{check.tests.seconds:.3f}"
    case = ET.Element("testcase", classname=checked.op, name=check.tool, time=seconds)
    defects = [d for d in checked.defects if d.facts.get("tool", check.tool) == check.tool]
    problem = check.problem or (checked.problem if check.unprinted else None)
    failed = [f"{outcome.test}  {outcome.reason}" for outcome in check.tests.failed]
    if defects or failed:
        failure = ET.SubElement(case, "failure", message=legal(_headline(defects, len(failed))))
        failure.text = legal("\n\n".join([*map(_text, defects), *failed]), "\n")
    elif problem:
        ET.SubElement(case, "error", message=legal(problem.message)).text = legal(problem.hint)
    elif not check.tests.passed:
        ET.SubElement(case, "skipped", message=legal("; ".join(check.tests.skipped)))
    return case


def _headline(defects: Sequence[DefectFinding], failed: int) -> str:
    if defects:
        more = f", and {len(defects) - 1} more" if len(defects) > 1 else ""
        return defects[0].text.partition("\n")[0] + more
    return f"{failed} test{'s' * (failed != 1)} failed"


def _text(finding: DefectFinding) -> str:
    more = f" and {finding.tests - 1} more" if finding.tests > 1 else ""
    return f"{finding.text}\n  first in {finding.facts['test']}{more}"
