"""fictl skills list: what there is to install."""

from __future__ import annotations

from fictl.cli import console
from fictl.cli.options import Json


def command(json: Json = False) -> None:
    """List the skills that fictl ships, with their purpose."""
    from fictl.scaffold.skills import skills

    found = skills()
    data = [
        {"name": each.name, "description": each.description, "path": str(each.folder)}
        for each in found
    ]
    rows = [(each.name, each.description) for each in found]
    console.show(console.Result(data, console.Table(("skill", "for"), rows)))
