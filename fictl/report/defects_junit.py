"""Findings as the XML that CI systems read: a test case for each op and tool."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree as ET

from fictl.report.checked import Check, Checked
from fictl.report.finding import Finding
from fictl.report.junit import legal


def to_junit(checked: Sequence[Checked]) -> str:
    root = ET.Element("testsuites")
    for each in checked:
        root.append(_suite(each))
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _suite(checked: Checked) -> ET.Element:
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


def _case(checked: Checked, check: Check) -> ET.Element:
    seconds = f"{check.tests.seconds:.3f}"
    case = ET.Element("testcase", classname=checked.op, name=check.tool, time=seconds)
    found = [each for each in checked.defects if each.facts.get("tool", check.tool) == check.tool]
    problem = check.problem or (checked.problem if check.unprinted else None)
    failed = [f"{each.test}  {each.reason}" for each in check.tests.failed]
    if found or failed:
        failure = ET.SubElement(case, "failure", message=legal(_headline(found, len(failed))))
        failure.text = legal("\n\n".join([*(_text(each) for each in found), *failed]), "\n")
    elif problem:
        ET.SubElement(case, "error", message=legal(problem.message)).text = legal(problem.hint)
    elif not check.tests.passed:
        ET.SubElement(case, "skipped", message=legal("; ".join(check.tests.skipped)))
    return case


def _headline(found: Sequence[Finding], failed: int) -> str:
    if found:
        more = f", and {len(found) - 1} more" if len(found) > 1 else ""
        return found[0].text.partition("\n")[0] + more
    return f"{failed} test{'s' * (failed != 1)} failed"


def _text(finding: Finding) -> str:
    more = f" and {finding.tests - 1} more" if finding.tests > 1 else ""
    return f"{finding.text}\n  first in {finding.facts['test']}{more}"
