"""The options that describe a new op."""

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
        help="Template: elementwise, rowwise, reduction, gemm, hopper, plan-run, triton, …",
        autocompletion=_kinds,
        show_default=False,
    ),
]
Family = Annotated[
    str,
    typer.Option(
        "--family", help="Family, the op's parent folder; default: the kind.", show_default=False
    ),
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
    str, typer.Option("--dtypes", help="Data types, as in f16,bf16,f32 or i8.", show_default=False)
]
Arch = Annotated[
    str,
    typer.Option(
        "--arch", help="Architectures it supports, as in '>=8.0' or '9.0a'.", show_default=False
    ),
]
Expr = Annotated[
    str,
    typer.Option(
        "--expr",
        help="The computation, as in 'x * sigmoid(gate)' or 'x / sum(x)'.",
        show_default=False,
    ),
]
From = Annotated[
    str,
    typer.Option(
        "--from",
        metavar="FILE.py:FUNCTION",
        help="Torch reference function to start from, as FILE.py:FUNCTION.",
        show_default=False,
    ),
]
Example = Annotated[
    str,
    typer.Option(
        "--example",
        metavar="CALL",
        help="Example call of the reference, if its annotations do not give shapes.",
        show_default=False,
    ),
]
Kernel = Annotated[
    str,
    typer.Option(
        "--kernel",
        metavar="FILE.cu:ENTRY",
        help="Existing kernel to wrap, as FILE.cu:KERNEL.",
        show_default=False,
    ),
]
FromDefinition = Annotated[
    str,
    typer.Option(
        "--from-definition",
        metavar="D.json",
        help="Benchmark definition to take axes, inputs, outputs and reference from.",
        show_default=False,
    ),
]
Doc = Annotated[
    str,
    typer.Option("--doc", help="One sentence for its documentation.", show_default=False),
]
