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
        help="Tool to run on a GPU: memcheck, racecheck, initcheck or synccheck; default: all.",
        show_default=False,
    ),
]
Strict = Annotated[
    bool,
    typer.Option(
        "--strict",
        help="On the emulated device: also report what the manuals ask for and GPUs do without.",
    ),
]
Case = Annotated[
    str,
    typer.Option(
        "--case", metavar="CASE", help="Run only this generated test.", show_default=False
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="FILE",
        help="Also write one JSON line per report.",
        callback=writes_file,
        show_default=False,
    ),
]
Sarif = Annotated[
    Path | None,
    typer.Option(
        "--sarif",
        metavar="FILE",
        help="Also write a SARIF 2.1.0 file.",
        callback=writes_file,
        show_default=False,
    ),
]
JUnit = Annotated[
    Path | None,
    typer.Option(
        "--junit",
        metavar="FILE",
        help="Also write a JUnit XML file.",
        callback=writes_file,
        show_default=False,
    ),
]
Suppressions = Annotated[
    Path | None,
    typer.Option(
        "--suppressions",
        metavar="FILE",
        help="File of accepted reports; default: the project's sanitize.toml.",
        exists=True,
        dir_okay=False,
        show_default=False,
    ),
]
Timeout = Annotated[float, seconds("--timeout", help="Time limit of one test, in seconds.")]
PrintLimit = Annotated[
    int,
    whole(
        "--print-limit",
        low=1,
        high=1_000_000,
        help="Maximum number of reports a tool prints per op, on a GPU.",
    ),
]
