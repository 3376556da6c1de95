"""fictl schema: JSON Schemas of what commands print with --json."""

from __future__ import annotations

import json as json_text
from typing import Annotated

import typer

from fictl.cli import console
from fictl.cli.options import Json


def _names(incomplete: str) -> list[str]:
    from fictl.schemas import names

    return [name for name in names() if name.startswith(incomplete)]


Name = Annotated[
    str,
    typer.Argument(
        metavar="NAME",
        help="A document, by its schema or its command: fictl.cache.show, cache.show.",
        autocompletion=_names,
        show_default=False,
    ),
]

EXAMPLES = {
    "fictl schema": "all documents",
    "fictl schema cache.show": "the schema of one, for a validator or a generator of types",
}


def command(name: Name = "", json: Json = False) -> None:
    """Print the JSON Schema of a command's --json document, or list all documents.

    A document says its schema itself. Within one number, as /1, fields may come and none changes or goes.
    """
    from fictl.schemas import names, schema

    if name:
        document = schema(name)
        console.show(console.Result(document, json_text.dumps(document, indent=2)))
    else:
        console.show(console.Result({"documents": names()}, "\n".join(names())))
