"""Request for one case of an op, and the messages of the program that runs it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fictl.case.options import CaseOptions


@dataclass(frozen=True)
class CaseRequest:
    """Cases of these public functions, chosen by `options`; `op` is the op.py of the folder.

    calls: number of calls of the case after warm-up.
    """

    op: Path
    functions: tuple[str, ...]
    options: CaseOptions
    calls: int = 1


@dataclass(frozen=True)
class CaseChosen:
    """The chosen case; `device` is the GPU's name, '' on the emulated device."""

    case: str
    device: str = ""
