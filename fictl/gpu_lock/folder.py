"""The folder of GPU locks, the same for all users of a machine."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

from fictl import settings
from fictl.errors import SetupError

# The first that everybody can write is everybody's. /tmp comes last: services and batch systems
# often give each job a /tmp of its own.
_PLACES = ("/run/lock", "/var/lock", "/dev/shm", "/tmp")  # noqa: S108


def lock_folder() -> Path:
    chosen = settings.GPU_LOCK_DIR.get()
    if chosen is not None:
        if not os.path.isdir(chosen):
            raise SetupError(
                f"{settings.GPU_LOCK_DIR.name}={chosen} is not a folder",
                "name a folder that all users of the GPUs can write",
            )
        return chosen
    shared = (Path(place) for place in _PLACES if _is_for_everybody(place))
    return next(shared, Path(tempfile.gettempdir()))


def _is_for_everybody(place: str) -> bool:
    """Tell whether all users can add files there, and none can remove those of another."""
    try:
        mode = os.stat(place).st_mode
    except OSError:
        return False
    is_shared = stat.S_ISDIR(mode) and mode & stat.S_IWOTH and mode & stat.S_ISVTX
    return bool(is_shared) and os.access(place, os.W_OK | os.X_OK)
