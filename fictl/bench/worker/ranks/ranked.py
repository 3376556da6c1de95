"""Cases of a communication op for this many ranks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from fictl.bench.options import BenchOptions
from fictl.bench.worker.op_worker import of_folder
from fictl.case.contender import Contender
from fictl.case.ranks import Ranks, declared_ranks, for_ranks
from fictl.case.selection import NoCase
from fictl.case.subject import Subject
from fictl.case.traffic import tensor_bytes
from fictl.errors import UsageError
from fictl.project import OpFolder
from fictl.trace import Case


@dataclass(frozen=True)
class RankedCase:
    """A case with its sides; `message` is the bytes that the collective is about."""

    subject: Subject
    case: Case
    contenders: tuple[Contender, ...]
    declared: Ranks
    message: int


def ranked(folder: OpFolder, names: Iterable[str], options: BenchOptions) -> Iterator[RankedCase]:
    """Yield the cases of those functions that several ranks call together."""
    bench = folder.load("bench")
    declared = {name: declared_ranks(bench, name) for name in names}
    together = [name for name, entry in declared.items() if entry is not None]
    if not together:
        raise NoCase(
            f"{folder} is called by one process", "ranks() in its bench.py declares another"
        )
    for subject, case, contenders in of_folder(folder, together, options):
        own_ranks = declared[subject.function]
        assert own_ranks is not None
        own = for_ranks(case, own_ranks, options.gpus)
        message = _message(subject, own, own_ranks)
        yield RankedCase(subject, own, tuple(contenders), own_ranks, message)


def _message(subject: Subject, case: Case, declared: Ranks) -> int:
    read, written = tensor_bytes(subject, case)
    sizes = {**read, **written}
    if declared.of and declared.of not in sizes:
        raise UsageError(
            f"ranks(): {subject.function} has no tensor {declared.of!r}",
            f"it has {', '.join(sizes)}",
        )
    return sizes[declared.of] if declared.of else max(sizes.values(), default=0)
