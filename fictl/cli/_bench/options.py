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
    _text(
        "--baseline",
        metavar="A,B",
        help="Baselines to time beside it: names in bench.py, as torch, or all.",
    ),
]
Backend = Annotated[
    str, _text("--backend", metavar="A,B", help="Backends of the op to compare: names, or all.")
]
Dtype = Annotated[str, _text("--dtype", metavar="DTYPE", help="Select cases of this dtype.")]
Case = Annotated[
    str, _text("--case", metavar="A,B", help="Select cases whose name contains one of these.")
]
Axes = Annotated[
    list[str] | None,
    _text(
        "--axis",
        metavar="N=SIZES",
        help="Sizes of an axis to sweep: n=1,2,4 n=8:64:8 n=1:65536:*2.",
    ),
]
Timer = Annotated[
    str,
    _text(
        "--timer",
        metavar="NAME",
        help="Timer: cupti, graph or events; auto picks the most precise available.",
    ),
]
Warm = Annotated[
    bool,
    typer.Option(
        "--warm",
        help="Keep L2 warm; by default it is flushed before each call.",
        show_default=False,
    ),
]
Rounds = Annotated[
    int,
    whole(
        "--rounds",
        low=0,
        high=1_000_000,
        help="Number of rounds; 0 continues until --stdrel is reached.",
    ),
]
Stdrel = Annotated[
    float,
    number(
        "--stdrel",
        low=0,
        high=1,
        help="Stop when the median's relative standard error is below this.",
    ),
]
MaxTime = Annotated[
    float, number("--max-time", low=0, high=DAY, help="Time limit of one case, in seconds.")
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
    typer.Option(
        "--refcheck/--no-refcheck",
        help="Compare results with the reference before and after timing.",
    ),
]
Seed = Annotated[int, whole("--seed", low=0, high=MOST_WHOLE, help="Seed of the random inputs.")]
Timeout = Annotated[
    float,
    seconds("--timeout", help="Time limit of all cases of an op, in seconds, without its build."),
]
Tensors = Annotated[
    list[str] | None,
    _text(
        "--tensor",
        metavar="X=SHAPE:DTYPE",
        help="Tensor argument of a .cu file: x=4096x4096:bfloat16.",
    ),
]
Scalars = Annotated[
    list[str] | None,
    _text("--scalar", metavar="X=VALUE", help="Scalar argument of a .cu file: factor=2.0."),
]
Gpus = Annotated[
    int | None,
    whole(
        "--gpus",
        low=1,
        high=1024,
        help="Bench communication ops, in N ranks: the time is that of the slowest.",
        show_default=False,
    ),
]
Save = Annotated[
    bool,
    typer.Option(
        "--save",
        help="Store it as the project's baseline: benchmarks/<gpu>-<MHz>/<op>.json.",
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
        help="Write one JSON line per row.",
        callback=writes_file_and_folders,
        show_default=False,
    ),
]
Plot = Annotated[
    Path | None,
    typer.Option(
        "--plot",
        metavar="FILE",
        help="Plot bars, sweeps and a roofline to an svg, html or png file.",
        callback=writes_file_and_folders,
        show_default=False,
    ),
]
List = Annotated[
    Path | None, _text("--list", metavar="FILE", help="Run the bench command lines in a file.")
]
