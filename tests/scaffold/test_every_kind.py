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
def test_it_is_green_untouched(kind: str, tmp_path: Path) -> None:
    # Why one order of threads: in the others the shipped ops run, and every user's own.
    run = every_kind.Run(kind, tmp_path, bool(visible_gpus()), schedule="forward")
    run.prepare().bench()
    assert not run.failed, run.failed
