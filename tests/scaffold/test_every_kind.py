"""Every kind in a new project: init, new-op, check, build, test and, on a GPU, bench; untouched."""

from __future__ import annotations

import json
from pathlib import Path

import every_kind
import golden
import pytest

from fictl.scaffold.kinds.kind import find_kind
from fictl.toolchain import visible_gpus

# Those that are only compiled here need packages of their own, and fail alone.
EMULATED = [kind for kind in golden.KINDS if "emu" in find_kind(kind).devices]
COMPILED = [(kind,) for kind in golden.KINDS if kind not in EMULATED]
GROUPS = [*COMPILED, *(tuple(EMULATED[start::3]) for start in range(3))]


@pytest.mark.needs_nvcc
@pytest.mark.timeout(900)
@pytest.mark.parametrize("kinds", GROUPS, ids=" ".join)
def test_they_are_green_untouched(
    kinds: tuple[str, ...], tmp_path: Path, users_cache: None
) -> None:
    gpu = bool(visible_gpus())
    if kinds == ("cutlass",) and not gpu:
        pytest.skip("it compiles for minutes, to code that runs on Hopper GPUs alone")
    # Why one order of threads and one architecture: the shipped ops have the others.
    run = every_kind.Run(kinds, tmp_path, gpu, schedule="forward", archs="" if gpu else "9.0a")
    run.prepare().bench()
    assert not run.failed, run.failed


def _bench_of_gemm(ours: float) -> str:
    side = {"sizes": dict.fromkeys("mnk", 8192), "step": "run", "status": "timed", "case": "8192"}
    ceiling = {"of_ceiling": 0.7, "ceiling": "matmul"}
    rows = [
        side | ceiling | {"side": "fictl", "median": ours},
        side | ceiling | {"side": "torch", "median": 1.0},
    ]
    return json.dumps({"data": {"rows": rows}})


def test_a_gemm_on_hopper_reaches_its_share_of_cublas() -> None:
    assert every_kind.reached("gemm", _bench_of_gemm(1.1), hopper=True) == "70% of matmul"
    assert every_kind.reached("gemm", _bench_of_gemm(2.0), hopper=False) == "70% of matmul"
    with pytest.raises(every_kind.Failed, match=r"80% of cuBLAS at 8192\^3, wanted 90%"):
        every_kind.reached("gemm", _bench_of_gemm(1.25), hopper=True)
