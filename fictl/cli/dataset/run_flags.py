"""Options of `fictl dataset run`; those left out have the dataset's value or the default."""

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
        metavar="ROOT",
        help="Folder of the dataset; default: FICTL_DATASET_PATH.",
        show_default=False,
    ),
]
Definitions = Annotated[
    list[str] | None,
    typer.Option(
        "--definitions",
        metavar="NAMES",
        help="Select definitions by name, as in 'gemm_*'.",
        show_default=False,
    ),
]
Solutions = Annotated[
    list[str] | None,
    typer.Option(
        "--solutions",
        metavar="NAMES",
        help="Select solutions by name, as in 'my_*'.",
        show_default=False,
    ),
]
OpTypes = Annotated[
    list[str] | None,
    typer.Option(
        "--op-type", metavar="TYPE", help="Select definitions by op type.", show_default=False
    ),
]
Device = Annotated[
    str,
    typer.Option(
        "--device",
        metavar="cuda|emu|cpu",
        help="Device: cuda, emu (emulated) or cpu (neither).",
        show_default=False,
    ),
]
Warmup = Annotated[
    int | None,
    whole(
        "--warmup-runs",
        low=0,
        high=1_000_000,
        help="Number of calls before timing.",
        show_default=False,
    ),
]
Iterations = Annotated[
    int | None,
    whole(
        "--iterations",
        low=1,
        high=1_000_000,
        help="Number of timed calls per trial.",
        show_default=False,
    ),
]
Trials = Annotated[
    int | None,
    whole(
        "--num-trials",
        low=1,
        high=1_000_000,
        help="Number of trials; the result is their median.",
        show_default=False,
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
        help="Share of elements that must match.",
        show_default=False,
    ),
]
Timeout = Annotated[
    float | None,
    seconds("--timeout", help="Time limit of one workload, in seconds.", show_default=False),
]
CompileTimeout = Annotated[
    float | None,
    seconds(
        "--compile-timeout",
        help="Time limit of a build and of the first call, in seconds.",
        show_default=False,
    ),
]
Seed = Annotated[
    int | None,
    whole("--seed", low=0, high=MOST_WHOLE, help="Seed of the random inputs.", show_default=False),
]
Baseline = Annotated[
    bool | None,
    typer.Option(
        "--profile-baseline/--no-profile-baseline",
        help="Also time the reference.",
        show_default=False,
    ),
]
Isolated = Annotated[
    bool,
    typer.Option(
        "--isolated", help="Run each workload in a process of its own.", show_default=False
    ),
]
Large = Annotated[
    bool,
    typer.Option("--large", help="Also emulate workloads that take minutes.", show_default=False),
]
Untrusted = Annotated[
    bool,
    typer.Option(
        "--untrusted", help="Refuse to run if no sandbox is available.", show_default=False
    ),
]
Resume = Annotated[
    bool,
    typer.Option(
        "--resume",
        help="Skip what has a result of the same sources on the same hardware.",
        show_default=False,
    ),
]
Gpus = Annotated[
    str,
    typer.Option("--gpus", metavar="0,1", help="GPUs to use.", show_default=False),
]
Hardware = Annotated[
    str,
    typer.Option(
        "--hardware",
        metavar="H100,B200",
        help="Evaluate on each of these kinds of places; default: that of the first place.",
        show_default=False,
    ),
]
Jobs = Annotated[
    int,
    whole(
        "--jobs",
        low=0,
        high=1024,
        help="Number of solutions compiled in parallel.",
        show_default=False,
    ),
]
Config = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        help="Configuration to use instead of the dataset's eval_config.toml or .yaml.",
        show_default=False,
    ),
]
Save = Annotated[
    bool,
    typer.Option("--save/--no-save", help="Add the results to the dataset.", show_default=False),
]
Strict = Annotated[
    bool,
    typer.Option("--strict", help="Exit with code 1 unless all passed.", show_default=False),
]


def names(listed: Sequence[str] | None) -> tuple[str, ...]:
    """Each flag may be given often, and may have several names between commas."""
    words = (word.strip() for text in listed or () for word in text.split(","))
    return tuple(filter(None, words))
