"""Compilers of places that build together: all the same, or one build for each that differs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from fictl.child.lost import NotStarted
from fictl.farm.compilers import compilers_here, difference
from fictl.farm.opening import OpenPlace
from fictl.farm.spread.command_job import CommandJob

_NONE = NotStarted("it has no compilers", "fictl doctor, run there, says what is missing")
_EACH = "--toolchain any keeps a build of each"


@dataclass(frozen=True)
class CompilerChoice:
    """The compilers of builds: those for `device`, of `are_any` kind or all the same."""

    device: str
    are_any: bool = False

    def matched(
        self, opened: Sequence[OpenPlace], jobs: Sequence[CommandJob]
    ) -> tuple[list[OpenPlace], list[CommandJob]]:
        """Refuse places without compilers. Without `are_any`, refuse also places whose compilers
        differ from those here, or from the first's if none are here; else have each job done once
        by each kind.
        """
        able = [replace(one, problem=_NONE) if _is_bare(one) else one for one in opened]
        if self.are_any:
            return _told_apart(able, jobs)
        here, where = compilers_here(self.device), "here"
        for one in able:
            if not here and one.problem is None and one.ready is not None:
                here, where = one.ready.toolchain, f"at {one.place.name}"
        return [_checked(one, here, where) for one in able], [*jobs]


def _told_apart(
    opened: Sequence[OpenPlace], jobs: Sequence[CommandJob]
) -> tuple[list[OpenPlace], list[CommandJob]]:
    """Label the places by their compilers, and make a job of each kind."""
    labelled = [
        replace(one, place=replace(one.place, labels=(*one.place.labels, _label(one))))
        for one in opened
    ]
    kinds = dict.fromkeys(_label(one) for one in labelled if one.problem is None)
    return labelled, [replace(job, kind=kind) for job in jobs for kind in kinds]


def _is_bare(one: OpenPlace) -> bool:
    return one.problem is None and one.ready is not None and not one.ready.toolchain


def _checked(one: OpenPlace, here: Mapping[str, str], where: str) -> OpenPlace:
    if one.problem is not None or one.ready is None:
        return one
    what = difference(here, one.ready.toolchain, where)
    words = f"its compilers differ from those {where}: {what}"
    return replace(one, problem=NotStarted(words, _EACH)) if what else one


def _label(one: OpenPlace) -> str:
    toolchain = one.ready.toolchain if one.ready is not None else {}
    text = json.dumps(toolchain, sort_keys=True)
    return f"toolchain-{hashlib.sha256(text.encode()).hexdigest()[:16]}"
