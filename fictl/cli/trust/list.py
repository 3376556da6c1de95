"""fictl trust list: whose signatures count."""

from __future__ import annotations

from fictl.cli import console
from fictl.cli.options import Json

EXAMPLES = {
    "fictl trust list": "who may sign what, until when",
    "fictl trust list --json": "for a program",
}


def command(json: Json = False) -> None:
    """List the keys that you trust: for which projects, and until when."""
    from fictl.trust.keys_file import keys_path, trusted_keys

    keys = trusted_keys()
    data = {"file": str(keys_path()), "keys": [key.to_dict() for key in keys]}
    rows = [
        (key.name, key.public.id, " ".join(key.projects), key.state, key.public.line)
        for key in keys
    ]
    table = console.Table(("key", "id", "projects", "until", "public"), rows, {"expired": "red"})
    nobody = f"{keys_path()} names no key: only folders of your own are believed"
    console.show(console.Result(data, table if keys else nobody))
