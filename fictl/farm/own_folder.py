"""A folder of this process below the farm's; those of processes that have ended are removed."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from fictl.farm.blobs import farm_folder
from fictl.removal import remove


def own_folder(kind: str) -> Path:
    above = farm_folder(kind)
    for entry in above.iterdir():
        owner = entry.name.partition("-")[0]
        if owner.isdecimal() and not os.path.exists(f"/proc/{owner}"):
            remove(entry)
    folder = above / f"{os.getpid()}-{secrets.token_hex(4)}"
    folder.mkdir(mode=0o700)
    return folder
