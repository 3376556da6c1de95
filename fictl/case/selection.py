"""Selection of cases in an op's bench.py by function, dtype and text, with swept axes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import product

from fictl.case.options import CaseOptions
from fictl.case.subject import Subject, of_function
from fictl.dtype import parse_dtype
from fictl.errors import UsageError
from fictl.jit.recipe import recipe_of
from fictl.op.folder_specs import folder_specs
from fictl.project import OpFolder
from fictl.trace import Case


class NoCase(UsageError):
    """No case of this op is selected; this is not an error if several ops are named."""

    code = "no-case"


def functions(folder: OpFolder, ops: Collection[str]) -> set[str]:
    """Return the folder's public functions that `ops` name; all if the folder is named."""
    words = {word.rpartition("/")[2] for word in ops}
    every = {declaration.name for declaration in folder.declarations()}
    named = every & words
    return named if named and not words & {folder.module, folder.family} else every


def selected_cases(
    folder: OpFolder, names: Iterable[str], options: CaseOptions
) -> Iterator[tuple[Subject, Case]]:
    """Yield the selected cases of these functions, in bench.py's order, each with its function."""
    key = ",".join(recipe_of(spec).key for spec in folder_specs(folder))

    @cache
    def subject(function: str) -> Subject:
        return of_function(folder, function, key)

    for case in chosen(folder.cases(), {*names}, options):
        yield subject(case.function), case


def chosen(cases: Sequence[Case], names: Collection[str], options: CaseOptions) -> list[Case]:
    """Return the cases that the options choose, each once, in bench.py's order.

    If none is left, raise NoCase, which lists the existing cases.
    """
    own = [case for case in cases if case.function in names]
    wanted = parse_dtype(options.dtype).name if options.dtype else ""
    typed = [case for case in own if wanted in ("", case.dtype)]
    swept = {str(case): case for case in _swept(typed, options.axes)}
    parts = [part.strip() for part in options.case.split(",")]
    selected = [case for name, case in swept.items() if any(part in name for part in parts)]
    if not selected:
        wish = " ".join(filter(None, (options.case, options.dtype))) or "anything"
        known = ", ".join(map(str, own[:12])) or "none"
        raise NoCase(f"no case of {', '.join(sorted(names))} matches {wish}", f"it has {known}")
    return selected


def _swept(cases: Sequence[Case], axes: Mapping[str, Sequence[int]]) -> Iterator[Case]:
    """Yield the cases at every combination of these sizes; skip cases without one of the axes."""
    having = [case for case in cases if {*axes} <= {*case.sizes}]
    if cases and not having:
        known = dict.fromkeys(axis for case in cases for axis in case.sizes)
        raise NoCase(f"no case has the axes {', '.join(axes)}", f"there are {', '.join(known)}")
    for case in having:
        for sizes in product(*axes.values()):
            yield replace(case, sizes={**case.sizes, **dict(zip(axes, sizes, strict=True))})
