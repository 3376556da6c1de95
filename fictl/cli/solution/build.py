"""fictl solution build: whether a solution builds, and the first error if it does not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from fictl.cli import console
from fictl.cli.options import Device, Json
from fictl.cli.solution import options, view

if TYPE_CHECKING:
    from rich.console import Console


EXAMPLES = {
    "fictl solution build solution.json": "compile it",
    "fictl solution build solution.json --untrusted --log": "code of somebody else, with the compiler's output",
}


def command(
    file: options.File,
    definition: options.Definition = "",
    dataset: options.Dataset = "",
    device: Device = "",
    timeout: options.Timeout = 600.0,
    untrusted: options.Untrusted = False,
    show_log: Annotated[
        bool, typer.Option("--log", help="Show the whole compiler output.", show_default=False)
    ] = False,
    json: Json = False,
) -> None:
    """Build a solution in a process of its own. The kernels of an exported op are compiled, too.

    Its Python code runs as you; with --untrusted in a sandbox, as `solution run` always does.
    """
    subject = options.subject_of(file, definition, dataset)
    chosen = options.chosen_device(device)
    from fictl.judge.tools.compiling import compiled

    answer = compiled(subject, chosen, timeout, untrusted)
    code = 0 if answer["ok"] else 1
    console.show(console.Result(answer, lambda out: _view(out, answer, show_log), code))


def _view(out: Console, answer: dict[str, Any], show_log: bool) -> None:
    took = f"{answer['seconds']:.1f} s" if answer["ok"] else ""
    builder = f"by the {answer['builder']} builder" if answer["builder"] else ""
    view.headline(out, answer, builder, took, view.where(answer["device"]))
    view.problem(out, answer)
    if show_log:
        view.log(out, answer["log"])
