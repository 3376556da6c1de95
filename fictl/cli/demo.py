"""fictl demo: the main job on one op, each command shown before it runs."""

from __future__ import annotations

import sys

from fictl.cli import console
from fictl.cli.options import Ops
from fictl.errors import FictlError


def command(ops: Ops = None) -> None:
    """Find the environment; list, check, build and test an op, fictl's first if none is named."""
    from fictl.project import Project, folders
    from fictl.toolchain import current_toolchain, visible_gpus

    toolchain, gpus = current_toolchain(), visible_gpus()
    compilers = ", ".join(toolchain.identity().values()) if toolchain else "none found"
    console.note(f"compilers: {compilers}")
    without = "none; tests run on the emulated device"
    console.note(f"GPU: {', '.join(map(str, gpus)) or without}\n")
    names = ops or [folders(Project.shipped())[0].module]
    where = [] if toolchain else ["--device", "emu"]
    for words in (["list"], ["where"], ["check"], ["build", *where], ["test"]):
        _run([*words, *names])


def _run(words: list[str]) -> None:
    from fictl.process import stream

    shown = f"fictl {' '.join(words)}"
    console.note(f"$ {shown}")
    if stream([sys.executable, "-m", "fictl", *words], console.note).code:
        raise FictlError(f"`{shown}` failed", "its output is above")
    console.note("")
