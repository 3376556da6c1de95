"""Result of a test run: the outcomes, their counts, and the exit code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from fictl.report.cause import causes
from fictl.report.outcome import FAILED, OUT_OF_MEMORY, PASSED, SKIPPED, TestOutcome


@dataclass(frozen=True)
class TestReport:
    """Outcomes of a test run, one for each test, and the device that they ran on.

    gpus: those of ranks, and the slowest link between two of them, as `GPUs 0, 1 (NV18)`.
    """

    __test__ = False  # The name is right, and pytest must not collect it.

    tests: tuple[TestOutcome, ...] = ()
    seconds: float = 0.0
    device: str = "cuda"
    schedules: tuple[str, ...] = ()
    gpus: str = ""

    @cached_property
    def passed(self) -> int:
        return len(self._with(PASSED))

    @cached_property
    def failed(self) -> tuple[TestOutcome, ...]:
        return self._with(FAILED)

    @property
    def run(self) -> int:
        """Number of tests that were not skipped."""
        return self.passed + len(self.failed) + len(self.out_of_memory)

    @cached_property
    def out_of_memory(self) -> tuple[TestOutcome, ...]:
        return self._with(OUT_OF_MEMORY)

    @cached_property
    def skipped(self) -> dict[str, int]:
        """Number of skipped tests for each reason."""
        return dict(Counter(test.reason for test in self._with(SKIPPED)))

    @property
    def exit_code(self) -> int:
        """1 if a test failed; 3 if this machine could run none, or not all for want of memory."""
        if self.failed:
            return 1
        return 0 if self.passed and not self.out_of_memory else 3

    def to_dict(self) -> dict[str, Any]:
        return {
            "passed": self.passed,
            "failed": [test.test for test in self.failed],
            "causes": [cause.to_dict() for cause in causes(self.failed)],
            "out_of_memory": [test.test for test in self.out_of_memory],
            "skipped": self.skipped,
            "seconds": round(self.seconds, 2),
            "device": self.device,
            "schedules": list(self.schedules),
            "gpus": self.gpus,
            "tests": [test.to_dict() for test in self.tests],
        }

    def _with(self, outcome: str) -> tuple[TestOutcome, ...]:
        return tuple(test for test in self.tests if test.outcome == outcome)


def merge(reports: Iterable[TestReport], seconds: float) -> TestReport:
    """Merge the reports of processes that ran at the same time."""
    reports = tuple(reports)
    tests = tuple(test for report in reports for test in report.tests)
    device = next((report.device for report in reports), "cuda")
    schedules = tuple(dict.fromkeys(name for report in reports for name in report.schedules))
    gpus = ", ".join(dict.fromkeys(report.gpus for report in reports if report.gpus))
    return TestReport(tests, seconds, device, schedules, gpus)
