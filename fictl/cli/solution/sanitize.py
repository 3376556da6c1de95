"""fictl solution sanitize: a solution's kernels under compute-sanitizer, or the emulated checker."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from fictl.cli import console
from fictl.cli.gpu_use import Wait, together
from fictl.cli.options import Device, Json
from fictl.cli.solution import options, view

if TYPE_CHECKING:
    from rich.console import Console


EXAMPLES = {
    "fictl solution sanitize solution.json": "all tools",
    "fictl solution sanitize solution.json --device emu": "without a GPU",
}


def command(
    file: options.File,
    definition: options.Definition = "",
    workload: options.Workload = "",
    axes: options.Axes = "",
    dataset: options.Dataset = "",
    device: Device = "",
    tool: Annotated[
        list[str] | None,
        typer.Option(
            "--tool",
            metavar="TOOL",
            help="Tool on a GPU: memcheck, racecheck, initcheck or synccheck; default: all.",
            show_default=False,
        ),
    ] = None,
    timeout: options.Timeout = 600.0,
    seed: options.Seed = 0,
    wait: Wait = None,
    json: Json = False,
) -> None:
    """Check a solution for out-of-bounds accesses, races and uninitialised reads.

    Without a GPU, the emulated device checks the kernels that are compiled for it.
    """
    subject = options.subject_of(file, definition, dataset, workload, axes)
    chosen = options.chosen_device(device)
    from fictl.judge.tools.sanitizing import sanitized

    with together(wait, chosen):
        answer = sanitized(subject, tool or (), chosen, timeout, seed)
    code = 0 if answer["ok"] else 1
    console.show(console.Result(answer, lambda out: _view(out, answer), code))


def _view(out: Console, answer: dict[str, Any]) -> None:
    view.headline(out, answer, view.sizes(answer), view.where(answer["device"]))
    for check in answer["checks"]:
        findings = check["findings"]
        text = (
            f"{len(findings)} defect{'s' * (len(findings) != 1)}" if findings else "nothing found"
        )
        if check["error"] and not findings:
            text = "it did not run to its end"
        out.print(f"  {check['tool']}: {text}", soft_wrap=True)
        for item in findings:
            for line in item["text"].splitlines():
                out.print(f"    {line}", markup=False, soft_wrap=True)
        view.problem(out, check)
