"""Starts sandboxed processes: one zygote for this process, forked for each sandboxed one."""

from __future__ import annotations

import atexit
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from fictl.errors import SetupError
from fictl.judge.process.environment import environment
from fictl.judge.process.sandboxed_process import Ends, SandboxedProcess
from fictl.judge.process.scratch import make_home
from fictl.judge.sandbox.limits import all_memory
from fictl.judge.sandbox.policy import SandboxPolicy, require
from fictl.paths import same_packages

_START_SECONDS, _END_SECONDS = 300.0, 5.0
# Kinds of a process's sockets: control (supervisor), requests, turns, the referee's questions, and
# orders.
_KINDS = (
    socket.SOCK_SEQPACKET,
    socket.SOCK_STREAM,
    socket.SOCK_SEQPACKET,
    socket.SOCK_SEQPACKET,
    socket.SOCK_SEQPACKET,
)
_lock = threading.Lock()
_zygotes: dict[int, Zygote] = {}


class Zygote:
    """The judge's side of a zygote: its process and the socket for requests."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with _closed_on_failure(self._socket), theirs, tempfile.TemporaryFile() as output:
            self._popen = subprocess.Popen(
                [sys.executable, "-m", "fictl.judge.process.zygote", str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                pass_fds=[theirs.fileno()],
                env={**environment(), **same_packages()},
                start_new_session=True,
            )
            theirs.close()
            self.policy = self._greeted(output)

    def _greeted(self, output: object) -> SandboxPolicy:
        self._socket.settimeout(_START_SECONDS)
        try:
            hello = self._socket.recv(1 << 16)
        except OSError:
            hello = b""
        if not hello:
            self._popen.kill()
            self._popen.wait()
            output.seek(0)  # type: ignore[attr-defined]
            last = output.read().decode("utf-8", "replace").strip()  # type: ignore[attr-defined]
            raise SetupError(
                "the process that starts sandboxes (the zygote) does not start",
                last[-2000:] or "it printed nothing: fictl doctor checks this Python",
            )
        return SandboxPolicy.from_dict(json.loads(hello)["policy"])

    @property
    def is_alive(self) -> bool:
        return self._popen.poll() is None

    def close(self) -> None:
        """Close the socket; the zygote then ends."""
        self._socket.close()
        with suppress(subprocess.TimeoutExpired):
            self._popen.wait(_END_SECONDS)

    def sandboxed(self, role: str, policy: SandboxPolicy) -> SandboxedProcess:
        """Start a process in this role, restricted by `policy`."""
        request = json.dumps({"role": role, "policy": policy.to_dict()}).encode()
        with ExitStack() as ours, ExitStack() as theirs:
            pairs = []
            for kind in _KINDS:
                pair = socket.socketpair(socket.AF_UNIX, kind)
                pairs.append((ours.enter_context(pair[0]), theirs.enter_context(pair[1])))
            log, log_end = os.pipe()
            ours.callback(os.close, log)
            theirs.callback(os.close, log_end)
            control, channel, *others = (theirs_end.fileno() for _, theirs_end in pairs)
            with _lock:
                socket.send_fds(self._socket, [request], [control, channel, log_end, *others])
            ours.pop_all()
        return SandboxedProcess(Ends(*(our_end for our_end, _ in pairs)), log, policy.label)


@contextmanager
def _closed_on_failure(ours: socket.socket) -> Iterator[None]:
    try:
        yield
    except BaseException:
        ours.close()
        raise


def zygote() -> Zygote:
    """Return the zygote of this process, starting it if needed; a fork of this process starts its
    own.
    """
    if sys.platform != "linux":
        raise SetupError(f"solutions are judged on Linux, and this is {sys.platform}")
    with _lock:
        known = _zygotes.get(os.getpid())
        if known is None or not known.is_alive:
            _zygotes.clear()
            known = _zygotes[os.getpid()] = Zygote()
            atexit.register(known.close)
        return known


def start(
    role: str,
    folder: Path,
    *,
    also: tuple[Path, ...] = (),
    shown: tuple[Path, ...] = (),
    hidden: tuple[Path, ...] = (),
    device: str,
    gpu: int | None,
    untrusted: bool = False,
) -> SandboxedProcess:
    """Start a sandboxed process that may write only below `folder` and `also`.

    It cannot read anything below `hidden`, except for `shown`.
    """
    parent = zygote()
    make_home(folder)
    if untrusted:
        require(parent.policy)
    writable = tuple(str(path.resolve()) for path in (folder, *also))
    policy = replace(
        parent.policy,
        writable=writable,
        shown=tuple(str(path.resolve()) for path in shown),
        hidden=tuple(str(path.resolve()) for path in hidden),
        memory=None if device == "cuda" else all_memory(),
        environment=environment(folder.resolve(), device, gpu),
        processes=_processes(parent.policy, device),
    )
    return parent.sandboxed(role, policy)


def _processes(policy: SandboxPolicy, device: str) -> str:
    """Leave out a pid namespace without its own /proc: CUDA looks up its own process there."""
    return "" if device == "cuda" and policy.processes == "pidns" else policy.processes
