"""Answers of `test` and `bench` from several places, put together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from fictl.bench.result import BenchReport, joined
from fictl.errors import FictlError, SetupError
from fictl.farm.spread.command_job import CommandResult, SpreadResults
from fictl.farm.spread.readable import readable
from fictl.quantity import counted
from fictl.report.outcome import TestOutcome
from fictl.report.test_report import TestReport, merge


@dataclass(frozen=True)
class PlacedBench:
    """The report of one place: rows of different places are never compared."""

    place: str
    report: BenchReport

    def to_dict(self) -> dict[str, Any]:
        document = self.report.to_dict()
        rows = [{**row, "place": self.place} for row in document["rows"]]
        return {"place": self.place, "environment": document["environment"], "rows": rows}


def benches(results: Sequence[CommandResult]) -> list[PlacedBench]:
    """Join the reports of each place, in the order in which places first appear."""
    by_place: dict[str, list[BenchReport]] = {}
    for result in results:
        if isinstance(result.data, dict):
            by_place.setdefault(result.place, []).append(_report(result))
    return [PlacedBench(place, joined(reports)) for place, reports in by_place.items()]


def tests(results: Sequence[CommandResult], seconds: float) -> TestReport:
    """Merge all outcomes; `reason` and `command` are those of the place."""
    reports = [_tests(result) for result in results if isinstance(result.data, dict)]
    return merge(reports, seconds)


def places_of_tests(results: Iterable[CommandResult]) -> dict[str, str]:
    """Return the place of each test."""
    return {
        str(test["test"]): result.place
        for result in results
        if isinstance(result.data, dict)
        for test in result.data["tests"]
    }


def errors_of(spread: SpreadResults) -> list[FictlError]:
    """Return the errors of jobs without an answer, and of those that nobody did."""
    errors = [result.error for result in spread.results if result.error and result.data is None]
    if spread.undone:
        names = ", ".join(job.name for job in spread.undone[:5])
        why = f": {spread.left_out[-1]}" if spread.left_out else ""
        text = f"{counted(len(spread.undone), 'op')} not done, as {names}{why}"
        errors.append(SetupError(text, "fictl farm check says what places lack"))
    return errors


def _report(result: CommandResult) -> BenchReport:
    with readable(result):
        return BenchReport.from_dict(result.data)


def _tests(result: CommandResult) -> TestReport:
    with readable(result):
        return _read_tests(result.data)


def _read_tests(data: dict[str, Any]) -> TestReport:
    tests = tuple(
        TestOutcome(
            str(test["test"]),
            str(test["outcome"]),
            float(test["seconds"]),
            str(test["reason"]),
            str(test["command"]),
        )
        for test in data["tests"]
    )
    return TestReport(tests, float(data["seconds"]), str(data["device"]), tuple(data["schedules"]))
