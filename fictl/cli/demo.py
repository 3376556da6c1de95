"""fictl demo: from nothing to a tested op of one's own, each command shown before it runs."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from fictl.cli import console
from fictl.cli.gpu_use import Wait
from fictl.cli.outputs import writes_folder
from fictl.errors import FictlError, UsageError
from fictl.paths import friendly

_PROJECT, _OP = "my_kernels", "swish"
_COMPUTES = ("--expr", "x * sigmoid(beta * x)", "--scalar", "beta:float")


EXAMPLES = {
    "fictl demo": "in a temporary folder",
    "fictl demo my_kernels": "in a folder that stays",
}


def command(
    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="DIR",
            help="Folder to leave the project in.",
            callback=writes_folder,
            show_default=False,
        ),
    ] = None,
    keep: Annotated[
        bool,
        typer.Option("--keep", help="Keep the temporary folder.", show_default=False),
    ] = False,
    wait: Wait = None,
) -> None:
    """Create a project with one op; build and test it, and benchmark or, without a GPU, sanitize it."""
    from fictl.toolchain import current_toolchain, visible_gpus

    toolchain, gpus = current_toolchain(), visible_gpus()
    compilers = ", ".join(toolchain.identity().values()) if toolchain else "none found"
    console.note(f"compilers: {compilers}")
    without = "none; tests run on the emulated device"
    console.note(f"GPU: {', '.join(map(str, gpus)) or without}\n")
    where = [] if toolchain else ["--device", "emu"]
    patience = [] if wait is None else ["--wait", f"{wait:g}"]
    with _project(folder, keep) as root:
        _run(["init", root.name], root.parent)
        console.note(f"$ cd {shlex.quote(root.name)}\n")
        _run(["new-op", _OP, *_COMPUTES], root)
        last = ["bench" if gpus else "sanitize", *patience]
        for words in (["build", *where], ["test", *patience], last):
            _run([*words, _OP], root)
    if folder or keep:
        console.note(f"the project is in {friendly(root)}")


@contextmanager
def _project(folder: Path | None, keep: bool) -> Iterator[Path]:
    """Yield the folder for the project, which is removed at the end unless it is kept."""
    from tempfile import TemporaryDirectory, mkdtemp

    if folder is not None:
        if os.path.exists(folder) and (not os.path.isdir(folder) or any(folder.iterdir())):
            raise UsageError(f"{folder} is there and not empty", "name a new folder")
        folder.parent.mkdir(parents=True, exist_ok=True)
        yield folder.absolute()
    elif keep:
        yield Path(mkdtemp(prefix="fictl-demo-")) / _PROJECT
    else:
        with TemporaryDirectory(prefix="fictl-demo-") as temporary:
            yield Path(temporary) / _PROJECT


def _run(words: list[str], folder: Path) -> None:
    from fictl.paths import same_packages
    from fictl.process import stream

    shown = f"fictl {shlex.join(words)}"
    console.note(f"$ {shown}")
    argv = [sys.executable, "-m", "fictl", *words]
    if stream(argv, console.note, cwd=folder, env=same_packages()).code:
        raise FictlError(f"`{shown}` failed", "its output is above")
    console.note("")
