"""What is evaluated of a dataset, and where."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class RunOptions:
    """Empty selections are all there is. `flags` are fields of EvalConfig that were asked for.

    `gpus` are names as CUDA_VISIBLE_DEVICES has them; `jobs` solutions are compiled at a time, as
    many as there are cores where it is 0. `isolated` starts a process for each workload; `large`
    runs those that take the emulated device minutes, too.
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
