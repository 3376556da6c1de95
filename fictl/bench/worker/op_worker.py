"""Benchmark of one op, in a process that it may crash: see fictl.bench.bench_ops."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence

from fictl.bench.messages import BenchRequest, Warned
from fictl.bench.options import BenchOptions
from fictl.bench.worker.respond import Work, respond
from fictl.bench.worker.sides import contenders, missing_baselines
from fictl.case.contender import Contender
from fictl.case.ranks import declared_ranks
from fictl.case.selection import NoCase, selected_cases
from fictl.child.message import send
from fictl.child.program import request_in
from fictl.project import OpFolder


def of_folder(folder: OpFolder, names: Iterable[str], options: BenchOptions) -> Iterator[Work]:
    """Yield the cases of an op folder, each with its sides, our own first."""
    bench = folder.load("bench")
    sides: dict[str, list[Contender]] = {}
    for subject, case in selected_cases(folder, names, options):
        if subject.function not in sides:
            sides[subject.function] = contenders(folder, subject, options, bench)
        yield subject, case, sides[subject.function]


def main(arguments: Sequence[str]) -> int:
    return respond(request_in(arguments, BenchRequest), _work)


def _work(request: BenchRequest) -> Iterator[Work]:
    folder = OpFolder.of(request.op)
    for name in missing_baselines(folder, {*request.functions}, request.options):
        send(Warned(f"{folder} has no baseline {name!r}"))
    yield from of_folder(folder, _alone(folder, request.functions), request.options)


def _alone(folder: OpFolder, names: Iterable[str]) -> list[str]:
    """Return the functions that one process calls."""
    bench = folder.load("bench")
    own = [name for name in names if declared_ranks(bench, name) is None]
    if not own:
        raise NoCase(f"{folder} is called by several ranks", f"fictl bench {folder} --gpus 2")
    return own


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
