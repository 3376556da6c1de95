"""The options of `fictl bench`, and of the lines of a test list."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fictl.cli.numbers import DAY, number, seconds, whole
from fictl.cli.outputs import writes_file_and_folders
from fictl.quantity import MOST_WHOLE


def _text(*names: str, metavar: str, help: str) -> typer.models.OptionInfo:
    option: typer.models.OptionInfo = typer.Option(
        *names, metavar=metavar, help=help, show_default=False
    )
    return option


Baseline = Annotated[
    str,
    _text("--baseline", metavar="A,B", help="Others timed beside it, of bench.py: torch, …; all."),
]
Backend = Annotated[
    str, _text("--backend", metavar="A,B", help="The op's own backends side by side; all.")
]
Dtype = Annotated[str, _text("--dtype", metavar="DTYPE", help="Only cases of this dtype.")]
Case = Annotated[
    str, _text("--case", metavar="A,B", help="Only cases with one of these in their name.")
]
Axes = Annotated[
    list[str] | None,
    _text("--axis", metavar="N=SIZES", help="Sizes of an axis: n=1,2,4 n=8:64:8 n=1:65536:*2."),
]
Timer = Annotated[
    str, _text("--timer", metavar="NAME", help="cupti, graph or events; auto is the best there is.")
]
Warm = Annotated[
    bool, typer.Option("--warm", help="Leave the data in L2, as a loop would.", show_default=False)
]
Rounds = Annotated[
    int, whole("--rounds", low=0, high=1_000_000, help="So many rounds; 0 goes on until --stdrel.")
]
Stdrel = Annotated[
    float, number("--stdrel", low=0, high=1, help="Stop when medians are known to this share.")
]
MaxTime = Annotated[
    float, number("--max-time", low=0, high=DAY, help="Seconds that one case is timed at most.")
]
Power = Annotated[
    bool,
    typer.Option(
        "--power",
        help="Count the energy of a call: joules, watts, TFLOP/s per watt.",
        show_default=False,
    ),
]
Refcheck = Annotated[
    bool,
    typer.Option("--refcheck/--no-refcheck", help="Check against the reference, before and after."),
]
Seed = Annotated[int, whole("--seed", low=0, high=MOST_WHOLE, help="Of the random inputs.")]
Timeout = Annotated[
    float,
    seconds("--timeout", help="Seconds for all cases of an op, not counting its build."),
]
Tensors = Annotated[
    list[str] | None,
    _text("--tensor", metavar="X=SHAPE:DTYPE", help="Of a .cu file: x=4096x4096:bfloat16."),
]
Scalars = Annotated[
    list[str] | None, _text("--scalar", metavar="X=VALUE", help="Of a .cu file: factor=2.0.")
]
Save = Annotated[
    bool,
    typer.Option(
        "--save",
        help="Keep it as the project's baseline: benchmarks/<gpu>-<MHz>/<op>.json.",
        show_default=False,
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="FILE",
        help="Write the result as JSON.",
        callback=writes_file_and_folders,
        show_default=False,
    ),
]
Csv = Annotated[
    Path | None,
    typer.Option(
        "--csv",
        metavar="FILE",
        help="Write the rows as CSV.",
        callback=writes_file_and_folders,
        show_default=False,
    ),
]
Jsonl = Annotated[
    Path | None,
    typer.Option(
        "--jsonl",
        metavar="FILE",
        help="Write a JSON line a row.",
        callback=writes_file_and_folders,
        show_default=False,
    ),
]
Plot = Annotated[
    Path | None,
    typer.Option(
        "--plot",
        metavar="FILE",
        help="Draw bars, sweeps, a roofline: svg, html, png.",
        callback=writes_file_and_folders,
        show_default=False,
    ),
]
List = Annotated[
    Path | None, _text("--list", metavar="FILE", help="Run the bench command lines of a file.")
]
