"""Results of benchmarks: the environment and the rows, as a file."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from fictl.bench.row import FAILED, WRONG, Row
from fictl.errors import UsageError, unreadable
from fictl.paths import write_atomic
from fictl.user_file import read_text

SCHEMA = "fictl.bench/1"


@dataclass(frozen=True)
class Environment:
    """Machine and versions of a result.

    before, after: states of the GPU (fictl.timing.gpu_state); None without a GPU.
    ceilings: bytes/s and FLOP/s, measured in the same run.
    sources: the commit of each project that was measured, with `+` if its files differ from it.
    gpus: those of several ranks, and the slowest link between two of them, as `GPUs 0, 1 (NV18)`.
    ranks: states of the GPUs of several ranks, after the run.
    warnings: text for readers.
    """

    device: str
    timestamp: str
    fictl: str
    commit: str
    python: str
    torch: str = ""
    cuda: str = ""
    before: Mapping[str, Any] | None = None
    after: Mapping[str, Any] | None = None
    ceilings: Mapping[str, float] | None = None
    sources: Mapping[str, str] = field(default_factory=dict)
    gpus: str = ""
    ranks: tuple[Mapping[str, Any] | None, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def gpu(self) -> str:
        """NVIDIA's name of the GPU; '' on the emulated device."""
        return str((self.before or {}).get("name", ""))

    @property
    def sm_mhz(self) -> int | None:
        """Return the clock of the SMs after the run, when they were busy."""
        return (self.after or self.before or {}).get("sm_mhz")

    @property
    def clocks(self) -> dict[str, Any]:
        """Return the calibration of the place: its clocks under load, what slowed it down, and the
        rates that it reached in the same run.
        """
        state = self.after or self.before or {}
        names = ("sm_mhz", "max_sm_mhz", "mem_mhz", "throttled")
        return {**{name: state.get(name) for name in names}, "ceilings": self.ceilings}


@dataclass(frozen=True)
class BenchReport:
    """The result of one run of `fictl bench`."""

    environment: Environment
    rows: tuple[Row, ...]

    @property
    def exit_code(self) -> int:
        """Return 1 if an op is wrong or failed, 3 if nothing could be timed, else 0."""
        if any(row.status in (WRONG, FAILED) and not row.is_baseline for row in self.rows):
            return 1
        return 0 if any(row.has_time for row in self.rows) else 3

    def to_dict(self) -> dict[str, Any]:
        rows = [row.to_dict() for row in self.rows]
        return {"schema": SCHEMA, "environment": asdict(self.environment), "rows": rows}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> BenchReport:
        from pydantic import TypeAdapter

        known = {entry.name for entry in fields(Environment)}
        values = {name: value for name, value in data["environment"].items() if name in known}
        environment: Environment = TypeAdapter(Environment).validate_python(values)
        return cls(environment, tuple(Row.from_dict(row) for row in data["rows"]))


def save(report: BenchReport, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, json.dumps(report.to_dict(), indent=1) + "\n")


def load(path: Path) -> BenchReport:
    """Load a file written by `save`, or the output of `fictl bench --json`."""
    try:
        document = json.loads(read_text(path))
    except OSError as error:
        raise unreadable(path, error, _WRITES) from error
    except RecursionError:
        raise UsageError(f"{path} is nested too deeply to be a result", _WRITES) from None
    except ValueError as error:
        raise UsageError(f"{path} cannot be read as a result: {error}", _WRITES) from error
    schema = document.get("schema") if isinstance(document, dict) else None
    if schema != SCHEMA:
        raise UsageError(f"{path} has the schema {schema!r}, not {SCHEMA!r}", _WRITES)
    try:
        return BenchReport.from_dict(document.get("data", document))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        first = str(error).replace("\n", ": ", 1).splitlines()[0]
        raise UsageError(f"{path} is not a whole result: {first}", _WRITES) from error


_WRITES = "fictl bench --out FILE writes one"


def joined(reports: Sequence[BenchReport]) -> BenchReport:
    """Join reports of one machine that were made one after another."""
    first, last = reports[0].environment, reports[-1].environment
    sources = {name: at for one in reports for name, at in one.environment.sources.items()}
    warnings = tuple(dict.fromkeys(w for report in reports for w in report.environment.warnings))
    return BenchReport(
        replace(first, after=last.after or first.after, sources=sources, warnings=warnings),
        tuple(row for report in reports for row in report.rows),
    )
