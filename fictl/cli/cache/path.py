"""fictl cache path: where the cache is."""

from __future__ import annotations

from fictl.cli import console
from fictl.cli.options import Json

EXAMPLES = {
    "fictl cache path": "the folder",
    'du -sh "$(fictl cache path)"': "how large it is",
}


def command(json: Json = False) -> None:
    """Print the cache's folder, as in: du -sh "$(fictl cache path)"."""
    from fictl.paths import cache_root

    path = str(cache_root())
    console.show(console.Result({"path": path}, path))
