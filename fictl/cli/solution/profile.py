"""fictl solution profile: what bounds a solution's kernels, in words."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fictl.cli import console
from fictl.cli.gpu_use import Wait, alone
from fictl.cli.options import Json
from fictl.cli.outputs import writes_folder
from fictl.cli.solution import options

EXAMPLES = {
    "fictl solution profile solution.json": "all counters of every kernel",
    "fictl solution profile solution.json --set basic --kernel Norm": "few counters of some kernels",
}


def command(
    file: options.File,
    definition: options.Definition = "",
    workload: options.Workload = "",
    axes: options.Axes = "",
    dataset: options.Dataset = "",
    kernel: Annotated[
        str,
        typer.Option(
            "--kernel",
            metavar="REGEX",
            help="Profile only kernels whose name matches this regular expression.",
            show_default=False,
        ),
    ] = "",
    set: Annotated[
        str,
        typer.Option("--set", metavar="NAME", help="ncu's section set: basic, detailed or full."),
    ] = "full",
    out: Annotated[
        Path,
        typer.Option(
            "--out", metavar="DIR", help="Folder for ncu's report.", callback=writes_folder
        ),
    ] = Path("profiles"),
    timeout: options.Timeout = 600.0,
    seed: options.Seed = 0,
    wait: Wait = None,
    json: Json = False,
) -> None:
    """Measure one call of a solution with Nsight Compute, which needs a GPU."""
    subject = options.subject_of(file, definition, dataset, workload, axes)
    from fictl.judge.tools.profiling import answered, profiled
    from fictl.profile.ncu.collection import Collection

    with alone(wait, "cuda"):
        report = profiled(subject, Collection(set=set, kernel=kernel), out, timeout, seed)
    from fictl.cli._profile.ncu_view import show

    answer = answered(subject, report)
    console.show(console.Result(answer, lambda page: show(page, report)))
