"""The process between the zygote and what is judged: it says how that ended, and leaves nothing of it."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import struct
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from fictl.child.family import descendants, end_descendants
from fictl.judge.process.scheduled import waited
from fictl.judge.sandbox import kernel
from fictl.judge.sandbox.policy import SandboxPolicy

SURVEY, HOLD, RELEASE, ENDED = "survey", "hold", "release", "ended"
Inside = Callable[[int, int], NoReturn]
# The anteroom, the first of its namespace, and the judged process itself.
_LEADING = 3
_known: dict[int, int] = {}
_SIGNALS = {"catches": "SigCgt", "ignores": "SigIgn", "blocks": "SigBlk"}
_STATUS = struct.Struct("i")
# In place of a signal or an exit code: the judged code runs now, or it never did.
_BEGAN, NEVER_BEGAN = 1 << 16, 1 << 17
_FAILED = 120
_KILLED = -signal.SIGKILL


@dataclass(frozen=True)
class Handles:
    """`control` and `watch` are the supervisor's, by which the judge and the referee ask it; the others
    are for the judged process.
    """

    control: int
    channel: int
    log: int
    post: int
    watch: int


def supervise(handles: Handles, policy: SandboxPolicy, inside: Inside) -> NoReturn:
    """Start `inside(channel, post)` behind policy, answer who asks, and end all of it in time."""
    os.setsid()
    kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)
    kernel.prctl(kernel.PR_SET_DUMPABLE, 0)
    read, write = os.pipe()
    if os.fork() == 0:
        for handle in (read, handles.control, handles.watch):
            os.close(handle)
        _guarded(handles.log, lambda: _anteroom(handles, write, policy, inside))
    for handle in (handles.channel, handles.log, handles.post, write):
        os.close(handle)
    control, watch = (socket.socket(fileno=h) for h in (handles.control, handles.watch))
    with suppress(OSError):
        _serve(control, watch, read)
    end_descendants()
    os._exit(0)


def _serve(control: socket.socket, watch: socket.socket, status: int) -> None:
    watched: list[Any] = [control, watch, status]
    otherwise = NEVER_BEGAN
    while True:
        ready = select.select(watched, [], [])[0]
        if watch in ready and not _answer(watch):
            watched.remove(watch)
        if status in ready:
            said = os.read(status, _STATUS.size)
            code = _STATUS.unpack(said)[0] if len(said) == _STATUS.size else otherwise
            if code == _BEGAN:
                otherwise = _KILLED
                continue
            watched.remove(status)
            control.send(json.dumps({"kind": ENDED, "status": code}).encode())
        if control in ready:
            asked = control.recv(1 << 16).decode()
            if asked not in _STEPS:
                return
            control.send(json.dumps({"kind": asked, **_STEPS[asked](os.getpid())}).encode())


def _answer(watch: socket.socket) -> bool:
    """To the referee: how long the judged process has waited for a CPU. False when it has gone."""
    with suppress(OSError):
        if watch.recv(1 << 16):
            watch.send(json.dumps({"waited": waited(_judged(os.getpid()))}).encode())
            return True
    return False


def _judged(root: int) -> int:
    """It stays the same one: two others stand between. 0 while it is not there yet."""
    if root not in _known and (below := descendants(root)[_LEADING - 1 :]):
        _known[root] = below[0].pid
    return _known.get(root, 0)


def _anteroom(handles: Handles, status: int, policy: SandboxPolicy, inside: Inside) -> NoReturn:
    """A process id namespace holds the children of who made it."""
    _die_with_parent()
    policy.unshare()
    first = os.fork()
    if first == 0:
        _guarded(handles.log, lambda: _first(handles, status, policy, inside))
    for handle in (handles.channel, handles.log, handles.post, status):
        os.close(handle)
    os.waitpid(first, 0)
    os._exit(0)


def _first(handles: Handles, status: int, policy: SandboxPolicy, inside: Inside) -> NoReturn:
    """The first of its namespace: when it ends, the kernel ends all others."""
    _die_with_parent()
    policy.first()
    kernel.prctl(kernel.PR_SET_DUMPABLE, 0)
    heard, begins = os.pipe()
    judged = os.fork()
    if judged == 0:
        os.close(status)
        _guarded(handles.log, lambda: _inside(handles, begins, policy, inside))
    for handle in (handles.channel, handles.log, handles.post, begins):
        os.close(handle)
    if not os.read(heard, 1):  # It ended while its sandbox was built.
        os._exit(_FAILED)
    os.write(status, _STATUS.pack(_BEGAN))
    while True:
        pid, code = os.wait()
        if pid == judged:
            os.write(status, _STATUS.pack(os.waitstatus_to_exitcode(code)))
            _wait_for_supervisor()


def _wait_for_supervisor() -> NoReturn:
    """What the judged process left running is to be found before it is ended."""
    while True:
        with suppress(ChildProcessError):
            os.wait()
            continue
        time.sleep(0.05)


def _inside(handles: Handles, begins: int, policy: SandboxPolicy, inside: Inside) -> NoReturn:
    _die_with_parent()
    os.setsid()
    kernel.prctl(kernel.PR_SET_DUMPABLE, 1)
    null = os.open(os.devnull, os.O_RDWR)
    for target, handle in enumerate((null, handles.log, handles.log)):
        os.dup2(handle, target)
    _close_all_but({0, 1, 2, handles.channel, handles.post, begins})
    policy.apply()
    os.write(begins, b"1")
    os.close(begins)
    inside(handles.channel, handles.post)


def _close_all_but(kept: set[int]) -> None:
    for handle in {int(entry.name) for entry in Path("/proc/self/fd").iterdir()} - kept:
        with suppress(OSError):
            os.close(handle)


def _die_with_parent() -> None:
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)


def _guarded(log: int, step: Callable[[], NoReturn]) -> NoReturn:
    """A forked child never returns into what its parent was doing."""
    try:
        step()
    except BaseException as error:
        said = f"the judge's sandbox failed: {error!r}\n".encode()
        for handle in (log, 2):  # Of the two, the second is all that an inner one has left open.
            with suppress(OSError):
                os.write(handle, said)
                break
    finally:
        os._exit(_FAILED)


def survey(root: int) -> dict[str, Any]:
    """What the judged process started and has not ended: all but the three that lead to it. And
    the signals that it catches, ignores and blocks, as bits.
    """
    left = descendants(root)[_LEADING:]
    return {"left": [_name(process.pid) for process in left], "signals": _signals(_judged(root))}


def _hold(root: int) -> dict[str, Any]:
    """The judged process, and what it has started, take no CPU until they are released."""
    return _signal(root, signal.SIGSTOP)


def _release(root: int) -> dict[str, Any]:
    return _signal(root, signal.SIGCONT)


def _signal(root: int, number: signal.Signals) -> dict[str, Any]:
    for process in descendants(root)[_LEADING - 1 :]:
        process.signal(number)
    return {}


def _signals(pid: int) -> dict[str, int]:
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return {}
    said = dict(line.split(":\t", 1) for line in lines.splitlines() if ":\t" in line)
    return {word: int(said[name], 16) for word, name in _SIGNALS.items() if name in said}


def _name(pid: int) -> str:
    try:
        words = (
            Path(f"/proc/{pid}/cmdline")
            .read_bytes()
            .replace(b"\0", b" ")
            .decode("utf-8", "replace")
        )
    except OSError:
        words = ""
    return words.strip()[:200] or f"process {pid}"


_STEPS = {SURVEY: survey, HOLD: _hold, RELEASE: _release}
