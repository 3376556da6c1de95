"""Parent of a sandboxed process: reports its exit status and kills all its descendants."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import struct
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from fictl.child.family import Member, descendants, end_descendants
from fictl.judge.process.scheduled import waited
from fictl.judge.sandbox import kernel
from fictl.judge.sandbox.policy import SandboxPolicy

SURVEY, HOLD, RELEASE, ENDED = "survey", "hold", "release", "ended"
STOP, GO_ON = "stop", "go on"
Inside = Callable[[int, int, int], NoReturn]
# The anteroom, the first process of the namespace, and the sandboxed process itself.
_LEADING = 3
_known: dict[int, int] = {}
_SIGNALS = {"catches": "SigCgt", "ignores": "SigIgn", "blocks": "SigBlk"}
_STATUS = struct.Struct("i")
# Values beside signals and exit codes: the sandboxed code has started, or it never ran.
_BEGAN, NEVER_BEGAN = 1 << 16, 1 << 17
_FAILED = 120
_KILLED = -signal.SIGKILL
# A thread stops when it leaves the kernel: a driver's call, as one that makes a context, ends before.
STOP_SECONDS, _LOOK_SECONDS = 5.0, 0.001


@dataclass(frozen=True)
class Handles:
    """File descriptors. The judge and the referee ask the supervisor by `control` and `watch`; the
    others are for the sandboxed process: it orders builds by `orders`.
    """

    control: int
    channel: int
    log: int
    post: int
    watch: int
    orders: int

    @property
    def inner(self) -> tuple[int, ...]:
        """Those of the sandboxed process."""
        return (self.channel, self.log, self.post, self.orders)


def supervise(handles: Handles, policy: SandboxPolicy, inside: Inside) -> NoReturn:
    """Start `inside(channel, post, orders)` under `policy`, answer questions, and end all descendants."""
    os.setsid()
    kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)
    kernel.prctl(kernel.PR_SET_DUMPABLE, 0)
    read, write = os.pipe()
    if os.fork() == 0:
        for handle in (read, handles.control, handles.watch):
            os.close(handle)
        _guarded(handles.log, lambda: _anteroom(handles, write, policy, inside))
    for handle in (*handles.inner, write):
        os.close(handle)
    control, watch = (socket.socket(fileno=h) for h in (handles.control, handles.watch))
    with suppress(OSError):
        _serve(control, watch, read)
    end_descendants()
    # The judge waits for that alone: the memory of this fork takes its time to go.
    for end in (watch, control):
        end.close()
    os._exit(0)


def _serve(control: socket.socket, watch: socket.socket, status: int) -> None:
    watched: list[Any] = [control, watch, status]
    otherwise = NEVER_BEGAN
    while True:
        ready = select.select(watched, [], [])[0]
        if watch in ready and not _answer(watch):
            watched.remove(watch)
        if status in ready:
            data = os.read(status, _STATUS.size)
            code = _STATUS.unpack(data)[0] if len(data) == _STATUS.size else otherwise
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
    """Tell the referee how long the process has waited for a CPU. Returns False when it
    has gone.
    """
    with suppress(OSError):
        if watch.recv(1 << 16):
            watch.send(json.dumps({"waited": waited(_judged(os.getpid()))}).encode())
            return True
    return False


def _judged(root: int, family: Sequence[Member] = ()) -> int:
    """Process id of the sandboxed process, found once, in its `family` if that is known; 0 before it
    exists.
    """
    if root not in _known and (below := (family or descendants(root))[_LEADING - 1 :]):
        _known[root] = below[0].pid
    return _known.get(root, 0)


def _anteroom(handles: Handles, status: int, policy: SandboxPolicy, inside: Inside) -> NoReturn:
    """Enter the namespaces: only a child of this process is inside the new pid namespace."""
    _die_with_parent()
    policy.unshare()
    first = os.fork()
    if first == 0:
        _guarded(handles.log, lambda: _first(handles, status, policy, inside))
    for handle in (*handles.inner, status):
        os.close(handle)
    os.waitpid(first, 0)
    os._exit(0)


def _first(handles: Handles, status: int, policy: SandboxPolicy, inside: Inside) -> NoReturn:
    """Run as the first process of the namespace: when it ends, the kernel ends all others."""
    _die_with_parent()
    policy.first()
    kernel.prctl(kernel.PR_SET_DUMPABLE, 0)
    heard, begins = os.pipe()
    judged = os.fork()
    if judged == 0:
        os.close(status)
        _guarded(handles.log, lambda: _inside(handles, begins, policy, inside))
    for handle in (*handles.inner, begins):
        os.close(handle)
    if not os.read(heard, 1):  # It ended before its sandbox was complete.
        os._exit(_FAILED)
    os.write(status, _STATUS.pack(_BEGAN))
    while True:
        pid, code = os.wait()
        if pid == judged:
            os.write(status, _STATUS.pack(os.waitstatus_to_exitcode(code)))
            _wait_for_supervisor()


def _wait_for_supervisor() -> NoReturn:
    """Stay until killed: processes left running must be found before they are killed."""
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
    _close_all_but({0, 1, 2, handles.channel, handles.post, handles.orders, begins})
    policy.apply()
    os.write(begins, b"1")
    os.close(begins)
    inside(handles.channel, handles.post, handles.orders)


def _close_all_but(kept: set[int]) -> None:
    for handle in {int(entry.name) for entry in Path("/proc/self/fd").iterdir()} - kept:
        with suppress(OSError):
            os.close(handle)


def _die_with_parent() -> None:
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)


def _guarded(log: int, step: Callable[[], NoReturn]) -> NoReturn:
    """Run `step` in a forked child, and never return into the parent's code."""
    try:
        step()
    except BaseException as error:
        message = f"the judge's sandbox failed: {error!r}\n".encode()
        for handle in (log, 2):  # The innermost process has only the second one open.
            with suppress(OSError):
                os.write(handle, message)
                break
    finally:
        os._exit(_FAILED)


