"""The options that mean the same in every command, defined once."""

from __future__ import annotations

from typing import Annotated

import typer


def _op_names(incomplete: str) -> list[str]:
    """Shell completion: what the projects at hand call their ops."""
    from fictl.project import Project, names

    return [name for name in names(Project.all()) if name.startswith(incomplete)]


Ops = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="OP",
        help="An op, a family or a public function; project/op names one project's.",
        autocompletion=_op_names,
        show_default=False,
    ),
]
Archs = Annotated[
    str,
    typer.Option("--arch", help="Architectures, as in '8.0 9.0a'.", show_default=False),
]
Json = Annotated[
    bool, typer.Option("--json", help="Print one JSON document on stdout.", show_default=False)
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Show what would be done.", show_default=False)
]
Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="Show every step.", show_default=False)
]
