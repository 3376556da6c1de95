"""The files that `fictl bench` writes beside what it prints."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fictl.bench.result import BenchReport
    from fictl.project import OpFolder


@dataclass(frozen=True)
class BenchOutputs:
    """One for each option; None where it was not asked for. `save` keeps the project's baseline."""

    save: bool
    out: Path | None
    csv: Path | None
    jsonl: Path | None
    plot: Path | None

    @classmethod
    def of(cls, flags: Mapping[str, Any]) -> BenchOutputs:
        """Read the command's parameters, given by name; a plot of an unknown kind is refused."""
        if flags["plot"] is not None:
            from fictl.bench.plot.draw import require_kind

            require_kind(flags["plot"])
        return cls(*(flags[name] for name in ("save", "out", "csv", "jsonl", "plot")))

    def write(self, report: BenchReport, folders: Sequence[OpFolder]) -> list[Path]:
        """Write them all, and return where they are."""
        return [
            *self._stored(report, folders),
            *self._exported(report),
            *self._drawn(report, folders),
        ]

    def _stored(self, report: BenchReport, folders: Iterable[OpFolder]) -> list[Path]:
        from fictl.bench import stored

        return [*stored.store(report, tuple(dict.fromkeys(folders)))] if self.save else []

    def _exported(self, report: BenchReport) -> Iterator[Path]:
        from fictl.bench import export, result

        writers = (
            (result.save, self.out),
            (export.write_csv, self.csv),
            (export.write_jsonl, self.jsonl),
        )
        for write, path in writers:
            if path is not None:
                write(report, path)
                yield path

    def _drawn(self, report: BenchReport, folders: Sequence[OpFolder]) -> Iterator[Path]:
        if self.plot is not None:
            from fictl.bench.plot.draw import draw

            yield draw(report, self.plot, folders)
