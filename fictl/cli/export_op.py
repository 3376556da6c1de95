"""fictl export-op: an op as a folder that stands alone."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fictl.cli import console
from fictl.cli._export_op import hf_kernel
from fictl.cli.numbers import whole
from fictl.cli.one_op import lines_by_folder, one_op
from fictl.cli.options import Archs, Device, DryRun, Json, Verbose, use_device
from fictl.cli.outputs import writes_folder
from fictl.cli.scaffolded import Diff, carry_out, print_diff, print_tree
from fictl.errors import UsageError
from fictl.paths import friendly
from fictl.quantity import counted

if TYPE_CHECKING:
    from rich.console import Console


PROJECT, HF_KERNEL = "project", "hf-kernel"
_FORMS = (PROJECT, HF_KERNEL)


def _form(value: str) -> str:
    if value not in _FORMS:
        raise typer.BadParameter(f"{value!r}: one of {', '.join(_FORMS)}")
    return value


EXAMPLES = {
    "fictl export-op rmsnorm ../my_norm": "a project of its own with the op's sources",
    "fictl export-op my_norm hub --to hf-kernel --arch '8.0 9.0a'": "compiled code for the kernels package",
}


def command(
    op: Annotated[
        str,
        typer.Argument(metavar="OP", help="An op; project/op names one project's."),
    ],
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="DIR",
            help="Folder to create; it may exist if it is empty, or has builds of the same kernel.",
            callback=writes_folder,
            show_default=False,
        ),
    ],
    name: Annotated[
        str,
        typer.Option(
            "--name",
            metavar="NAME",
            help="Name of the new project (default: the op's project, or OP_kernels for a shipped "
            "op), or of the kernel (default: PROJECT-OP).",
            show_default=False,
        ),
    ] = "",
    to: Annotated[
        str,
        typer.Option(
            "--to",
            metavar="|".join(_FORMS),
            help="What to write: a project with the sources, or compiled code for the kernels package.",
            callback=_form,
        ),
    ] = PROJECT,
    arch: Archs = "",
    device: Device = "",
    licence: Annotated[
        str,
        typer.Option(
            "--license",
            metavar="LICENSE",
            help="License of a hf-kernel, as in Apache-2.0.",
            show_default=False,
        ),
    ] = "",
    version: Annotated[
        int, whole("--kernel-version", low=1, high=10**6, help="Version of a hf-kernel.")
    ] = 1,
    verbose: Verbose = False,
    dry_run: DryRun = False,
    diff: Diff = False,
    json: Json = False,
) -> None:
    """Copy an op into a project of its own, with everything it needs besides fictl.

    The copy includes the project headers that it needs, the ops that it uses, and what its
    family shares; fictl's own building blocks stay in fictl. With --to hf-kernel, write what
    Hugging Face's kernels package loads: the compiled module with thin Python files.
    """
    if to == HF_KERNEL:
        if diff:
            raise UsageError("--diff shows texts, and a hf-kernel is compiled", "--dry-run")
        use_device(device, arch)
        hf_kernel.write(one_op(op), folder, name, licence, version, arch, verbose, dry_run)
        return
    given = {"--arch": arch, "--device": device, "--license": licence}
    for flag in (flag for flag, value in given.items() if value):
        raise UsageError(f"{flag} is for --to {HF_KERNEL}", "leave it out, or add --to")
    from fictl.scaffold.existing.export import plan_export

    source = one_op(op)
    plan = plan_export(source, folder, name)
    command = shlex.join(["fictl", "export-op", op, str(folder)])
    data = carry_out(plan, command, dry_run=dry_run, diff=diff)

    def view(out: Console) -> None:
        if diff:
            print_diff(out, data["diff"])
        elif dry_run:
            print_tree(out, plan)
        else:
            for line in lines_by_folder(plan, plan.files):
                out.print(line, markup=False, soft_wrap=True)
            count = f"{counted(len(plan.files), 'file')} in {friendly(plan.root)}"
            next_ = f"cd {shlex.quote(str(folder))}      fictl test {source.module}"
            out.print(f"  {count} · next: {next_}", markup=False, soft_wrap=True)

    console.show(console.Result({"op": str(source), **data}, view))
