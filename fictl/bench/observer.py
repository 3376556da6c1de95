"""BenchObserver: the progress of a benchmark, which the command line shows."""

from __future__ import annotations

from fictl.bench.row import Row


class BenchObserver:
    """Observer that ignores all progress: the default."""

    def cases(self, op: str, count: int) -> None:
        """Receive the number of cases of an op that follow."""

    def case(self, name: str) -> None:
        """Receive the name of a case that begins."""

    def round(self, number: int) -> None:
        """Receive the number of rounds of the case timed so far."""

    def row(self, row: Row) -> None:
        """Receive the finished row of one side."""

    def line(self, text: str) -> None:
        """Receive other output of the op's process: a build, a warning."""
