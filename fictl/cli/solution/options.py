"""What the commands about one solution share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fictl.cli.numbers import DAY, number, whole
from fictl.cli.options import sizes, use_device
from fictl.quantity import MOST_WHOLE

if TYPE_CHECKING:
    from fictl.judge.tools.subject import SolutionSubject

File = Annotated[
    Path, typer.Argument(metavar="FILE", help="A solution's JSON.", show_default=False)
]
Definition = Annotated[
    str,
    typer.Option(
        "--definition",
        "-d",
        metavar="DEF",
        help="Its definition's JSON, or the name of one in the dataset; else as it says.",
        show_default=False,
    ),
]
Workload = Annotated[
    str,
    typer.Option(
        "--workload",
        metavar="UUID|FILE",
        help="One of the dataset, or a file of one.",
        show_default=False,
    ),
]
Axes = Annotated[
    str,
    typer.Option(
        "--axes",
        help="Sizes of variable axes, as in 'rows=7,n=64', of random inputs.",
        show_default=False,
    ),
]
Dataset = Annotated[
    str,
    typer.Option(
        "--dataset",
        metavar="ROOT",
        help="The dataset; else the one that FILE lies in.",
        show_default=False,
    ),
]
Timeout = Annotated[float, number("--timeout", low=1, high=DAY, help="Seconds that it may take.")]
Seed = Annotated[int, whole("--seed", low=0, high=MOST_WHOLE, help="Of the random inputs.")]
Untrusted = Annotated[
    bool,
    typer.Option(
        "--untrusted",
        help="Refuse where its process cannot be kept from files and network.",
        show_default=False,
    ),
]


def subject_of(
    file: Path, definition: str, dataset: str, workload: str = "", axes: str = ""
) -> SolutionSubject:
    from fictl.judge.tools.subject import find_subject

    return find_subject(file, definition, workload, sizes(axes), dataset)


def chosen_device(said: str) -> str:
    """What was asked for, else the emulated device where there is no GPU.

    `cpu` is for Python that computes there, with no kernel to emulate.
    """
    if said == "cpu":
        return said
    from fictl import settings
    from fictl.testing.device import choose_device

    use_device(said)
    chosen = choose_device(settings.DEVICE.get() if said else "")
    settings.DEVICE.set_by_flag("--device", chosen)
    return chosen
