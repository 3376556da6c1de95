"""Dispatch of `fictl compare A B` by what A and B are: results, revisions or sides."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fictl.bench.compare.outcome import CompareOutcome
from fictl.bench.compare.request import RESULTS, SIDES, understand
from fictl.bench.compare.results import compare_files
from fictl.bench.compare.revisions import compare_revisions
from fictl.bench.compare.sides import compare_sides
from fictl.bench.observer import BenchObserver
from fictl.bench.options import BenchOptions


def compare_two(
    words: Sequence[str],
    ops: Sequence[str],
    threshold: float,
    options: BenchOptions,
    observer: BenchObserver,
    force: bool = False,
) -> CompareOutcome:
    """Compare A and B. `force` accepts stored results of different conditions."""
    wanted = understand(words, ops)
    if wanted.kind == RESULTS:
        return compare_files(Path(wanted.a), Path(wanted.b), threshold, force)
    compare = compare_sides if wanted.kind == SIDES else compare_revisions
    return compare(ops, wanted.a, wanted.b, threshold, options, observer)
