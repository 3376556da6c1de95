"""Baselines that a project keeps: a file for each op, in a folder for each GPU and clock."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from fictl.bench.result import BenchReport, Environment, save
from fictl.errors import UsageError
from fictl.project import OpFolder
from fictl.timing.clocks import settled

FOLDER = "benchmarks"


def store(report: BenchReport, folders: tuple[OpFolder, ...]) -> list[Path]:
    """Write `<project>/benchmarks/<gpu>-<MHz>/<op>.json`, replacing existing files."""
    if not report.environment.gpu:
        raise UsageError(
            "times of the emulated device are no baseline", "--out FILE keeps them anywhere else"
        )
    if report.exit_code == 1:
        raise UsageError("a run with failures is not a baseline", "its rows say what is wrong")
    return list(_stored(report, folders))


def _stored(report: BenchReport, folders: tuple[OpFolder, ...]) -> Iterator[Path]:
    for folder in folders:
        rows = tuple(row for row in report.rows if row.op == str(folder))
        if rows:
            path = folder.project.root / FOLDER / machine_folder(report.environment)
            save(replace(report, rows=rows), path / f"{folder.module}.json")
            yield path / f"{folder.module}.json"


def machine_folder(environment: Environment) -> str:
    """Name the folder, as in `h200-1980`; a clock near the GPU's highest counts as the highest."""
    state = environment.after or environment.before or {}
    clock, most = state.get("sm_mhz") or 0, state.get("max_sm_mhz") or 0
    shown = settled(clock, most)
    name = re.sub(r"\W+", "-", environment.gpu.removeprefix("NVIDIA ").lower()).strip("-")
    return f"{name}-{shown}"
