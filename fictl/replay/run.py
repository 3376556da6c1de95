"""Replaying dumps: a process for each, so that a fault of one leaves the others alone."""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fictl.errors import FictlError, SetupError
from fictl.op.watch.dump.record import Refused
from fictl.process import Finished, TimedOut, ending, run
from fictl.replay.child import Child
from fictl.replay.dump import Dump
from fictl.replay.outcome import DEFECT, Outcome
from fictl.report.finding import DefectFinding, findings
from fictl.report.suppression import FILE, read_suppressions
from fictl.sanitize import compute_sanitizer
from fictl.sanitize.report_parser import records
from fictl.sanitize.rows import rows_of


def replay(path: Path, device: str, timeout: float, under: str = "") -> Outcome:
    """`device` is cuda, emu, or '' for the one that the call was recorded on."""
    start = time.monotonic()
    op = ""
    try:
        dump = Dump.open(path)
        op = dump.record.op
        dump.folder()
        child = Child.of(dump, device, under)
        device = child.device
        said = _said(child, timeout)
    except Refused as error:
        said = {"status": "refused", "detail": error.message, "hint": error.hint}
    except FictlError as error:
        cannot = isinstance(error, SetupError) and not isinstance(error, TimedOut)
        code = error.exit_code if cannot else 0
        said = {"status": "error", "detail": error.message, "hint": error.hint, "code": code}
    took = time.monotonic() - start
    return Outcome(str(path), op, **said, device=device, under=under, seconds=took)


def _said(child: Child, timeout: float) -> dict[str, Any]:
    child.require_device()
    with tempfile.TemporaryDirectory(prefix="fictl-replay-") as place:
        report = Path(place) / "outcome.json"
        done = run(child.argv(report), child.environment(), timeout)
        said = json.loads(report.read_text(encoding="utf-8")) if os.path.isfile(report) else None
    rows = said.pop("rows", []) if said else []
    if child.is_sanitized and child.device == "cuda":
        rows = _read(child, done)
    found = _judged(child, rows)
    said = said or _died(done)
    if any(not finding.suppressed for finding in found):
        went = " ".join(filter(None, (said["status"], said.get("detail", ""))))
        said = {"status": DEFECT, "detail": f"the call itself: {went}", "hint": ""}
    return {**said, "found": tuple(found)}


def _read(child: Child, done: Finished) -> list[dict[str, Any]]:
    """What compute-sanitizer has reported of the op's kernels."""
    found = records(done.output)
    refused = None if found else compute_sanitizer.refusal(done.output)
    if refused:
        raise refused
    ours = [record for record in found if record.is_of_an_op]
    return list(rows_of(ours, child.under, child.dump.folder()))


def _judged(child: Child, rows: Sequence[dict[str, Any]]) -> Sequence[DefectFinding]:
    accepted = read_suppressions(child.dump.folder().project.root / FILE) if rows else ()
    return findings(rows, accepted)


def _died(done: Finished) -> dict[str, Any]:
    how = ending(done.code)
    last = next(reversed(done.output.strip().splitlines()), "")
    return {"status": "error", "detail": f"it ended its process with {how}", "hint": last}
