"""Holders of a lock, from the kernel's own list, which nobody can forge."""

from __future__ import annotations

import os
import pwd
from pathlib import Path

from fictl.child.family import ancestors
from fictl.errors import shown
from fictl.redact import hide_secrets

_LOCKS = Path("/proc/locks")
_KIND, _PID, _FILE = 1, 4, 5  # Fields of a line, as in `1: FLOCK ADVISORY WRITE 42 00:19:7 0 EOF`.


def holders(handle: int) -> list[int]:
    """List the processes that hold a flock on this open file; none if they cannot be seen."""
    status = os.fstat(handle)
    name = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}:{status.st_ino}"
    try:
        lines = _LOCKS.read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
    rows = [line.split() for line in lines if "->" not in line]
    return [
        int(row[_PID])
        for row in rows
        if len(row) > _FILE and row[_KIND] == "FLOCK" and row[_FILE] == name and int(row[_PID]) > 0
    ]


def is_inherited(handle: int) -> bool:
    """Tell whether a process that this one descends from holds it, and waits for this one."""
    above = {process.pid for process in ancestors(os.getpid())} - {os.getpid()}
    return not above.isdisjoint(holders(handle))


def in_words(handle: int) -> str:
    """Name the holders: pid, user, and the command where it can be seen."""
    names = [_who(pid) for pid in dict.fromkeys(holders(handle))]
    if not names:
        return "a process that cannot be seen from here, as of another container"
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(names[:3]) + more


def user_name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def _who(pid: int) -> str:
    folder = Path("/proc") / str(pid)
    try:
        # Not the folder's owner: that is root for a process that changed its user.
        status = (folder / "status").read_text(encoding="utf-8", errors="replace")
        words = (folder / "cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return f"pid {pid}"
    uids = [line.split()[1] for line in status.splitlines() if line.startswith("Uid:")]
    user = user_name(int(uids[0])) if uids else "unknown"
    command = shown(hide_secrets(" ".join(_from_fictl(words)).strip()))
    return f"{command} (pid {pid}, user {user})" if command else f"pid {pid} of user {user}"


def _from_fictl(words: list[str]) -> list[str]:
    """Leave out the interpreter before `fictl`, and the folder of a program."""
    for position, word in enumerate(words[:4]):
        if os.path.basename(word) == "fictl":
            return ["fictl", *words[position + 1 :]]
    return [os.path.basename(words[0]), *words[1:]]
