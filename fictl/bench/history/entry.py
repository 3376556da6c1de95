"""One line of a history: the rows of an op at a commit, on one machine."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, fields, replace
from typing import Any

from fictl.bench.result import BenchReport
from fictl.bench.row import Row
from fictl.errors import UsageError
from fictl.printable import printable
from fictl.project.commit import Commit

SCHEMA = "fictl.history.entry/1"
# Enough for the interval of a median, and few enough for a line that git keeps.
_MOST_SAMPLES = 60
_STATE = ("name", "driver", "sm_mhz", "max_sm_mhz", "throttled")
_SHA = re.compile(r"[0-9a-f]{7,64}")


@dataclass(frozen=True)
class HistoryEntry:
    """The result of one run of `fictl bench` for one op, at a commit of its project."""

    commit: Commit
    report: BenchReport

    @classmethod
    def of(cls, commit: Commit, report: BenchReport, op: str) -> HistoryEntry:
        """Keep the rows of an op without what no verdict needs."""
        rows = tuple(_thinned(row) for row in report.rows if row.op == op and not row.is_baseline)
        old = report.environment
        environment = replace(
            old, before=_state(old.before), after=_state(old.after), ceilings=None, ranks=()
        )
        return cls(commit, BenchReport(environment, rows))

    def to_line(self) -> str:
        """Write one line of JSON, without the fields of rows that have their usual values."""
        document = {
            "schema": SCHEMA,
            "commit": asdict(self.commit),
            "environment": asdict(self.report.environment),
            "rows": [_compact(row) for row in self.report.rows],
        }
        return json.dumps(document, ensure_ascii=False, sort_keys=True) + "\n"

    @classmethod
    def from_line(cls, line: str, where: str) -> HistoryEntry:
        """Read a line; `where` is its place, for errors."""
        try:
            document = json.loads(line)
            _require_schema(document["schema"])
            return cls(_commit(document["commit"]), BenchReport.from_dict(document))
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
            first = printable(str(error).partition("\n")[0])
            raise UsageError(
                f"{where} is not an entry of a history: {first}",
                "remove the line; fictl history --add writes them",
            ) from error


def _require_schema(schema: object) -> None:
    if schema != SCHEMA:
        raise ValueError(f"its schema is {schema!r}, not {SCHEMA!r}")


def _commit(data: Mapping[str, Any]) -> Commit:
    from datetime import datetime

    sha, time, subject = (data[name] for name in ("sha", "time", "subject"))
    if not (isinstance(sha, str) and _SHA.fullmatch(sha)):
        raise ValueError(f"{sha!r} is not a commit")
    if datetime.fromisoformat(time).tzinfo is None:
        raise ValueError(f"the time {time!r} has no zone")
    return Commit(sha, time, printable(str(subject), "")[:80])


def _state(state: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return None if state is None else {name: state[name] for name in _STATE if name in state}


def _thinned(row: Row) -> Row:
    """Leave samples of equal distance, to 0.1 ns: the noise is theirs, the interval a bit wider."""
    step = -(-len(row.samples) // _MOST_SAMPLES) or 1
    samples = tuple(round(sample, 10) for sample in row.samples[::step])
    return replace(row, samples=samples, kernels=())


def _compact(row: Row) -> dict[str, Any]:
    defaults = {
        field.name: field.default if field.default_factory is MISSING else field.default_factory()
        for field in fields(Row)
    }
    return {name: value for name, value in asdict(row).items() if value != defaults[name]}
