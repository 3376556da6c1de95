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
from fictl.timing.clocks import are_alike


@dataclass(frozen=True)
class PlacedBench:
    """The reports of one place: rows of different places are never compared."""

    place: str
    reports: tuple[BenchReport, ...]

    @property
    def report(self) -> BenchReport:
        return joined(self.reports)

    def to_dict(self) -> dict[str, Any]:
        """Give each row its place, and the clocks of the run that measured it."""
        rows = [
            {**row, "place": self.place, "clocks": report.environment.clocks}
            for report in self.reports
            for row in report.to_dict()["rows"]
        ]
        environment = self.report.to_dict()["environment"]
        return {"place": self.place, "environment": environment, "rows": rows}


def benches(results: Sequence[CommandResult]) -> list[PlacedBench]:
    """Join the reports of each place, in the order in which places first appear."""
    by_place: dict[str, list[BenchReport]] = {}
    for result in results:
        if isinstance(result.data, dict):
            by_place.setdefault(result.place, []).append(_report(result))
    return [PlacedBench(place, tuple(reports)) for place, reports in by_place.items()]


def differing_clocks(placed: Sequence[PlacedBench]) -> str:
    """Name places with one kind of GPU whose clocks differ; '' if there are none."""
    by_gpu: dict[str, dict[str, int]] = {}
    for one in placed:
        environment = one.report.environment
        if environment.gpu and environment.sm_mhz:
            by_gpu.setdefault(environment.gpu, {})[one.place] = environment.sm_mhz
    texts = [
        f"{gpu}: " + ", ".join(f"{place} at {clock} MHz" for place, clock in clocks.items())
        for gpu, clocks in by_gpu.items()
        if not are_alike(min(clocks.values()), max(clocks.values()))
    ]
    return "; ".join(texts)


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
    schedules = tuple(map(str, data["schedules"]))
    gpus = str(data.get("gpus", ""))
    return TestReport(tests, float(data["seconds"]), str(data["device"]), schedules, gpus)
