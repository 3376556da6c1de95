"""Ranks of one job launch the same tactic, whatever each of them has measured."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# Rank, port, and for each rank: the seconds of its four tactics, the tactic that fails, the rows.
_JOB = """
import os, sys
from typing import NamedTuple
from random import Random
import torch, torch.distributed as dist
from fictl.op import op
from fictl.op.tactics.tuning import tuning
from fictl.timing.samples import Samples
from fictl.trace import Tensor, TraceTemplate, Var
from fictl.tune.ranks import TuningRanks
from fictl.tune.tuner import Tuner

rank, store, seconds, fails, rows = int(sys.argv[1]), sys.argv[2], *map(eval, sys.argv[3:])
dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=2)
trace = TraceTemplate(
    axes={"n": Var("")}, inputs={"q": Tensor(("n",))}, outputs={}, reference=lambda q: None
)

@op(archs=">=8.0", dtypes="f32", mutates="", trace=trace, tactics=lambda: (1, 2, 4, 8))
def double(q, tactic=None):
    assert tactic != fails
    return 2 * q, tactic

def shown(sides, device):
    random = Random(0)
    def noisy(i):
        return tuple(seconds[i] * (1 + 0.01 * random.gauss(0, 1)) for _ in range(40))
    return {name: Samples(noisy(int(name)), "host", cold=False, copies=1) for name in sides}

with tuning(Tuner(TuningRanks.of(), timed=shown)):
    got = [double(torch.zeros(rows))[1] for _ in range(2)]
print(got + [double(torch.zeros(rows))[1]])
dist.destroy_process_group()
"""


def _job(tmp_path: Path, *ranks: tuple[object, ...]) -> list[str]:
    """What each of two processes prints."""
    started = [
        subprocess.Popen(
            [sys.executable, "-c", _JOB, str(rank), str(tmp_path / "store"), *map(repr, said)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={"PATH": "/usr/bin:/bin", "FICTL_DEVICE": "emu", "HOME": str(tmp_path)},
        )
        for rank, said in enumerate(ranks)
    ]
    done = [process.communicate(timeout=120) for process in started]
    assert not any(process.returncode for process in started), done
    return [out.strip() for out, _ in done]


SECOND, FOURTH = (2e-5, 1e-5, 2e-5, 2e-5), (2e-5, 2e-5, 2e-5, 1e-5)


@pytest.mark.parametrize(
    ("ranks", "tactic"),
    [
        ([(SECOND, 0, 5), (FOURTH, 0, 5)], 2),
        ([(SECOND, 0, 5), (SECOND, 2, 5)], 1),
        ([(SECOND, 0, 5), (SECOND, 0, 500)], 1),
    ],
    ids=["the first rank decides", "what fails on one is for none", "other calls, the default"],
)
def test_ranks_get_the_same(ranks: list[tuple[object, ...]], tactic: int, tmp_path: Path) -> None:
    assert _job(tmp_path, *ranks) == [str([tactic] * 3)] * 2


def test_without_a_job_there_are_no_ranks() -> None:
    from fictl.tune.ranks import TuningRanks

    assert TuningRanks.of() is None
