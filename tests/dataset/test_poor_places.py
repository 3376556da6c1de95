"""Real workers at places whose machine lacks something: disk, a cache, the right time."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from fictl.dataset.run_jobs import run_dataset
from fictl.dataset.run_options import RunOptions
from fictl.dataset.summary import Summary
from fictl.trace import TraceSet
from tests.farm.scripts import script

from .samples import definition, saved, solution, workload

FLAGS = {"iterations": 1, "warmup_runs": 1, "num_trials": 1, "profile_baseline": False}
_GOOD = """
[[place]]
name = "good"
launch = ["env"]
variables = { FICTL_WORKSPACE_BASE = "%s/good" }
"""
# A file system that is full from the start, seen by this place alone.
_FULL = (
    "mount -t tmpfs -o size=4k none /tmp && echo x >/tmp/x && cat /dev/zero >/tmp/x 2>/dev/null; "
)


@pytest.fixture
def small(tmp_path: Path) -> TraceSet:
    """Six right evaluations."""
    root = tmp_path / "small"
    root.mkdir()
    made = TraceSet.from_path(root)
    made.add_definition(definition("d"))
    made.add_workloads("d", [workload(f"w{n}") for n in range(6)])
    made.add_solution(solution("s", "d", code="def run(x):\n    return x.clone()\n"))
    return made


def run(dataset: TraceSet, tmp_path: Path, place: str) -> Summary:
    on = tmp_path / "places.toml"
    on.write_text(_GOOD % tmp_path + f'[[place]]\nname = "poor"\n{place}')
    return run_dataset(dataset.root, RunOptions(device="cpu", on=str(on), flags=FLAGS))


def assert_all_passed(dataset: TraceSet, summary: Summary) -> None:
    assert (dict(summary.statuses), summary.undone) == ({"PASSED": 6}, 0)
    assert sorted(trace.workload.uuid for trace in saved(dataset)) == [f"w{n}" for n in range(6)]


def test_a_place_whose_disk_is_full_fails_no_solution(small: TraceSet, tmp_path: Path) -> None:
    unshare = shutil.which("unshare")
    if not unshare or subprocess.run([unshare, "-m", "true"], capture_output=True).returncode:
        pytest.skip("needs a mount namespace (unshare -m)")
    launch = f"""launch = ["{unshare}", "-m", "sh", "-c", '{_FULL} unset FICTL_CONFIG; exec "$@"', "sh"]\n"""
    variables = 'variables = { FICTL_WORKSPACE_BASE = "/tmp/cache" }\n'
    assert_all_passed(small, run(small, tmp_path, launch + variables))


def test_a_place_that_can_write_no_file_fails_no_solution(small: TraceSet, tmp_path: Path) -> None:
    launch = """launch = ["sh", "-c", 'ulimit -f 0; exec "$@"', "sh"]\n"""
    assert_all_passed(small, run(small, tmp_path, launch))


def test_a_place_whose_cache_cannot_be_made_fails_no_solution(
    small: TraceSet, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    cache = f'variables = {{ FICTL_WORKSPACE_BASE = "{tmp_path}/file/cache" }}\n'
    assert_all_passed(small, run(small, tmp_path, 'launch = ["env"]\n' + cache))


@pytest.mark.parametrize("hours", [-300_000, 300_000])
def test_a_place_whose_clock_is_wrong_does_its_work(
    small: TraceSet, tmp_path: Path, hours: int
) -> None:
    code = f"""
import sys, time
right = time.time
time.time = lambda: right() + {hours} * 3600
from fictl.farm import worker
sys.exit(worker.main())
"""
    place = f'launch = ["env"]\npython = "{script(tmp_path, code)}"\n'
    assert_all_passed(small, run(small, tmp_path, place))
