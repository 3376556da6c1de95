"""A request for one case of an op, and what a program that runs it sends."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fictl.case.options import CaseOptions


@dataclass(frozen=True)
class CaseRequest:
    """Cases that `options` choose of these public functions; `op` is the op.py of its folder.

    calls: how often the case is called, once it is warm.
    """

    op: Path
    functions: tuple[str, ...]
    options: CaseOptions
    calls: int = 1


@dataclass(frozen=True)
class CaseChosen:
    """The case that is run; `device` is the GPU's name, '' on the emulated device."""

    case: str
    device: str = ""
