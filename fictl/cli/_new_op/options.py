"""What a user can say of a new op."""

from __future__ import annotations

from typing import Annotated

import typer


def _kinds(incomplete: str) -> list[str]:
    """Shell completion."""
    from fictl.project import Project
    from fictl.scaffold.kinds.kind import kinds

    return [name for name in kinds(Project.at().templates) if name.startswith(incomplete)]


Kind = Annotated[
    str,
    typer.Option(
        "--kind",
        help="What to start from: elementwise, rowwise, reduction, gemm, plan-run, triton, …",
        autocompletion=_kinds,
        show_default=False,
    ),
]
Family = Annotated[
    str, typer.Option("--family", help="Its folder; the kind if left out.", show_default=False)
]
Input = Annotated[
    list[str] | None,
    typer.Option(
        "--input", metavar="NAME:AXES", help="A tensor, as in x:n,hidden.", show_default=False
    ),
]
Scalar = Annotated[
    list[str] | None,
    typer.Option(
        "--scalar",
        metavar="NAME:TYPE=VALUE",
        help="A number, as in eps:float=1e-6.",
        show_default=False,
    ),
]
Output = Annotated[
    list[str] | None,
    typer.Option(
        "--output", metavar="NAME:AXES", help="A result, as in y:n,hidden.", show_default=False
    ),
]
Dtypes = Annotated[
    str, typer.Option("--dtypes", help="As in f16,bf16,f32 or i8.", show_default=False)
]
Arch = Annotated[
    str,
    typer.Option("--arch", help="What it runs on, as in '>=8.0' or '9.0a'.", show_default=False),
]
Expr = Annotated[
    str,
    typer.Option(
        "--expr",
        help="What it computes, as in 'x * sigmoid(gate)' or 'x / sum(x)'.",
        show_default=False,
    ),
]
From = Annotated[
    str,
    typer.Option(
        "--from",
        metavar="FILE.py:FUNCTION",
        help="A torch reference to start from.",
        show_default=False,
    ),
]
Example = Annotated[
    str,
    typer.Option(
        "--example",
        metavar="CALL",
        help="A call of the reference, where its annotations do not say its shapes.",
        show_default=False,
    ),
]
Kernel = Annotated[
    str,
    typer.Option(
        "--kernel", metavar="FILE.cu:ENTRY", help="A kernel to bring along.", show_default=False
    ),
]
FromDefinition = Annotated[
    str,
    typer.Option(
        "--from-definition",
        metavar="D.json",
        help="A benchmark definition: its axes, inputs, outputs and reference.",
        show_default=False,
    ),
]
Doc = Annotated[
    str,
    typer.Option("--doc", help="What it does, in a sentence for its docs.", show_default=False),
]
