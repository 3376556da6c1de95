"""A process that has imported everything evaluation needs, and forks for each sandboxed process.

Android calls such a process a zygote. A start from nothing takes seconds, a fork milliseconds. It
never touches a GPU: a process that has done so cannot be forked.
"""

from __future__ import annotations

import gc
import io
import json
import os
import socket
import sys
import tempfile
from contextlib import suppress
from typing import NoReturn

from fictl.judge.process.channel import Channel
from fictl.judge.process.supervisor import Handles, supervise
from fictl.judge.sandbox.policy import SandboxPolicy, possible

_LONGEST = 1 << 20
_HANDLES = 6


def main(words: list[str]) -> int:
    """Serve requests from the socket `words[0]` until it is closed."""
    parent = socket.socket(fileno=int(words[0]))
    from fictl.judge.inside import roles

    roles.preload()
    # Exclude existing objects from collections, which would copy their pages in each fork.
    gc.freeze()
    parent.send(json.dumps({"policy": possible().to_dict()}).encode())
    while True:
        message, handles, _, _ = socket.recv_fds(parent, _LONGEST, _HANDLES)
        if not message:
            return 0
        if os.fork() == 0:
            _child(parent, json.loads(message), handles)
        for handle in handles:
            os.close(handle)
        _reap()


def _child(parent: socket.socket, request: dict[str, object], handles: list[int]) -> NoReturn:
    try:
        parent.close()
        policy = SandboxPolicy.from_dict(request["policy"])  # type: ignore[arg-type]
        role = str(request["role"])
        supervise(Handles(*handles), policy, lambda *inner: _inside(role, inner, policy))
    finally:
        os._exit(1)


def _inside(role: str, handles: tuple[int, int, int], policy: SandboxPolicy) -> NoReturn:
    from fictl.judge.inside import roles

    _become(policy.environment)
    for stream in (sys.stdout, sys.stderr):  # It may end without a flush.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(line_buffering=True)
    channel, post, orders = handles
    roles.run(role, Channel(channel), post, orders)


def _become(environment: dict[str, str]) -> None:
    own = os.environ  # Handed on whole, as to a program that is started.
    own.clear()
    own.update(environment)
    tempfile.tempdir = None
    with suppress(KeyError, OSError):
        os.chdir(environment["HOME"])


def _reap() -> None:
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
