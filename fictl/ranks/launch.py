"""The program that starts one command in several ranks of this machine, and waits for all.

`python -m fictl.ranks.launch --ranks N --report FILE -- COMMAND`. The first rank that ends badly is
written to the file; the others get some time to say what they know of it.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from fictl import settings
from fictl.ranks.group import RECORDED, TOLD

_POLL_SECONDS = 0.05
# A rank that has ended is followed by the others, which say first for what they waited.
_FOLLOW_SECONDS = 30.0
_TOLD_SECONDS = 0.5
_TERM_SECONDS = 1.0
# Below those that the kernel gives to connections of their own accord.
_PORTS = range(20000, 30000)
_MOST_PORTS = 100


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--ranks", type=int, required=True)
    parser.add_argument("--report", type=Path, required=True)
    parser.add_argument("command", nargs="+")
    given = parser.parse_args(arguments)
    children = _started(given.command, given.ranks)
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    try:
        first = _first_bad(children)
        if first is None:
            return 0
        code = children[first].returncode
        given.report.write_text(json.dumps({"rank": first, "code": code}), encoding="utf-8")
        _follow(children, code)
        return int(code) if code > 0 else 128 - int(code)
    finally:
        _end(children)


def _started(command: Sequence[str], ranks: int) -> list[subprocess.Popen[bytes]]:
    meeting = {settings.MASTER_ADDR.name: "127.0.0.1", "MASTER_PORT": str(_free_port())}
    size = {settings.WORLD_SIZE.name: str(ranks), "LOCAL_WORLD_SIZE": str(ranks)}
    children: list[subprocess.Popen[bytes]] = []
    for rank in range(ranks):
        own = {settings.RANK.name: str(rank), settings.LOCAL_RANK.name: str(rank)}
        variables = {**RECORDED, **os.environ, **meeting, **size, **own}
        children.append(subprocess.Popen(command, env=variables))
    return children


def _free_port() -> int:
    for port in random.sample(_PORTS, _MOST_PORTS):
        with socket.socket() as one:
            try:
                one.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise SystemExit(f"no port of {_MOST_PORTS} between {_PORTS[0]} and {_PORTS[-1]} is free")


def _first_bad(children: Sequence[subprocess.Popen[bytes]]) -> int | None:
    """Wait until a rank ends badly, or all have ended well."""
    while True:
        codes = [child.poll() for child in children]
        bad = [rank for rank, code in enumerate(codes) if code]
        if bad:
            # A signal is a cause; an exit may follow from it.
            return min(bad, key=lambda rank: (codes[rank] or 0) > 0)
        if None not in codes:
            return None
        time.sleep(_POLL_SECONDS)


def _follow(children: Sequence[subprocess.Popen[bytes]], code: int) -> None:
    """Give the other ranks time to end by themselves."""
    patience = _TOLD_SECONDS if code == TOLD else _FOLLOW_SECONDS
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline and any(child.poll() is None for child in children):
        time.sleep(_POLL_SECONDS)


def _end(children: Sequence[subprocess.Popen[bytes]]) -> None:
    running = [child for child in children if child.poll() is None]
    for child in running:
        child.terminate()
    deadline = time.monotonic() + _TERM_SECONDS
    for child in running:
        try:
            child.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
