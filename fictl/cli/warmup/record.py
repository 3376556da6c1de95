"""fictl warmup record: run a program, and keep which modules it needs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fictl.cli import console
from fictl.cli.options import DryRun, Json
from fictl.cli.outputs import writes_file
from fictl.errors import FictlError
from fictl.quantity import counted

EXAMPLES = {
    "fictl warmup record -- python serve.py llama": "into warmup.jsonl",
    "fictl warmup record --out llama.jsonl -- python serve.py": "into a file of your own",
}


def command(
    program: Annotated[
        list[str],
        typer.Argument(metavar="PROGRAM", help="The program and its arguments, after --."),
    ],
    out: Annotated[
        Path,
        typer.Option("--out", metavar="FILE", help="File to append to.", callback=writes_file),
    ] = Path("warmup.jsonl"),
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Run a program; each module of an op that it loads becomes a line of the file.

    Its children are recorded, too. FICTL_WARMUP_RECORD=FILE does the same without this command.
    """
    from fictl.warmup.recording import Recorded, record, require_recordable

    if dry_run:
        require_recordable(program, out)
        data = Recorded(out.absolute(), 0, 0).to_dict()
        console.show(console.Result(data, f"would run {program[0]}, and append to {out}"))
        return
    recorded = record(program, out, quiet=json)
    error = recorded.problem
    if recorded.code:
        error = FictlError(f"{program[0]} ended with exit code {recorded.code}")
    lines = [f"{counted(recorded.modules, 'module')} in {out}"]
    if recorded.modules:
        lines.append(f"next: fictl warmup build {out}")
    code = error.exit_code if error else 0

    def view(output: object) -> None:
        if recorded.modules:
            console.note("\n".join(lines))
        if error:
            console.problem(error)

    console.show(console.Result(recorded.to_dict(), view, code, error))
