"""`python -m fictl.watch.standby`: a fictl command that has imported what it needs beforehand.

Its request says which, and where. When stdin ends, nobody waits for it any more: it ends, too.
"""

from __future__ import annotations

import os
import runpy
import sys
import threading
from importlib import import_module

from fictl.child.requests import Requests
from fictl.watch.step_process import StartCommand

# Half a second, which would be the first half second after a save.
_NEEDED = ("typer", "rich.console", "fictl.builds.building", "fictl.testing.runner.request")


def main() -> int:
    for name in _NEEDED:
        import_module(name)
    begun = threading.Event()
    for command in Requests((StartCommand,), begun.is_set):
        begun.set()
        os.chdir(command.folder)
        sys.argv = ["fictl", *command.words]
        runpy.run_module("fictl", run_name="__main__", alter_sys=True)
        break
    return 0


if __name__ == "__main__":
    sys.exit(main())
