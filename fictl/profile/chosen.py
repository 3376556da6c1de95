"""Choice of the cases to profile: the requested ones, else the largest of each function."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

from fictl import settings
from fictl.case.options import CaseOptions
from fictl.case.ranks import Ranks, declared_ranks, for_ranks
from fictl.case.selection import NoCase, functions, selected_cases
from fictl.case.subject import Subject
from fictl.emu.device import MOST_ELEMENTS
from fictl.errors import UsageError
from fictl.profile.request import ProfileRequest
from fictl.project import OpFolder, select
from fictl.trace import Case


def requests(
    ops: Sequence[str], options: CaseOptions, calls: int, out: Path, ranks: int = 0
) -> list[ProfileRequest]:
    """Make one request for each case. Without a choice, take one case a function: profiling takes
    time, and a small case shows little but its launch.

    ranks: only functions that several ranks call together, and this many of them.
    """
    if not ops:
        raise UsageError("which op is to be profiled?", "fictl list shows those there are")
    every: list[ProfileRequest] = []
    missed: NoCase | None = None
    for folder in select(ops, []):
        try:
            every += _of_folder(folder, ops, options, calls, out, ranks)
        except NoCase as error:
            missed = error
    if missed and not every:
        raise missed
    return every


def _of_folder(
    folder: OpFolder,
    ops: Sequence[str],
    options: CaseOptions,
    calls: int,
    out: Path,
    ranks: int,
) -> list[ProfileRequest]:
    names = _functions(folder, ops)
    declared = _declared(folder, names) if ranks else {}
    cases = list(selected_cases(folder, declared or names, options))
    if not (options.case or options.axes):
        cases = _largest(cases)
    alone = [
        ProfileRequest(
            folder, frozenset({case.function}), replace(options, case=str(case)), calls, out
        )
        for _, case in cases
    ]
    if not ranks:
        return alone
    sized = [str(for_ranks(case, declared[case.function], ranks)) for _, case in cases]
    return [replace(one, ranks=ranks, sized=name) for one, name in zip(alone, sized, strict=True)]


def _declared(folder: OpFolder, names: Collection[str]) -> dict[str, Ranks]:
    """Declarations of those functions that several ranks call together."""
    bench = folder.load("bench")
    every = {name: declared_ranks(bench, name) for name in names}
    together = {name: declared for name, declared in every.items() if declared is not None}
    if not together:
        raise NoCase(
            f"{folder} is called by one process, not by several ranks",
            f"fictl profile {folder} without --gpus; ranks() in its bench.py declares an op of "
            "several",
        )
    return together


def _functions(folder: OpFolder, ops: Collection[str]) -> set[str]:
    """Functions that the words name. A function's name selects it alone, even if its module has the
    same name: a profile looks at one kernel.
    """
    words = {word.rpartition("/")[2] for word in ops}
    named = {declaration.name for declaration in folder.declarations()} & words
    return named if named and folder.family not in words else functions(folder, ops)


def _largest(cases: Sequence[tuple[Subject, Case]]) -> list[tuple[Subject, Case]]:
    """Choose the case of each function with the most elements; on a tie, the first in bench.py,
    which its author put first. On the emulated device, the largest that can run there.
    """

    def elements(one: tuple[Subject, Case]) -> int:
        subject, case = one
        count = subject.template.elements(case.sizes, case.passing)
        too_many = settings.DEVICE.get() == "emu" and count > MOST_ELEMENTS
        return -count if too_many else count

    of_function: dict[str, list[tuple[Subject, Case]]] = {}
    for one in cases:
        of_function.setdefault(one[1].function, []).append(one)
    return [max(among, key=elements) for among in of_function.values()]
