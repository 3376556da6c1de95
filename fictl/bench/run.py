"""Benching ops: a process for each, so that a hang or a fault of one leaves the others alone."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fictl import settings
from fictl.bench.conversation import Conversation
from fictl.bench.environment import environment
from fictl.bench.observer import Observer
from fictl.bench.options import DEFAULTS, BenchOptions
from fictl.bench.result import Report
from fictl.bench.row import TIMED, Row
from fictl.case.selection import functions
from fictl.errors import SetupError, UsageError
from fictl.paths import same_packages
from fictl.process import TimedOut, TimeLimit, stream
from fictl.project import OpFolder, Project, select
from fictl.toolchain import require_gpu

# Until the first case: imports and a build, which are not what --timeout bounds.
_START_SECONDS = 600.0


def bench(
    ops: Sequence[str], options: BenchOptions = DEFAULTS, observer: Observer | None = None
) -> Report:
    """Of the ops named, or all of the project here. Sides of one case are timed interleaved.

    What goes wrong with one side is said in its row; an error is raised for a wrong request.
    """
    folders = select(ops, [] if ops else [Project.at()])
    return _run([_of_folder(folder, ops) for folder in folders], options, observer)


def bench_file(
    path: Path,
    values: Mapping[str, str],
    options: BenchOptions = DEFAULTS,
    observer: Observer | None = None,
) -> Report:
    """Of one .cu file; `values` are its tensors ('4096x4096:bfloat16') and scalars ('2.0').

    Those left out are in its comment `// bench: …`.
    """
    said = {"file": str(path.absolute()), "values": dict(values)}
    return _run([Request(path.name, said)], options, observer)


@dataclass(frozen=True)
class Request:
    """An op to measure: `said` to the process of its own that measures it, which is `program`."""

    op: str
    said: Mapping[str, Any]
    program: str = "fictl.bench.worker.one"


def _of_folder(folder: OpFolder, ops: Sequence[str]) -> Request:
    said = {"op": str(folder.op), "functions": sorted(functions(folder, ops))}
    return Request(str(folder), said)


def measured(requests: Sequence[Request], options: BenchOptions, observer: Observer) -> Report:
    return _report(_talks(requests, options, observer))


def _run(requests: Sequence[Request], options: BenchOptions, observer: Observer | None) -> Report:
    talks = _talks(requests, options, observer or Observer())
    report = _report(talks)
    if not report.rows:
        noted = "; ".join(warning for talk in talks for warning in talk.warnings)
        raise UsageError(noted or "there is no case", "fictl bench --dry-run shows those there are")
    _require_baseline(report.rows, options)
    return report


def _report(talks: Sequence[Conversation]) -> Report:
    rows = tuple(row for talk in talks for row in talk.rows)
    return Report(environment(settings.DEVICE.get(), talks), rows)


def _talks(
    requests: Sequence[Request], options: BenchOptions, observer: Observer
) -> list[Conversation]:
    device = settings.DEVICE.get()
    if device == "cuda":
        require_gpu(
            "there is no GPU here",
            "--device emu runs on the emulated device, whose times say nothing of a GPU's",
        )
    elif options.power:
        raise UsageError("--power: the emulated device uses no power of a GPU", "leave it out")
    return [_talk(request, device, options, observer) for request in requests]


def _talk(request: Request, device: str, options: BenchOptions, observer: Observer) -> Conversation:
    limit = TimeLimit(_START_SECONDS)
    talk = Conversation(request.op, observer, lambda: limit.restart(options.timeout))
    said = {**request.said, "device": device, "options": options.to_dict()}
    argv = [sys.executable, "-m", request.program, json.dumps(said)]
    try:
        done = stream(argv, talk.hear, env=_variables(device), timeout=limit)
    except TimedOut:
        talk.ended(f"it did not end within {limit.seconds:g} s, and was killed")
    else:
        talk.closed(done.code)
    return talk


def _variables(device: str) -> dict[str, str]:
    """Nothing that watches calls may slow them down."""
    return {
        settings.DEVICE.name: device,
        settings.LOGLEVEL.name: "0",
        settings.VALIDATE_INPUTS.name: "0",
        settings.TRACE_DUMP.name: "0",
        **same_packages(),
    }


def _require_baseline(rows: Sequence[Row], options: BenchOptions) -> None:
    """Where none of those asked for could be timed, there is nothing to compare with."""
    others = [row for row in rows if row.is_baseline]
    ours = any(row.status == TIMED and not row.is_baseline for row in rows)
    if options.baselines and ours and not any(row.status == TIMED for row in others):
        why = dict.fromkeys(f"{row.side}: {row.note}" for row in others)
        raise SetupError(
            f"no baseline of {', '.join(options.baselines)} could be timed",
            "; ".join(why) or "bench.py of the op declares none of them",
        )
