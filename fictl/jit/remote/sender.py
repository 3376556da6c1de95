"""Sending of own builds in the background: never in the way, and a failure is one warning."""

from __future__ import annotations

import atexit
import os
import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path

from fictl.errors import FictlError
from fictl.jit.remote import remotes
from fictl.jit.remote.bucket import BadAnswer, RemoteFailed
from fictl.jit.remote.mark import require_ours
from fictl.jit.remote.push import key_for, push
from fictl.jit.remote.remote import Remote
from fictl.jit.remote.send_entry import send, unsendable
from fictl.jit.remote.vouched import Vouched
from fictl.jit.store.entry import Entry, Unusable
from fictl.jit.store.use import keeping
from fictl.log import logger, warn_once
from fictl.trust.keys_file import trusted_keys

JOIN_SECONDS = 10.0


def send_later(entry: Entry, base: Path) -> None:
    """Send a build that was just made to the nearest remote that can be written."""
    of_process().add(partial(_send, entry, base))


def copy_later(remote: Remote, entry: Entry, taken: Vouched) -> None:
    """Give a build, which a farther remote had, to a nearer one: with the signature that it has."""
    of_process().add(partial(_guarded, remote, partial(_copy, remote, entry, taken)))


@dataclass
class Sender:
    """One thread that sends; the process waits for it at its end, not longer than `JOIN_SECONDS`."""

    jobs: queue.SimpleQueue[Callable[[], None]] = field(default_factory=queue.SimpleQueue)
    left: int = 0
    pid: int = field(default_factory=os.getpid)
    idle: threading.Condition = field(default_factory=threading.Condition)

    def start(self) -> None:
        threading.Thread(target=self._run, name="fictl sender", daemon=True).start()
        atexit.register(self.join)

    def add(self, job: Callable[[], None]) -> None:
        with self.idle:
            self.left += 1
        self.jobs.put(job)

    def join(self, seconds: float = JOIN_SECONDS) -> bool:
        """Wait until all is sent; False if time ran out, which loses nothing but the sending."""
        if self.pid != os.getpid():
            return True  # A fork, where the thread is not.
        ends = time.monotonic() + seconds
        with self.idle:
            while self.left and (rest := ends - time.monotonic()) > 0:
                self.idle.wait(rest)
            left = self.left
        if left:
            warn_once(
                f"{left} builds were not sent in {seconds:.0f} s; fictl cache push sends them"
            )
        return not left

    def _run(self) -> None:
        while True:
            job = self.jobs.get()
            try:
                job()
            except Exception as error:
                warn_once(f"builds are not sent: {getattr(error, 'message', '') or error}")
            finally:
                with self.idle:
                    self.left -= 1
                    self.idle.notify_all()


def of_process() -> Sender:
    """Return the sender of this process."""
    return _of_process(os.getpid())


@cache
def _of_process(pid: int) -> Sender:
    """Start the sender of this process: a thread does not survive a fork."""
    sender = Sender()
    sender.start()
    return sender


def _send(entry: Entry, base: Path) -> None:
    if reason := unsendable(entry):
        logger().debug("%s is not sent: %s", entry.path, reason)
        return
    remote = _nearest_writable()
    if remote is None:
        warn_once("builds are not sent: no remote of FICTL_REMOTE can be written")
        return
    _guarded(remote, partial(_send_to, remote, entry, base))


def _send_to(remote: Remote, entry: Entry, base: Path) -> None:
    key = key_for(remote.bucket)
    require_ours(remote.bucket)
    send(remote.bucket, entry, base, key)


def _copy(remote: Remote, entry: Entry, taken: Vouched) -> None:
    if taken.signature or remote.bucket.is_own():
        require_ours(remote.bucket)
        with keeping(entry.path):
            push(remote.bucket, taken, entry.path, trusted_keys())


def _guarded(remote: Remote, action: Callable[[], object]) -> None:
    """Write to a remote, unless it is down; a failure is one warning."""
    if remote.breaker.reason():
        return  # It was said when it failed.
    try:
        action()
    except RemoteFailed as error:
        remote.breaker.trip(error)
        warn_once(f"builds are not sent: {error.message}")
    except (BadAnswer, Unusable, FictlError) as error:
        warn_once(f"builds are not sent to {remote.url}: {getattr(error, 'message', error)}")


def _nearest_writable() -> Remote | None:
    for url in remotes.urls():
        remote = Remote.at(url)
        if remote.bucket.writable:
            return remote
    return None