def survey(root: int) -> dict[str, Any]:
    """Processes that the sandboxed process left running, and its signal masks as bits.

    The three processes between supervisor and sandbox are not counted.
    """
    family = descendants(root)
    left = [_name(process.pid) for process in family[_LEADING:]]
    return {"left": left, "signals": _signals(_judged(root, family))}


def _hold(root: int) -> dict[str, Any]:
    """Stop the sandboxed process and all its descendants until they are released."""
    return _signal(root, signal.SIGSTOP)


def _release(root: int) -> dict[str, Any]:
    return _signal(root, signal.SIGCONT)


def stop(root: int) -> dict[str, Any]:
    """Stop all below, whatever they are doing, and wait until no thread runs; `stopped` tells whether
    that was in time. Some may be forking: nothing is new once all have been stopped.
    """
    patience, stopped = time.monotonic() + STOP_SECONDS, set[Member]()
    while left := [process for process in descendants(root) if process not in stopped]:
        if time.monotonic() > patience:
            return {"stopped": False}
        for process in left:
            process.signal(signal.SIGSTOP)
        time.sleep(_LOOK_SECONDS)
        stopped |= {process for process in left if process.is_stopped()}
    return {"stopped": True}


def go_on(root: int) -> dict[str, Any]:
    """Let all below go on that `stop` has stopped."""
    return _signal(root, signal.SIGCONT, 0)


def _signal(root: int, number: signal.Signals, first: int = _LEADING - 1) -> dict[str, Any]:
    for process in descendants(root)[first:]:
        process.signal(number)
    return {}


def _signals(pid: int) -> dict[str, int]:
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return {}
    fields = dict(line.split(":\t", 1) for line in lines.splitlines() if ":\t" in line)
    return {word: int(fields[name], 16) for word, name in _SIGNALS.items() if name in fields}


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


_STEPS = {SURVEY: survey, HOLD: _hold, RELEASE: _release, STOP: stop, GO_ON: go_on}
