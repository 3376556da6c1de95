"""Conversion of nsys's raw stream to its report, if nsys itself did not convert it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from fictl.errors import SetupError
from fictl.paths import matching
from fictl.process import TimedOut, run

_IMPORTER = "QdstrmImporter"
# Conversion takes seconds for megabytes; slower ones have been seen never to end.
_SECONDS = 120.0
_PROPER = (
    "install Nsight Systems itself (apt install nsight-systems): the nsys inside Nsight Compute "
    "records, but brings no working importer"
)


def convert(nsys: Path, stream: Path, report: Path) -> None:
    """Convert, and keep `stream`: a complete Nsight Systems can still open it."""
    importer = next(_importers(nsys), None)
    kept = f"{stream} is kept ({stream.stat().st_size / 1e6:.0f} MB)"
    if importer is None:
        raise SetupError(
            f"{nsys} recorded, but made no report, and there is no {_IMPORTER}: {kept}", _PROPER
        )
    argv: list[str | Path] = [importer, "--input-file", stream, "--output-file", report]
    try:
        done = run(argv, timeout=_SECONDS)
    except TimedOut as late:
        raise SetupError(f"{importer} did not end within {_SECONDS:g} s: {kept}", _PROPER) from late
    if done.code or not os.path.isfile(report):
        last = next(reversed(done.output.strip().splitlines()), "nothing")
        last = last.removeprefix(f"{importer}: ")
        raise SetupError(f"{importer} made no report, it says {last}; {kept}", _fix(last))


def _fix(text: str) -> str:
    """Explain the failure: some machines lack a library that only the importer needs."""
    missing = re.search(r"shared libraries: (lib[\w+-]+)\.so(?:\.(\d+))?", text)
    if not missing:
        return _PROPER
    package = missing[1] + (missing[2] or "")
    return f"install what it lacks, on Debian and Ubuntu: apt install {package}; or {_PROPER}"


def _importers(nsys: Path) -> Iterator[Path]:
    """Look in the folders beside the real folder of nsys: `nsys` on PATH is often a link."""
    for folder in (nsys.resolve().parent.parent, nsys.parent.parent):
        yield from (path for path in matching(folder, f"*/{_IMPORTER}") if os.path.isfile(path))
