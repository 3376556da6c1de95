"""The options of fictl sanitize."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fictl.cli.numbers import seconds, whole
from fictl.cli.outputs import writes_file

Tools = Annotated[
    list[str] | None,
    typer.Option(
        "--tool",
        metavar="TOOL",
        help="memcheck, racecheck, initcheck, synccheck: only these, on a GPU; else all.",
        show_default=False,
    ),
]
Case = Annotated[
    str,
    typer.Option("--case", help="Only this generated test, by its name.", show_default=False),
]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out", help="Also write one JSON line a report.", callback=writes_file, show_default=False
    ),
]
Sarif = Annotated[
    Path | None,
    typer.Option(
        "--sarif",
        help="Also write SARIF 2.1.0 to this file.",
        callback=writes_file,
        show_default=False,
    ),
]
JUnit = Annotated[
    Path | None,
    typer.Option(
        "--junit",
        help="Also write JUnit XML to this file.",
        callback=writes_file,
        show_default=False,
    ),
]
Suppressions = Annotated[
    Path | None,
    typer.Option(
        "--suppressions",
        help="Accepted reports; else sanitize.toml of the project.",
        exists=True,
        dir_okay=False,
        show_default=False,
    ),
]
Timeout = Annotated[float, seconds("--timeout", help="Seconds that one test may take.")]
PrintLimit = Annotated[
    int,
    whole(
        "--print-limit",
        low=1,
        high=1_000_000,
        help="Reports that a tool prints of an op, on a GPU.",
    ),
]
