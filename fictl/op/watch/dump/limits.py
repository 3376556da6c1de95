"""Limits: which calls are dumped, and how much disk they may use."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from fictl import settings
from fictl.log import warn_once
from fictl.op.declared import Op

_GB = 10**9


@dataclass
class Limits:
    """Limits on the dumps of one process; each is reported once when it is reached."""

    count: int
    size: float
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    _dumped: int = 0
    _taken: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def from_settings(cls) -> Limits:
        return cls(
            settings.DUMP_MAX_COUNT.get(),
            settings.DUMP_MAX_SIZE_GB.get() * _GB,
            settings.DUMP_INCLUDE.get(),
            settings.DUMP_EXCLUDE.get(),
        )

    def wants(self, op: Op) -> bool:
        """Match an op by name, as in 'rms*', or by import path, as in 'my_kernels.ops.*'."""
        return not _matches(op, self.exclude) and (not self.include or _matches(op, self.include))

    def admit(self, size: int) -> bool:
        """Count one more call of `size` bytes; False if it must not be dumped."""
        with self._lock:
            if self._dumped >= self.count:
                return _full(f"{self.count} calls", settings.DUMP_MAX_COUNT.name)
            if not self._fits(size):
                return False
            self._dumped += 1
            self._taken += size
            return True

    def grow(self, size: int) -> bool:
        """Add `size` bytes to a dumped call; False if the limit is exceeded."""
        with self._lock:
            if not self._fits(size):
                return False
            self._taken += size
            return True

    def _fits(self, size: int) -> bool:
        if self._taken + size <= self.size:
            return True
        return _full(f"{self.size / _GB:g} GB", settings.DUMP_MAX_SIZE_GB.name)


def _matches(op: Op, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns for name in (op.name, op.api))


def _full(limit: str, variable: str) -> bool:
    warn_once(f"calls beyond {limit} are not dumped: {variable}")
    return False
