"""fictl skills list: what there is to install."""

from __future__ import annotations

from fictl.cli import console
from fictl.cli.options import Json

EXAMPLES = {
    "fictl skills list": "what there is to teach",
    "fictl skills list --json": "for a program",
}


def command(json: Json = False) -> None:
    """List the skills that fictl ships, with their purpose."""
    from fictl.scaffold.skills import skills

    shipped = skills()
    data = [
        {"name": item.name, "description": item.description, "path": str(item.folder)}
        for item in shipped
    ]
    rows = [(item.name, item.description) for item in shipped]
    console.show(console.Result(data, console.Table(("skill", "for"), rows)))
