"""RunOptions: the part of a dataset to evaluate, and the devices to use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class RunOptions:
    """Options of a run. An empty selection means everything. `flags` are the given fields of
    EvalConfig.

    `gpus` are names as in CUDA_VISIBLE_DEVICES; `wait` is the time after which a GPU that others
    use is left out, None for no limit; `jobs` is the number of solutions compiled at a
    time, 0 for as many as the cores allow. `isolated` starts a process for each workload; `large`
    also runs the workloads that take minutes on the emulated device. `on` names places, as on the
    command line; on each `hardware`, everything is evaluated.
    """

    definitions: tuple[str, ...] = ()
    solutions: tuple[str, ...] = ()
    op_types: tuple[str, ...] = ()
    device: str = "cuda"
    flags: Mapping[str, Any] = field(default_factory=dict)
    config: Path | None = None
    isolated: bool = False
    large: bool = False
    resume: bool = False
    save: bool = True
    jobs: int = 0
    gpus: tuple[str, ...] = ()
    wait: float | None = None
    on: str = ""
    hardware: tuple[str, ...] = ()
