"""Defects as SARIF 2.1.0, which code hosts show beside the lines of source."""

from __future__ import annotations

import hashlib
import linecache
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from fictl.paths import real
from fictl.report.checked import CheckedOp
from fictl.report.finding import DefectFinding
from fictl.report.kinds import sentence
from fictl.version import describe

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_BASE = "SRCROOT"


def to_sarif(checked: Sequence[CheckedOp], base: Path) -> dict[str, Any]:
    """Make the document; paths are relative to `base`, which in CI is the root of the checkout."""
    results = [finding for op in checked for finding in op.findings]
    driver = {
        "name": "fictl sanitize",
        "version": describe(),
        "rules": [_rule(kind) for kind in sorted({finding.facts["kind"] for finding in results})],
    }
    run = {
        "tool": {"driver": driver},
        "originalUriBaseIds": {_BASE: {"uri": f"{real(base).as_uri()}/"}},
        "invocations": [_invocation(checked)],
        "results": [_result(finding, real(base)) for finding in results],
        "columnKind": "utf16CodeUnits",
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(kind: str) -> dict[str, Any]:
    return {
        "id": kind,
        "shortDescription": {"text": sentence(kind)},
        "defaultConfiguration": {"level": "error"},
    }


def _invocation(checked: Sequence[CheckedOp]) -> dict[str, Any]:
    """Report problems and failed tests, so that a run that could not check does not look clean."""
    texts = [text for op in checked for text in _troubles(op)]
    notes = [{"level": "error", "message": {"text": text}} for text in texts]
    return {"executionSuccessful": not notes, "toolExecutionNotifications": notes}


def _troubles(checked: CheckedOp) -> Iterator[str]:
    if checked.problem:
        yield f"{checked.op}: {checked.problem.message}"
    for failed in checked.tests.failed:
        yield f"{checked.op}: {failed.test}: {failed.reason}"


def _result(finding: DefectFinding, base: Path) -> dict[str, Any]:
    facts = finding.facts
    result: dict[str, Any] = {
        "ruleId": facts["kind"],
        "level": "error",
        "message": {"text": _message(finding)},
        "locations": [_location(facts, base)],
        "partialFingerprints": {"fictl/v1": _fingerprint(facts, base)},
        "properties": {
            "op": facts["folder"],
            "function": facts["op"],
            "test": facts["test"],
            "device": facts.get("device", ""),
            "repeat": facts.get("repeat", ""),
        },
    }
    related = [*_related(facts, base)]
    if related:
        result["relatedLocations"] = [{"id": at, **one} for at, one in enumerate(related)]
    if finding.suppressed:
        accepted = {"kind": "external", "status": "accepted", "justification": finding.suppressed}
        result["suppressions"] = [accepted]
    return result


def _related(facts: Mapping[str, Any], base: Path) -> Iterator[dict[str, Any]]:
    """Yield the other side, then the frames of both: those within a line, and its callers."""
    other = facts.get("other") or {}
    if other:
        yield {**_location(other, base), "message": {"text": other["what"]}}
    for side in filter(None, (facts, other)):
        for name, text in (("inside", "within it"), ("callers", "called here")):
            for frame in side.get(name, ()):
                file, _, line = frame.rpartition(":")
                place = {"file": file, "line": int(line) if line.isdecimal() else 0}
                yield {**_location(place, base), "message": {"text": text}}


def _message(finding: DefectFinding) -> str:
    facts = finding.facts
    cause = f" Cause: {facts['cause']}." if facts.get("cause") else ""
    more = f" and {finding.tests - 1} more" if finding.tests > 1 else ""
    seen = f" Seen in {facts['test']}{more}." if facts["test"] else ""
    again = f" Repeat: {facts['repeat']}" if facts.get("repeat") else ""
    return f"{facts['op']}: {facts.get('what') or facts['kind']}.{cause}{seen}{again}"


def _location(place: Mapping[str, Any], base: Path) -> dict[str, Any]:
    """Make a location; without a line where none is known, as SARIF counts lines from 1."""
    location: dict[str, Any] = {}
    if place.get("file"):
        physical: dict[str, Any] = {"artifactLocation": _artifact(place["file"], base)}
        if place.get("line"):
            physical["region"] = {"startLine": place["line"]}
        location["physicalLocation"] = physical
    if place.get("kernel"):
        kernel = {"fullyQualifiedName": place["kernel"], "kind": "function"}
        location["logicalLocations"] = [kernel]
    return location


def _artifact(file: str, base: Path) -> dict[str, str]:
    path = Path(file)
    if path.is_absolute() and path.is_relative_to(base):
        return {"uri": quote(path.relative_to(base).as_posix()), "uriBaseId": _BASE}
    return {"uri": path.as_uri() if path.is_absolute() else quote(path.as_posix())}


def _fingerprint(facts: Mapping[str, Any], base: Path) -> str:
    """Hash of the text of the lines, not of their numbers, which edits above them change."""
    sides = [(_artifact(side["file"], base)["uri"], _line(side)) for side in _sides(facts)]
    text = repr((facts["kind"], facts["folder"], sides))
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _sides(facts: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield facts
    if facts.get("other"):
        yield facts["other"]


def _line(side: Mapping[str, Any]) -> str:
    linecache.checkcache(side["file"])  # It may have been edited since this process read it.
    return linecache.getline(side["file"], side["line"]).strip()
