"""A folder of this process below the farm's; those of processes that have ended are removed.

Several machines may share the cache: a pid means something only on its own machine.
"""

from __future__ import annotations

import os
import platform
import secrets
import time
from contextlib import suppress
from pathlib import Path

from fictl.farm.blobs import farm_folder
from fictl.removal import remove

# What another machine's process may still use.
_FORGOTTEN_SECONDS = 7 * 86400.0


def own_folder(kind: str) -> Path:
    above = farm_folder(kind)
    for entry in above.iterdir():
        if is_abandoned(entry):
            remove(entry)
    folder = above / own_name()
    folder.mkdir(mode=0o700)
    return folder


def own_name() -> str:
    """Return a new name that says whose it is."""
    return f"{platform.node()}+{os.getpid()}+{secrets.token_hex(4)}"


def is_abandoned(path: Path) -> bool:
    """Tell whether the process that named it has ended; of another machine, only the age tells."""
    host, _, rest = path.name.partition("+")
    pid = rest.partition("+")[0]
    if host == platform.node() and pid.isdecimal():
        return not os.path.exists(f"/proc/{pid}")
    with suppress(OSError):
        return time.time() - path.stat().st_mtime > _FORGOTTEN_SECONDS
    return False
