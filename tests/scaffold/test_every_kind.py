"""Every kind in a new project: init, new-op, check, build, test and, on a GPU, bench; untouched."""

from __future__ import annotations

from pathlib import Path

import every_kind
import golden
import pytest

from fictl.toolchain import visible_gpus


@pytest.mark.needs_nvcc
@pytest.mark.timeout(900)
@pytest.mark.parametrize("kind", golden.KINDS)
def test_it_is_green_untouched(kind: str, tmp_path: Path, users_cache: None) -> None:
    if kind == "cutlass" and not visible_gpus():
        pytest.skip("it compiles for minutes, to code that runs on Hopper GPUs alone")
    # Why one order of threads and one architecture: the shipped ops have the others.
    gpu = bool(visible_gpus())
    run = every_kind.Run(kind, tmp_path, gpu, schedule="forward", archs="" if gpu else "9.0a")
    run.prepare().bench()
    assert not run.failed, run.failed
