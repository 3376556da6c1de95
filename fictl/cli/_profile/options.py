"""The options of `fictl profile`; those of one tool alone say which."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from fictl.cli.numbers import whole
from fictl.cli.outputs import writes_file_and_folders, writes_folder


def _option(*names: str, metavar: str | None = None, help: str, **more: Any) -> Any:
    return typer.Option(*names, metavar=metavar, help=help, show_default=False, **more)


Tool = Annotated[
    str,
    _option(
        "--tool",
        metavar="NAME",
        help="cupti (the default): launches and their times; ncu: counters, and what they mean; "
        "nsys: a timeline of the program; events: inside a kernel.",
    ),
]
Calls = Annotated[
    int | None,
    whole(
        "--calls",
        low=1,
        high=1_000_000,
        show_default=False,
        help="How many calls are looked at; 20, under ncu and events 1.",
    ),
]
Trace = Annotated[
    Path | None,
    _option(
        "--trace",
        metavar="FILE",
        help="The timeline of one case, for ui.perfetto.dev.",
        callback=writes_file_and_folders,
    ),
]
Out = Annotated[
    Path,
    _option(
        "--out", metavar="DIR", help="What is kept lies there: profiles/.", callback=writes_folder
    ),
]
Set = Annotated[
    str,
    _option("--set", metavar="NAME", help="ncu: basic, detailed, full (the default), roofline."),
]
Sections = Annotated[
    list[str] | None, _option("--section", metavar="NAME", help="ncu: sections, in place of a set.")
]
KernelName = Annotated[
    str, _option("--kernel", metavar="REGEX", help="ncu: only kernels with such a name.")
]
NcuArguments = Annotated[
    list[str] | None, _option("--ncu-arg", metavar="ARG", help="ncu: handed to it as it is.")
]
Blocks = Annotated[
    str,
    _option(
        "--blocks", metavar="CHOICE", help="events: 7, 0:64, ::9 or all; else as the grid allows."
    ),
]
Events = Annotated[
    int,
    whole(
        "--events",
        low=0,
        high=1 << 20,
        show_default=False,
        help="events: room for so many a warp; else as it needs.",
    ),
]
