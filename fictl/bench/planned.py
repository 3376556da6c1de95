"""Cases that a benchmark would time, for --dry-run; it uses no GPU and allocates no tensor."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from fictl.bench.options import BenchOptions
from fictl.bench.worker.op_worker import of_folder
from fictl.bench.worker.ranks.ranked import ranked
from fictl.case.selection import functions
from fictl.case.traffic import moved
from fictl.project import OpFolder
from fictl.quantity import spell_size


@dataclass(frozen=True)
class Planned:
    """One case; `bytes` is None if it depends on the data."""

    op: str
    case: str
    sides: tuple[str, ...]
    bytes: int | None

    @property
    def spelled_bytes(self) -> str:
        return "by its data" if self.bytes is None else spell_size(self.bytes)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def planned(folder: OpFolder, ops: Collection[str], options: BenchOptions) -> Iterator[Planned]:
    names = functions(folder, ops)
    if options.gpus:
        work = [(r.subject, r.case, r.contenders) for r in ranked(folder, names, options)]
    else:
        work = [(s, c, tuple(sides)) for s, c, sides in of_folder(folder, names, options)]
    for subject, case, contenders in work:
        size = None if subject.template.bytes else moved(subject, case)
        yield Planned(
            subject.op, str(case), tuple(contender.name for contender in contenders), size
        )
