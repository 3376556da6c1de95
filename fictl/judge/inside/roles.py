"""What runs in judged processes: one part for each role."""

from __future__ import annotations

import importlib
from typing import NoReturn

from fictl.judge.inside import heap
from fictl.judge.process.channel import Channel

SOLUTION, REFERENCE = "solution", "reference"
_PARTS = {SOLUTION: "fictl.judge.inside.solution_server", REFERENCE: "fictl.judge.inside.referee"}
_ALSO = ("torch", "fictl.runnable.registry", "fictl.timing.cupti")


def preload() -> None:
    """All that both need, before the first fork; what stands then is what a solution must leave."""
    for name in (*_ALSO, *_PARTS.values()):
        importlib.import_module(name)
    importlib.import_module("fictl.runnable.discovered").shipped()
    importlib.import_module("fictl.judge.inside.integrity").taken()


def run(role: str, channel: Channel, post: int) -> NoReturn:
    """By `post` come handles to the referee, and turns to the others."""
    heap.keep_all()
    importlib.import_module(_PARTS[role]).run(channel, post)
    raise AssertionError("it does not return")
