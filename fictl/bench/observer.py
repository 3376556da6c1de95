"""BenchObserver: the progress of a benchmark, which the command line shows."""

from __future__ import annotations

from fictl.bench.row import Row


class BenchObserver:
    """Hears nothing of it: the default."""

    def cases(self, op: str, count: int) -> None:
        """So many cases of an op are next."""

    def case(self, name: str) -> None:
        """One of them begins."""

    def round(self, number: int) -> None:
        """So many rounds of it were timed."""

    def row(self, row: Row) -> None:
        """One side of it is done."""

    def line(self, text: str) -> None:
        """Something else that the process of the op says: a build, a warning."""
