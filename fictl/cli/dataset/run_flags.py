"""What can be said to `fictl dataset run`; what is left out is the dataset's or the default."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from fictl.cli.numbers import number, seconds, whole
from fictl.quantity import MOST_WHOLE

Root = Annotated[
    Path | None,
    typer.Argument(
        metavar="ROOT", help="The dataset's folder; else FICTL_DATASET_PATH.", show_default=False
    ),
]
Definitions = Annotated[
    list[str] | None,
    typer.Option("--definitions", help="Only these, as in 'gemm_*'.", show_default=False),
]
Solutions = Annotated[
    list[str] | None,
    typer.Option("--solutions", help="Only these, as in 'my_*'.", show_default=False),
]
OpTypes = Annotated[
    list[str] | None,
    typer.Option("--op-type", help="Only definitions of these types.", show_default=False),
]
Device = Annotated[
    str,
    typer.Option(
        "--device",
        metavar="cuda|emu|cpu",
        help="GPUs, the emulated device, or none of them.",
        show_default=False,
    ),
]
Warmup = Annotated[
    int | None,
    whole("--warmup-runs", low=0, high=1_000_000, help="Calls before timing.", show_default=False),
]
Iterations = Annotated[
    int | None,
    whole("--iterations", low=1, high=1_000_000, help="Timed calls a trial.", show_default=False),
]
Trials = Annotated[
    int | None,
    whole(
        "--num-trials", low=1, high=1_000_000, help="Trials; the median counts.", show_default=False
    ),
]
Rtol = Annotated[
    float | None, number("--rtol", low=0, high=1e6, help="Relative tolerance.", show_default=False)
]
Atol = Annotated[
    float | None, number("--atol", low=0, high=1e6, help="Absolute tolerance.", show_default=False)
]
Ratio = Annotated[
    float | None,
    number(
        "--required-matched-ratio",
        low=0,
        high=1,
        help="Share of elements that match.",
        show_default=False,
    ),
]
Timeout = Annotated[
    float | None, seconds("--timeout", help="Seconds a workload.", show_default=False)
]
CompileTimeout = Annotated[
    float | None,
    seconds(
        "--compile-timeout",
        help="Seconds to build a solution, and for its first call.",
        show_default=False,
    ),
]
Seed = Annotated[
    int | None,
    whole("--seed", low=0, high=MOST_WHOLE, help="Of all random inputs.", show_default=False),
]
Baseline = Annotated[
    bool | None,
    typer.Option(
        "--profile-baseline/--no-profile-baseline",
        help="Time the reference, too.",
        show_default=False,
    ),
]
Isolated = Annotated[
    bool, typer.Option("--isolated", help="A process for each workload.", show_default=False)
]
Large = Annotated[
    bool,
    typer.Option("--large", help="Emulate workloads that take minutes, too.", show_default=False),
]
Untrusted = Annotated[
    bool,
    typer.Option("--untrusted", help="Refuse to run where no sandbox works.", show_default=False),
]
Resume = Annotated[
    bool,
    typer.Option(
        "--resume", help="Leave out what has a result of the same sources.", show_default=False
    ),
]
Gpus = Annotated[
    str,
    typer.Option("--gpus", metavar="0,1", help="Only these GPUs.", show_default=False),
]
Jobs = Annotated[
    int, whole("--jobs", low=0, high=1024, help="Solutions compiled at a time.", show_default=False)
]
Config = Annotated[
    Path | None,
    typer.Option(
        "--config", help="In place of the dataset's eval_config.toml or .yaml.", show_default=False
    ),
]
Save = Annotated[
    bool, typer.Option("--save/--no-save", help="Add results to the dataset.", show_default=False)
]
Strict = Annotated[
    bool,
    typer.Option("--strict", help="Exit code 1 unless all passed.", show_default=False),
]


def names(listed: Sequence[str] | None) -> tuple[str, ...]:
    """Each flag may be given often, and may have several names between commas."""
    words = (word.strip() for text in listed or () for word in text.split(","))
    return tuple(filter(None, words))
