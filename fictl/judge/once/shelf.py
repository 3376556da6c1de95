"""The shelf of a run: builds by the hashes of their orders. Only judges see it, never a solution."""

from __future__ import annotations

import fcntl
import json
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import BinaryIO

from fictl.errors import UsageError
from fictl.jit.store.lock import try_lock
from fictl.judge.fault import own_faults
from fictl.judge.process.order_desk import Delivery
from fictl.judge.process.scratch import scratch_root
from fictl.paths import matching
from fictl.removal import remove

_START, _USED, _MODULE, _ANSWER = "once-", ".used", "module.so", "delivery.json"
_OPEN = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC


class Shelf:
    """Shared by the workers of one run on one machine; the last one to leave removes it."""

    def __init__(self, run: str) -> None:
        if not re.fullmatch(r"[0-9a-f]{8,64}", run):
            raise UsageError(f"{run!r:.80} is not the name of a run")
        with own_faults("making a folder for builds"):
            self.folder = scratch_root() / f"{_START}{run}"
            if self.folder.is_symlink():
                raise UsageError(f"{self.folder} is a link", "remove it")
            self._used = _used(self.folder)
            for other in matching(scratch_root(), f"{_START}*"):
                _remove_if_unused(other)

    def find(self, key: str) -> Delivery | None:
        """Return what an order has come to; None before it has."""
        folder = self.folder / key
        try:
            words = json.loads((folder / _ANSWER).read_text(encoding="utf-8"))
        except OSError:
            return None
        return Delivery(folder / _MODULE if words.pop("module") else None, **words)

    def put(self, key: str, delivery: Delivery, module: BinaryIO | None = None) -> None:
        """Keep the end of a build; it is there as a whole or not at all."""
        fresh = self.folder / f".{key}.{secrets.token_hex(4)}"
        fresh.mkdir(mode=0o700)
        try:
            if module is not None:
                with (fresh / _MODULE).open("xb") as target:
                    shutil.copyfileobj(module, target)
            words = {**asdict(replace(delivery, module=None)), "module": module is not None}
            (fresh / _ANSWER).write_text(json.dumps(words), encoding="utf-8")
            with suppress(OSError):  # Somebody else was first.
                os.rename(fresh, self.folder / key)
        finally:
            remove(fresh)

    @contextmanager
    def claimed(self, key: str) -> Iterator[bool]:
        """Keep others from building it; yield False if one of them does."""
        handle = os.open(self.folder / f".{key}.lock", _OPEN, 0o600)
        try:
            yield try_lock(handle)
        finally:
            os.close(handle)

    def close(self) -> None:
        os.close(self._used)
        _remove_if_unused(self.folder)


def _used(folder: Path) -> int:
    """Make the folder, and hold the lock that says that it is used."""
    while True:
        folder.mkdir(mode=0o700, exist_ok=True)
        try:
            handle = os.open(folder / _USED, _OPEN, 0o600)
        except FileNotFoundError:
            continue
        fcntl.flock(handle, fcntl.LOCK_SH)
        with suppress(OSError):
            if os.path.samestat(os.fstat(handle), os.stat(folder / _USED)):
                return handle
        os.close(handle)  # It was removed by the one that used it last.


def _remove_if_unused(folder: Path) -> None:
    try:
        handle = os.open(folder / _USED, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if try_lock(handle):
            remove(folder)
    finally:
        os.close(handle)
