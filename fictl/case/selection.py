"""Which cases of an op are benched: those of its bench.py, filtered and swept."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product

from fictl.case.options import CaseOptions
from fictl.dtype import parse_dtype
from fictl.errors import UsageError
from fictl.project import OpFolder
from fictl.trace import Case


class NoCase(UsageError):
    """Nothing of an op is asked for: of several ops, that is no mistake."""


def functions(folder: OpFolder, ops: Collection[str]) -> set[str]:
    """The public functions that `ops` ask for: all, unless some are named and the folder is not."""
    words = {word.rpartition("/")[2] for word in ops}
    every = {declaration.name for declaration in folder.declarations()}
    named = every & words
    return named if named and not words & {folder.module, folder.family} else every


def chosen(cases: Sequence[Case], names: Collection[str], options: CaseOptions) -> list[Case]:
    """Each once, in the order of bench.py; an error that lists them where none is left."""
    own = [case for case in cases if case.function in names]
    wanted = parse_dtype(options.dtype).name if options.dtype else ""
    typed = [case for case in own if wanted in ("", case.dtype)]
    swept = {str(case): case for case in _swept(typed, options.axes)}
    parts = [part.strip() for part in options.case.split(",")]
    found = [case for name, case in swept.items() if any(part in name for part in parts)]
    if not found:
        asked = " ".join(filter(None, (options.case, options.dtype))) or "anything"
        known = ", ".join(map(str, own[:12])) or "none"
        raise NoCase(f"no case of {', '.join(sorted(names))} matches {asked}", f"it has {known}")
    return found


def _swept(cases: Sequence[Case], axes: Mapping[str, Sequence[int]]) -> Iterator[Case]:
    """Cases without one of these axes are left out; if that is all, the axis is a mistake."""
    having = [case for case in cases if {*axes} <= {*case.sizes}]
    if cases and not having:
        known = dict.fromkeys(axis for case in cases for axis in case.sizes)
        raise NoCase(f"no case has the axes {', '.join(axes)}", f"there are {', '.join(known)}")
    for case in having:
        for sizes in product(*axes.values()):
            yield replace(case, sizes={**case.sizes, **dict(zip(axes, sizes, strict=True))})
