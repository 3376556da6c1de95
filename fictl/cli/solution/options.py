"""Options that the commands about one solution share."""

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
    Path, typer.Argument(metavar="FILE", help="JSON file of a solution.", show_default=False)
]
Definition = Annotated[
    str,
    typer.Option(
        "--definition",
        "-d",
        metavar="DEF",
        help="JSON file of its definition, or a name in the dataset; default: the one it names.",
        show_default=False,
    ),
]
Workload = Annotated[
    str,
    typer.Option(
        "--workload",
        metavar="UUID|FILE",
        help="Workload of the dataset, or a file.",
        show_default=False,
    ),
]
Axes = Annotated[
    str,
    typer.Option(
        "--axes",
        metavar="SIZES",
        help="Sizes of variable axes of random inputs, as in 'rows=7,n=64'.",
        show_default=False,
    ),
]
Dataset = Annotated[
    str,
    typer.Option(
        "--dataset",
        metavar="ROOT",
        help="Dataset; default: the one FILE is in.",
        show_default=False,
    ),
]
Timeout = Annotated[float, number("--timeout", low=1, high=DAY, help="Time limit, in seconds.")]
Seed = Annotated[int, whole("--seed", low=0, high=MOST_WHOLE, help="Seed of the random inputs.")]
Untrusted = Annotated[
    bool,
    typer.Option(
        "--untrusted",
        help="Refuse to run if its process cannot be isolated from files and network.",
        show_default=False,
    ),
]


def subject_of(
    file: Path, definition: str, dataset: str, workload: str = "", axes: str = ""
) -> SolutionSubject:
    from fictl.judge.tools.subject import find_subject

    return find_subject(file, definition, workload, sizes(axes), dataset)


def chosen_device(text: str) -> str:
    """Return the device asked for, else the emulated device if there is no GPU.

    `cpu` is for Python that computes there, with no kernel to emulate.
    """
    if text == "cpu":
        return text
    from fictl import settings
    from fictl.testing.device import choose_device

    use_device(text)
    chosen = choose_device(settings.DEVICE.get() if text else "")
    settings.DEVICE.set_by_flag("--device", chosen)
    return chosen
