"""Cases of an op folder that options choose, each with the public function that it calls."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache

from fictl.case.options import CaseOptions
from fictl.case.selection import chosen
from fictl.case.subject import Subject, of_function
from fictl.jit.recipe import recipe_of
from fictl.project import OpFolder
from fictl.trace import Case


def selected(
    folder: OpFolder, names: Iterable[str], options: CaseOptions
) -> Iterator[tuple[Subject, Case]]:
    """Cases in the order of bench.py; `names` are public functions."""
    key = _key(folder)

    @cache
    def subject(function: str) -> Subject:
        return of_function(folder, function, key)

    for case in chosen(folder.cases(), {*names}, options):
        yield subject(case.function), case


def _key(folder: OpFolder) -> str:
    """Recipes of the builds that the op runs, separated by commas."""
    return ",".join(recipe_of(spec).key for spec in folder.specs())
