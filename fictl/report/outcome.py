"""Outcome of one test, and the command that would run it where it was skipped."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import Any

PASSED, FAILED, SKIPPED, OUT_OF_MEMORY = "passed", "failed", "skipped", "out of memory"
# From best to worst: a test that several ranks run has the worst of their outcomes.
_WORSE = (PASSED, SKIPPED, OUT_OF_MEMORY, FAILED)

_REMEDIES = (
    (r"needs a GPU", "fictl test {ops} --device cuda, on a machine with one"),
    (r"needs nvcc", "install one; fictl doctor says how"),
    (r"needs (\d+) ranks", "fictl test {ops} --gpus {0}"),
    (r"needs (\d+) GPUs", "fictl test {ops} --gpus {0}, on a machine with as many"),
    (r"needs ([^,]+), the", "fictl test {ops} --device cuda, on a GPU of {0}"),
    (r"too large for the emulated", "fictl test {ops} --device cuda, on a machine with a GPU"),
    (r".* does not run on the emulated device", "fictl test {ops} --device cuda, on a GPU"),
)


@dataclass(frozen=True)
class TestOutcome:
    """End of one test: `reason` is one line on why it did not pass, `command` repeats it."""

    __test__ = False  # The name is right, and pytest must not collect it.

    test: str
    outcome: str
    seconds: float = 0.0
    reason: str = ""
    command: str = ""

    def worse(self, other: TestOutcome | None) -> TestOutcome:
        """Return the worse of two outcomes of one test, which is the one to report."""
        if other is None or _WORSE.index(self.outcome) > _WORSE.index(other.outcome):
            return self
        return other

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "seconds": round(self.seconds, 3)}


def remedy(reason: str, ops: str) -> str:
    """Command that would run the tests of `ops` that were skipped for `reason`; '' if unknown."""
    for pattern, text in _REMEDIES:
        match = re.match(pattern, reason)
        if match:
            return " ".join(text.format(*match.groups(), ops=ops).split())
    return ""
