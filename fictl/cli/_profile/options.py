"""The options of `fictl profile`; those of one tool alone say which."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from fictl.cli.help_page import NCU
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
        help="Number of profiled calls; default: 20, or 1 with ncu and events.",
    ),
]
Trace = Annotated[
    Path | None,
    _option(
        "--trace",
        metavar="FILE",
        help="Write the timeline of one case, for ui.perfetto.dev.",
        callback=writes_file_and_folders,
    ),
]
Out = Annotated[
    Path,
    _option(
        "--out",
        metavar="DIR",
        help="Folder for reports; default: profiles/.",
        callback=writes_folder,
    ),
]
Gpus = Annotated[
    int | None,
    whole(
        "--gpus",
        low=1,
        high=1024,
        show_default=False,
        help="Profile communication ops, in N ranks: all of them on one timeline.",
    ),
]
Set = Annotated[
    str,
    _option(
        "--set",
        metavar="NAME",
        help="ncu: section set: basic, detailed, full (default) or roofline.",
    ),
]
Sections = Annotated[
    list[str] | None,
    _option("--section", metavar="NAME", help="ncu: collect these sections instead of a set."),
]
KernelName = Annotated[
    str,
    _option(
        "--kernel",
        metavar="REGEX",
        help="ncu: only kernels whose name matches.",
        rich_help_panel=NCU,
    ),
]
NcuArguments = Annotated[
    list[str] | None, _option("--ncu-arg", metavar="ARG", help="ncu: argument passed on unchanged.")
]
Blocks = Annotated[
    str,
    _option(
        "--blocks",
        metavar="CHOICE",
        help="events: blocks to record: 7, 0:64, ::9 or all; default: as many as fit.",
    ),
]
Events = Annotated[
    int,
    whole(
        "--events",
        low=0,
        high=1 << 20,
        show_default=False,
        help="events: buffer size per warp, in events; default: as needed.",
    ),
]
