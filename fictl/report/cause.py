"""Failures that have one cause: the same test, whatever the schedule, the dtype and the sizes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from fictl.report.outcome import TestOutcome

# Numbers and types, which differ from case to case; a list of them counts as one.
_VARIES = re.compile(r"\b(?:b?float|u?int|bf|f)\d\w*|[-+]?\b(?:\d[\w.+-]*|nan|inf)")
_LISTED = re.compile(r"#(?:, #)*,?")


@dataclass(frozen=True)
class FailureCause:
    """Failed tests that say the same but for numbers and types; the first one stands for all."""

    tests: tuple[TestOutcome, ...]

    @property
    def first(self) -> TestOutcome:
        return self.tests[0]

    def to_dict(self) -> dict[str, Any]:
        return {
            "reason": self.first.reason,
            "command": self.first.command,
            "tests": [outcome.test for outcome in self.tests],
        }

    @property
    def others(self) -> int:
        return len(self.tests) - 1


def causes(failed: Iterable[TestOutcome]) -> tuple[FailureCause, ...]:
    """Group failed tests by cause, in their order."""
    groups: dict[tuple[str, ...], list[TestOutcome]] = {}
    for outcome in failed:
        groups.setdefault(_key(outcome), []).append(outcome)
    return tuple(FailureCause(tuple(group)) for group in groups.values())


def _key(outcome: TestOutcome) -> tuple[str, ...]:
    function = outcome.test.partition("[")[0]
    # `fictl test OP …`: generated tests of several ops have the same function.
    op = outcome.command.split()[2:3]
    words = _LISTED.sub("#", _VARIES.sub("#", outcome.reason))
    return (*op, outcome.outcome, function, words)
