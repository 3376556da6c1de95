"""Owners of files: those of this user, of root and of the caller of sudo are trusted, as with git."""

from __future__ import annotations

import os
import pwd
from contextlib import suppress
from pathlib import Path

from fictl import settings

_EVERY = Path("*")


def trusted_users() -> set[int]:
    """Return the users whose files are trusted: the current one, root, and the caller of sudo."""
    users = {0, os.geteuid()}
    if os.geteuid() == 0 and (caller := settings.SUDO_UID.get()) is not None:
        users.add(caller)
    return users


def is_listed_safe(root: Path) -> bool:
    """Tell whether FICTL_SAFE_PROJECTS names the folder, or one around it."""
    listed = settings.SAFE_PROJECTS.get()
    return _EVERY in listed or any(root.is_relative_to(os.path.realpath(safe)) for safe in listed)


def user_name(user: int) -> str:
    with suppress(KeyError):
        return f"{pwd.getpwuid(user).pw_name} (user {user})"
    return f"user {user}"
