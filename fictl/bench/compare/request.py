"""CompareRequest: A and B of `fictl compare A B` are results, git revisions, or sides of one run."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from fictl.bench.compare.sides import declared_backends
from fictl.case.contender import OURS
from fictl.errors import UsageError
from fictl.project.revision import WORKING_TREE, is_revision, project_of

RESULTS, REVISIONS, SIDES = "results", "revisions", "sides"


@dataclass(frozen=True)
class CompareRequest:
    """A and B of one kind."""

    kind: str
    a: str
    b: str


def understand(words: Sequence[str], ops: Sequence[str]) -> CompareRequest:
    """Classify A and B: as files, else backends, else revisions; other words may be baselines."""
    a, b = _two(words)
    if any(map(_is_result, (a, b))):
        for word in (a, b):
            if not os.path.isfile(word):
                raise UsageError(f"there is no result {word}", "fictl bench --out FILE writes one")
        return CompareRequest(RESULTS, a, b)
    kinds = {word: _kind(word, ops) for word in (a, b)}
    if SIDES in kinds.values() or (ops and REVISIONS not in kinds.values()):
        return CompareRequest(SIDES, a, b)
    for word, kind in kinds.items():
        if kind != REVISIONS:
            raise UsageError(f"{word!r} is not a result, a git revision or a backend", _HINT)
    return CompareRequest(REVISIONS, a, b)


_HINT = (
    "two results (old.json new.json), two revisions (HEAD~3..HEAD, or HEAD . for what lies here), "
    "or two sides (sm80 sm90 --op OP, fictl torch --op OP)"
)


def _two(words: Sequence[str]) -> tuple[str, str]:
    if len(words) == 1 and ".." in words[0] and not _is_result(words[0]):
        first, _, second = words[0].partition("..")
        return first or "HEAD", second or "HEAD"
    if len(words) != 2:
        raise UsageError(f"A and B are two, these are {len(words)}", _HINT)
    return words[0], words[1]


def _is_result(word: str) -> bool:
    return word.endswith(".json") or os.path.isfile(word)


def _kind(word: str, ops: Sequence[str]) -> str:
    if word == OURS or word in declared_backends(ops):
        return SIDES
    if word == WORKING_TREE or is_revision(word, project_of(ops).root):
        return REVISIONS
    return ""
