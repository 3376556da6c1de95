"""Replay dumps, in a process for each, so that a fault in one does not affect others."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from fictl.errors import FictlError, SetupError
from fictl.op.watch.dump.record import Refused
from fictl.process import Finished, TimedOut, ending
from fictl.replay.dump import Dump
from fictl.replay.messages import ReplayAnswer
from fictl.replay.outcome import DEFECT, ReplayOutcome
from fictl.replay.recording.document import is_recording
from fictl.replay.recording.replaying import replay_recording
from fictl.replay.replay_process import ReplayProcess
from fictl.report.finding import DefectFinding, findings
from fictl.report.suppression import FILE, read_suppressions
from fictl.sanitize import compute_sanitizer
from fictl.sanitize.report_parser import records
from fictl.sanitize.rows import rows_of


def replay(path: Path, device: str, timeout: float, under: str = "") -> ReplayOutcome:
    """Replay a dump, or a recording of calls. device: cuda, emu, or '' for the recorded one."""
    if is_recording(path):
        return replay_recording(path, device, timeout, under)
    start = time.monotonic()
    op, seen = "", tuple[DefectFinding, ...]()
    try:
        dump = Dump.open(path)
        op = dump.record.op
        dump.folder()
        process = ReplayProcess.of(dump, device, under)
        device = process.device
        answer, seen = _answer(process, timeout)
    except Refused as error:
        answer = ReplayAnswer("refused", error.message, error.hint)
    except FictlError as error:
        cannot = isinstance(error, SetupError) and not isinstance(error, TimedOut)
        code = error.exit_code if cannot else 0
        answer = ReplayAnswer("error", error.message, error.hint, code)
    return ReplayOutcome(
        str(path),
        op,
        answer.status,
        answer.detail,
        answer.hint,
        device,
        time.monotonic() - start,
        under,
        seen,
        answer.profile,
        answer.time,
        answer.code,
    )


def _answer(
    process: ReplayProcess, timeout: float
) -> tuple[ReplayAnswer, tuple[DefectFinding, ...]]:
    """Run the call; return the answer, and the sanitizer's findings."""
    process.require_device()
    with tempfile.TemporaryDirectory(prefix="fictl-replay-") as folder:
        program = process.program.filed(Path(folder))
        finished = program.run(timeout)
        answer = program.answer(ReplayAnswer)
    rows = answer.rows if answer else ()
    if process.is_sanitized and process.device == "cuda":
        rows = tuple(_read(process, finished))
    seen = tuple(_judged(process, rows))
    answer = answer or _died(finished)
    if any(not finding.suppressed for finding in seen):
        went = " ".join(filter(None, (answer.status, answer.detail)))
        answer = replace(answer, status=DEFECT, detail=f"the call itself: {went}", hint="")
    return answer, seen


def _read(process: ReplayProcess, finished: Finished) -> list[dict[str, Any]]:
    """Rows of compute-sanitizer's reports on the op's kernels."""
    seen = records(finished.output)
    refused = None if seen else compute_sanitizer.refusal(finished.output)
    if refused:
        raise refused
    ours = [record for record in seen if record.is_of_an_op]
    return list(rows_of(ours, process.under, process.dump.folder()))


def _judged(process: ReplayProcess, rows: Sequence[dict[str, Any]]) -> Sequence[DefectFinding]:
    accepted = read_suppressions(process.dump.folder().project.root / FILE) if rows else ()
    return findings(rows, accepted)


def _died(finished: Finished) -> ReplayAnswer:
    last = next(reversed(finished.output.strip().splitlines()), "")
    return ReplayAnswer("error", f"it ended its process with {ending(finished.code)}", last)
