"""The options that describe a new op."""

from __future__ import annotations

from typing import Annotated

import typer

from fictl.errors import FictlError

_START, _OP = "Start from", "The op"
TENSORS = {
    "x:n,hidden": "axes by name; the same name is the same size",
    "x:n,d=128": "an axis of one size, as in a result w:n,k=2",
    "y:n,half=hidden//2": "of a result: an axis computed from others",
    "ids:n:i32": "a dtype of its own; the others have the call's",
    "--output w:n,k=2 --output ids:n,k=2:i32": "several: the option again, in the order of the arguments or of the return",
}


def summaries() -> dict[str, str]:
    """Return the kinds there are, with what each is; those of the project here, if it can be read."""
    from fictl.project import Project
    from fictl.scaffold.kinds.kind import kinds

    try:
        known = kinds(Project.at().templates)
    except FictlError:
        known = kinds()
    return {name: kind.summary for name, kind in known.items()}


def _kinds(incomplete: str) -> list[str]:
    """Shell completion."""
    return [name for name in summaries() if name.startswith(incomplete)]


Kind = Annotated[
    str,
    typer.Option(
        "--kind",
        metavar="KIND",
        help="Template to start from; default: the one that the inputs and the expression fit.",
        autocompletion=_kinds,
        rich_help_panel=_START,
        show_default=False,
    ),
]
Family = Annotated[
    str,
    typer.Option(
        "--family",
        metavar="FAMILY",
        help="Family, the op's parent folder; default: the kind.",
        rich_help_panel=_OP,
        show_default=False,
    ),
]
Input = Annotated[
    list[str] | None,
    typer.Option(
        "--input",
        metavar="NAME:AXES[:DTYPE]",
        help="A tensor, as in x:n,hidden or ids:n:i32; again for each.",
        rich_help_panel=_OP,
        show_default=False,
    ),
]
Scalar = Annotated[
    list[str] | None,
    typer.Option(
        "--scalar",
        metavar="NAME:TYPE=VALUE",
        help="A number, as in eps:float=1e-6.",
        rich_help_panel=_OP,
        show_default=False,
    ),
]
Output = Annotated[
    list[str] | None,
    typer.Option(
        "--output",
        metavar="NAME:AXES[:DTYPE]",
        help="A result, as in y:n,hidden; with a fixed axis and a dtype of its own: ids:n,k=2:i32; "
        "again for each.",
        rich_help_panel=_OP,
        show_default=False,
    ),
]
Dtypes = Annotated[
    str,
    typer.Option(
        "--dtypes",
        metavar="DTYPES",
        help="Data types, as in f16,bf16,f32 or i8.",
        rich_help_panel=_OP,
        show_default=False,
    ),
]
Arch = Annotated[
    str,
    typer.Option(
        "--arch",
        metavar="ARCHS",
        help="Architectures it supports, as in '>=8.0' or '9.0a'.",
        rich_help_panel=_OP,
        show_default=False,
    ),
]
Expr = Annotated[
    str,
    typer.Option(
        "--expr",
        metavar="EXPR",
        help="The computation, as in 'x * sigmoid(gate)' or 'x / sum(x)'.",
        rich_help_panel=_START,
        show_default=False,
    ),
]
From = Annotated[
    str,
    typer.Option(
        "--from",
        metavar="FILE.py:FUNCTION",
        help="Torch reference function to start from, as FILE.py:FUNCTION.",
        rich_help_panel=_START,
        show_default=False,
    ),
]
Example = Annotated[
    str,
    typer.Option(
        "--example",
        metavar="CALL",
        help="Example call of the reference, if its annotations do not give shapes.",
        rich_help_panel=_START,
        show_default=False,
    ),
]
Kernel = Annotated[
    str,
    typer.Option(
        "--kernel",
        metavar="FILE.cu:ENTRY",
        help="Existing kernel to wrap, as FILE.cu:KERNEL.",
        rich_help_panel=_START,
        show_default=False,
    ),
]
Grid = Annotated[
    str,
    typer.Option(
        "--grid",
        metavar="SIZES",
        help="With --kernel: blocks of the launch, over the op's axes: 'rows', 'rows,heads' or "
        "'ceil_div(rows * 32, 256)'.",
        rich_help_panel=_START,
        show_default=False,
    ),
]
Block = Annotated[
    str,
    typer.Option(
        "--block",
        metavar="SIZES",
        help="With --kernel: threads of a block, as in 256 or 32,8.",
        rich_help_panel=_START,
        show_default=False,
    ),
]
FromDefinition = Annotated[
    str,
    typer.Option(
        "--from-definition",
        metavar="D.json",
        help="Benchmark definition to take axes, inputs, outputs and reference from.",
        rich_help_panel=_START,
        show_default=False,
    ),
]
Doc = Annotated[
    str,
    typer.Option(
        "--doc",
        metavar="TEXT",
        help="One sentence for its documentation.",
        rich_help_panel=_OP,
        show_default=False,
    ),
]
