"""A process that has imported pytest and torch, and runs pytest in a fork of itself for each request.

Requests and answers are lines of JSON. What fictl has, and what pytest loads as plugins, each fork
imports anew, as `python -m pytest` does.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import sys
from typing import Any

_LOADED = ("pytest", "torch", "pydantic", "jinja2", "xml.dom.minidom", "unittest.mock")


def run(request: dict[str, Any]) -> None:
    """Become that pytest."""
    for descriptor, name in ((0, os.devnull), (1, request["out"]), (2, request["err"])):
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC if descriptor else os.O_RDONLY
        opened = os.open(name, flags, 0o600)
        os.dup2(opened, descriptor)
        os.close(opened)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    sys.argv = [sys.modules["pytest"].__file__ or "", *request["words"]]
    sys.path[0] = os.getcwd()
    sys.exit(sys.modules["pytest"].console_main())


def main() -> None:
    for name in _LOADED:
        importlib.import_module(name)
    gc.freeze()
    for line in sys.stdin:
        child = os.fork()
        if not child:
            run(json.loads(line))
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    main()
