"""Running the lines of `fictl bench`: all of them, and an error of one stops no other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fictl.cli._bench.outputs import BenchOutputs
from fictl.cli._bench.progress import BenchProgress
from fictl.cli._bench.request import BenchLine
from fictl.errors import FictlError, UsageError

if TYPE_CHECKING:
    from fictl.bench.result import BenchReport
    from fictl.gpu_lock.chosen import ChosenGpus
    from fictl.project import OpFolder


@dataclass(frozen=True)
class BenchOutcome:
    """The report of every line that could be measured, the errors of the others, files written."""

    report: BenchReport
    errors: Sequence[FictlError]
    written: Sequence[Path]

    @property
    def exit_code(self) -> int:
        return max([self.report.exit_code, *(error.exit_code for error in self.errors)])


def ranks_of(requests: Sequence[BenchLine]) -> int:
    """Return the number of ranks of all requests, as they use the same GPUs."""
    several = sorted({request.options.gpus for request in requests if request.options.gpus})
    if len(several) > 1:
        counts = " and ".join(map(str, several))
        raise UsageError(f"lines with --gpus {counts} in one list", "a list for each of them")
    return next(iter(several), 1)


def run(
    requests: Sequence[BenchLine],
    unread: Sequence[FictlError],
    outputs: BenchOutputs,
    quiet: bool,
    chosen: ChosenGpus,
) -> BenchOutcome:
    """Measure all requests; raises the first error where none can be measured.

    unread: the errors of lines that are not requests. chosen: the GPUs of their ranks.
    """
    from fictl.bench.result import joined

    reports: list[BenchReport] = []
    folders: list[OpFolder] = []
    errors = [*unread]
    with BenchProgress(quiet) as progress:
        for request in requests:
            try:
                reports.append(request.run(progress, chosen))
                folders += request.folders()
            except FictlError as error:
                errors.append(request.located(error))
    if not reports:
        raise errors[0]
    report = joined(reports)
    return BenchOutcome(report, errors, outputs.write(report, folders))
