"""Benchmark of one op in two revisions, in a process of its own: see revisions.py."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from fictl.bench.messages import RevisionsRequest
from fictl.bench.worker.respond import Work, respond
from fictl.case.contender import Contender, own
from fictl.case.selection import chosen
from fictl.case.subject import Call, Subject, of_function
from fictl.child.program import request_in
from fictl.project import OpFolder


def main(arguments: Sequence[str]) -> int:
    return respond(request_in(arguments, RevisionsRequest), work)


def work(request: RevisionsRequest) -> Iterator[Work]:
    """Yield the cases of the newer revision, which comes first and provides the reference."""
    folders = {label: OpFolder.of(op) for label, op in request.sides.items()}

    @cache
    def subjects(function: str) -> dict[str, Subject]:
        return {
            label: replace(of_function(folder, function, ""), op=request.op)
            for label, folder in folders.items()
        }

    newer = next(iter(folders.values()))
    for case in chosen(newer.cases(), request.functions, request.options):
        sides = subjects(case.function)
        yield next(iter(sides.values())), case, [_side(*side) for side in sides.items()]


def _side(label: str, subject: Subject) -> Contender:
    """Make a contender; it omits optional inputs without value, which a revision may not know."""

    def prepare(inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> tuple[Call, Call]:
        known = {n: v for n, v in inputs.items() if v is not None or n in subject.parameters}
        return own(subject).prepare(known, outputs)

    return Contender(label, prepare, takes_outputs=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
