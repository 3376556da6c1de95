"""The two roles of sandboxed processes, solution and reference, and the module that serves each."""

from __future__ import annotations

import importlib
from typing import NoReturn

from fictl.judge.inside import heap
from fictl.judge.process.channel import Channel

SOLUTION, REFERENCE = "solution", "reference"
_PARTS = {SOLUTION: "fictl.judge.inside.solution_server", REFERENCE: "fictl.judge.inside.referee"}
_ALSO = ("torch", "fictl.runnable.registry", "fictl.timing.cupti")


def preload() -> None:
    """Import what both roles need before the first fork, and snapshot it against tampering."""
    for name in (*_ALSO, *_PARTS.values()):
        importlib.import_module(name)
    importlib.import_module("fictl.runnable.discovered").shipped()
    importlib.import_module("fictl.judge.inside.integrity").taken()


def run(role: str, channel: Channel, post: int) -> NoReturn:
    """Serve a role; `post` carries the sockets of the referee, or the turns."""
    heap.keep_all()
    importlib.import_module(_PARTS[role]).run(channel, post)
    raise AssertionError("it does not return")
