"""`python -m fictl.watch.standby`: a fictl command whose imports are done in advance.

The request names the command and the folder. When stdin ends, nobody needs this process, and it
ends.
"""

from __future__ import annotations

import os
import runpy
import sys
import threading
from importlib import import_module

from fictl.child.requests import Requests
from fictl.watch.step_process import StartCommand

# Importing these takes half a second, which would delay each run after a save.
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
