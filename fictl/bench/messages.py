"""Requests to the process that measures an op, and its messages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from fictl.bench.options import BenchOptions
from fictl.bench.row import Row
from fictl.timing.gpu_state import GpuState


@dataclass(frozen=True)
class BenchRequest:
    """Measure these public functions of an op folder; `op` is its op.py."""

    op: Path
    functions: tuple[str, ...]
    device: str
    options: BenchOptions


@dataclass(frozen=True)
class FileRequest:
    """Measure the launchers of one .cu file; `values` are its tensors and scalars."""

    file: Path
    values: Mapping[str, str]
    device: str
    options: BenchOptions


@dataclass(frozen=True)
class RevisionsRequest:
    """Measure an op folder in two revisions; `sides` maps label to op.py, the newer one first."""

    op: str
    sides: Mapping[str, Path]
    functions: tuple[str, ...]
    device: str
    options: BenchOptions


@dataclass(frozen=True)
class RanksRequest:
    """Measure functions of an op folder that several ranks call together, in each of its ranks."""

    op: Path
    functions: tuple[str, ...]
    device: str
    options: BenchOptions


@dataclass(frozen=True)
class CasesCounted:
    """Number of cases that follow."""

    count: int


@dataclass(frozen=True)
class CaseStarted:
    """A case begins."""

    function: str
    case: str
    sizes: Mapping[str, int]
    dtype: str
    passing: tuple[str, ...]


@dataclass(frozen=True)
class RoundTimed:
    """Number of rounds of the case timed so far."""

    number: int


@dataclass(frozen=True)
class RowMeasured:
    """The finished row of one side of the case."""

    row: Row


@dataclass(frozen=True)
class Warned:
    """A warning for the report."""

    text: str


@dataclass(frozen=True)
class VersionsFound:
    """Versions of torch and of its CUDA."""

    torch: str
    cuda: str


@dataclass(frozen=True)
class GpuBefore:
    """Ceilings and state of the GPU before the first case; None if nvidia-smi does not tell."""

    ceilings: Mapping[str, float]
    state: GpuState | None


@dataclass(frozen=True)
class RanksAfter:
    """State of the GPU of each rank after the last case."""

    states: tuple[GpuState | None, ...]


@dataclass(frozen=True)
class GpuAfter:
    """State of the GPU after the last case."""

    state: GpuState | None
