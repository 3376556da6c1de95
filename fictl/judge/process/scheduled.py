"""Times that the kernel's scheduler reports: when threads ran, and how long they waited
for a CPU.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_NS = 1e-9


@dataclass(frozen=True)
class Scheduled:
    """Seconds of CPU time and of waiting for a CPU; `wanting` has the threads that are runnable."""

    ran: float
    waited: float
    wanting: dict[str, float]

    @classmethod
    def now(cls, pid: int | str = "self") -> Scheduled:
        """Read the times of all threads; zeros if the kernel does not report them."""
        ran, waited, wanting = 0.0, 0.0, {}
        with suppress(OSError):
            for task in Path(f"/proc/{pid}/task").iterdir():
                with suppress(OSError, ValueError, IndexError):  # It may have ended by now.
                    on, off = (int(word) * _NS for word in _words(task / "schedstat")[:2])
                    ran, waited = ran + on, waited + off
                    if _words(task / "stat", after=")")[0] == "R":
                        wanting[task.name] = on
        return cls(ran, waited, wanting)

    def had_its_chance(self, before: Scheduled) -> bool:
        """Tell whether every thread that was runnable at `before` has run since."""
        return all(
            before.wanting[task] < on for task, on in self.wanting.items() if task in before.wanting
        )


def waited(pid: int) -> float:
    """Seconds that the threads of a process have waited for a CPU."""
    seconds = 0.0
    with suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208  # it is asked around each turn
            seconds += _waited(f"/proc/{pid}/task/{task}/schedstat")
    return seconds


def waited_here() -> float:
    """Seconds that this thread has waited for a CPU."""
    return _waited("/proc/thread-self/schedstat")


def _waited(path: str) -> float:
    with suppress(OSError, ValueError, IndexError):  # It may have ended by now.
        return int(_words(Path(path))[1]) * _NS
    return 0.0


def _words(path: Path, after: str = "") -> list[str]:
    text = path.read_text(encoding="ascii", errors="replace")
    return (text.rpartition(after)[2] if after else text).split()
