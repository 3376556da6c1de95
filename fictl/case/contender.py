"""Contenders of a case: the op, its backends and the baselines."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from fictl.case.subject import Call, Subject

OURS = "fictl"


@dataclass(frozen=True)
class Contender:
    """One implementation in a case.

    prepare: makes (plan, run) of the inputs and outputs.
    takes_outputs: its outputs are allocated and passed to `prepare`; else `prepare` gets none.
    tolerances: those that a baseline declares, by dtype; None for the usual ones.
    """

    name: str
    prepare: Callable[[Mapping[str, Any], Mapping[str, Any]], tuple[Call, Call]]
    takes_outputs: bool = False
    backend: str = ""
    is_baseline: bool = False
    tolerances: Mapping[str, tuple[float, float]] | None = None


def own(subject: Subject, backend: str = "") -> Contender:
    """Make the contender for the op, or for one of its backends under that backend's name."""
    chosen = {"backend": backend} if backend else {}
    return Contender(
        backend or OURS,
        lambda inputs, outputs: subject.bind({**inputs, **outputs, **chosen}),
        takes_outputs=True,
        backend=backend,
    )
