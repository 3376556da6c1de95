"""What a run of tests came to: the outcomes, counted, and the exit code that follows from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from fictl.report.outcome import FAILED, OUT_OF_MEMORY, PASSED, SKIPPED, Outcome


@dataclass(frozen=True)
class TestReport:
    """Every test once, and what they ran on."""

    __test__ = False  # The name is right, and pytest must not collect it.

    tests: tuple[Outcome, ...] = ()
    seconds: float = 0.0
    device: str = "cuda"
    schedules: tuple[str, ...] = ()

    @cached_property
    def passed(self) -> int:
        return len(self._those(PASSED))

    @cached_property
    def failed(self) -> tuple[Outcome, ...]:
        return self._those(FAILED)

    @property
    def run(self) -> int:
        """How many came to an end of their own, good or bad."""
        return self.passed + len(self.failed) + len(self.out_of_memory)

    @cached_property
    def out_of_memory(self) -> tuple[Outcome, ...]:
        return self._those(OUT_OF_MEMORY)

    @cached_property
    def skipped(self) -> dict[str, int]:
        """How many for each reason."""
        return dict(Counter(each.reason for each in self._those(SKIPPED)))

    @property
    def exit_code(self) -> int:
        """1 if a test failed; 3 if this machine could run none, or not all for want of memory."""
        if self.failed:
            return 1
        return 0 if self.passed and not self.out_of_memory else 3

    def to_dict(self) -> dict[str, Any]:
        return {
            "passed": self.passed,
            "failed": [each.test for each in self.failed],
            "out_of_memory": [each.test for each in self.out_of_memory],
            "skipped": self.skipped,
            "seconds": round(self.seconds, 2),
            "device": self.device,
            "schedules": list(self.schedules),
            "tests": [each.to_dict() for each in self.tests],
        }

    def _those(self, outcome: str) -> tuple[Outcome, ...]:
        return tuple(each for each in self.tests if each.outcome == outcome)


def merge(reports: Iterable[TestReport], seconds: float) -> TestReport:
    """Those of processes that ran at the same time."""
    reports = tuple(reports)
    tests = tuple(each for report in reports for each in report.tests)
    device = next((report.device for report in reports), "cuda")
    schedules = tuple(dict.fromkeys(name for report in reports for name in report.schedules))
    return TestReport(tests, seconds, device, schedules)
