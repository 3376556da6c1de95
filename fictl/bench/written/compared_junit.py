"""A comparison as JUnit XML: a test case for each case; only what is known can pass."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree import ElementTree as ET

from fictl.bench.compare.gate import MISSING, NEW
from fictl.bench.compare.outcome import Compared, CompareOutcome
from fictl.bench.written.compared_cells import cells
from fictl.report.junit import legal
from fictl.timing.verdict import Verdict


def compared_junit(outcome: CompareOutcome) -> str:
    cases = [*(_compared(outcome, case) for case in outcome.cases), *_absent(outcome)]
    counts = {
        tag: str(sum(case.find(child) is not None for case in cases))
        for tag, child in (("failures", "failure"), ("skipped", "skipped"))
    }
    name = legal(f"fictl compare {outcome.a} → {outcome.b}")
    suite = ET.Element("testsuite", {"name": name, "tests": str(len(cases)), **counts})
    suite.extend(cases)
    root = ET.Element("testsuites")
    root.append(suite)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _compared(outcome: CompareOutcome, case: Compared) -> ET.Element:
    comparison = case.comparison
    element = _case(case.op, case.case, seconds=case.b)
    _, a, b, ratio, interval = cells(case)
    text = f"{comparison.verdict.value}: {a} → {b}, {ratio} ({interval}) {comparison.advice}"
    if comparison.verdict.value.lower() in outcome.fail_on:
        _add(element, "failure", text.rstrip())
    elif comparison.verdict in (Verdict.UNCLEAR, Verdict.SLOWER):
        _add(element, "skipped", text.rstrip())
    else:
        ET.SubElement(element, "system-out").text = legal(text.rstrip())
    return element


def _absent(outcome: CompareOutcome) -> Iterator[ET.Element]:
    for names, label, word in (
        (outcome.only_a, outcome.a, MISSING),
        (outcome.only_b, outcome.b, NEW),
    ):
        for name in names:
            element = _case("", name)
            tag = "failure" if word in outcome.fail_on else "skipped"
            _add(element, tag, f"{word}: only {label} has it")
            yield element
    for one in outcome.untimed:
        element = _case("", one.case)
        tag = "failure" if one.fails or MISSING in outcome.fail_on else "skipped"
        _add(element, tag, f"{one.who}: {one.why}")
        yield element


def _case(op: str, name: str, seconds: float = 0.0) -> ET.Element:
    return ET.Element(
        "testcase", classname=legal(op or "compare"), name=legal(name), time=f"{seconds:.9f}"
    )


def _add(element: ET.Element, tag: str, text: str) -> None:
    ET.SubElement(element, tag, message=legal(text))
