"""Benchmark of one .cu file, in a process that it may crash: see fictl.bench.bench_ops."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

from fictl.bench.messages import FileRequest
from fictl.bench.worker.respond import Work, respond
from fictl.bench.worker.source_file import source_subjects
from fictl.case.contender import own
from fictl.child.program import request_in


def main(arguments: Sequence[str]) -> int:
    return respond(request_in(arguments, FileRequest), _work)


def _work(request: FileRequest) -> Iterator[Work]:
    for subject, case in source_subjects(request.file, request.values):
        yield subject, case, [own(subject)]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
