"""`python -m fictl.watch.standby`: a fictl command that has imported what it needs beforehand.

A line of JSON on stdin is its folder, which may be another one of that name by now, and its words.
When stdin ends, nobody waits for it any more: it ends, too.
"""

from __future__ import annotations

import json
import os
import runpy
import signal
import sys
import threading
from importlib import import_module

# Half a second, which would be the first half second after a save.
_NEEDED = ("typer", "rich.console", "fictl.builds.building", "fictl.testing.runner.request")


def main() -> int:
    for name in _NEEDED:
        import_module(name)
    line = _line()
    if not line:
        return 0
    threading.Thread(target=_end_with_stdin, daemon=True).start()
    folder, words = json.loads(line)
    os.chdir(folder)
    sys.argv = ["fictl", *words]
    runpy.run_module("fictl", run_name="__main__", alter_sys=True)
    return 0


def _line() -> bytes:
    """Not from sys.stdin: a thread that waits in its lock would hold up the end of Python."""
    text = b""
    while not text.endswith(b"\n"):
        read = os.read(0, 65536)
        if not read:
            return b""
        text += read
    return text


def _end_with_stdin() -> None:
    os.read(0, 1)
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    sys.exit(main())
