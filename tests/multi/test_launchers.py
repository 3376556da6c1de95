"""Two processes as torchrun, mpirun and `fictl test --gpus` start them, with gloo."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

import fictl
from fictl.project import find
from fictl.testing.runner import group
from fictl.testing.runner.run_tests import run_tests

SUITE = Path(__file__).with_name("two_ranks.py")
PYTEST = (
    "pytest",
    "-p",
    "fictl.testing.plugin",
    "-p",
    "no:cacheprovider",
    "-q",
    "-rs",
    # Why --noconftest: that of this suite takes FICTL_DEVICE away.
    "--import-mode=importlib",
    "--noconftest",
    f"--rootdir={SUITE.parent}",
    "-k",
    "sum or together",
    str(SUITE),
)


def environment(**more: str) -> dict[str, str]:
    path = os.pathsep.join([str(Path(fictl.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    threads = {"OMP_NUM_THREADS": "1"}
    return {**os.environ, "PYTHONPATH": path, "FICTL_DEVICE": "emu", **threads, **more}


def passed(output: str) -> int:
    return output.count("2 passed")


def test_under_torchrun() -> None:
    argv = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    done = subprocess.run([*argv, "-m", *PYTEST], env=environment(), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert passed(done.stdout) == 2


def test_under_mpirun() -> None:
    mpirun = shutil.which("mpirun")
    if mpirun is None:
        pytest.skip("needs mpirun")
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    done = subprocess.run(
        [mpirun, "--oversubscribe", "-np", "2", sys.executable, "-m", *PYTEST],
        env=environment(**root),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert passed(done.stdout) == 2


@pytest.mark.parametrize(
    ("rank", "size", "job"),
    [
        ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMIX_NAMESPACE"),
        ("PMI_RANK", "PMI_SIZE", ""),
        ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_JOB_ID"),
    ],
)
def test_with_the_variables_that_a_launcher_sets(rank: str, size: str, job: str) -> None:
    if rank.startswith("OMPI") and shutil.which("mpirun"):
        pytest.skip("mpirun itself sets them, above")
    same = {job: uuid.uuid4().hex} if job else {}
    argv = [sys.executable, "-m", *PYTEST]
    children = [
        subprocess.Popen(
            argv,
            env=environment(**{rank: str(n), size: "2"}, **same),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for n in range(2)
    ]
    outputs = [child.communicate(timeout=120)[0] for child in children]
    assert [child.returncode for child in children] == [0, 0], "\n".join(outputs)
    assert passed("".join(outputs)) == 2


def test_the_failure_of_one_rank_is_a_failure_and_the_others_go_on(tiny, monkeypatch) -> None:
    folders = find("twice")
    folders[0].test.write_text(SUITE.read_text(encoding="utf-8"))
    monkeypatch.setattr(group, "CONTRACT", folders[0].test)
    said: list[str] = []
    words, variables = ["--fictl-gpus=2"], {"FICTL_DEVICE": "emu"}
    report = run_tests(folders, said.append, words, variables, timeout=100.0, ranks=2)
    assert {each.test.rpartition("::")[2]: each.outcome for each in report.tests} == {
        "test_a_sum_over_the_ranks": "passed",
        "test_the_failure_of_one_rank": "failed",
        "test_the_ranks_are_together_after_it": "passed",
    }, "\n".join(said)
    assert "assert 1 == 0" in report.failed[0].reason


def test_on_two_hosts() -> None:
    """Two network namespaces that only see each other: the variables of the manual are enough."""
    tools = [name for name in ("unshare", "ip", "nsenter") if shutil.which(name) is None]
    if tools:
        pytest.skip(f"needs {', '.join(tools)}")
    if subprocess.run(["unshare", "-Urn", "true"], capture_output=True).returncode:
        pytest.skip("needs unprivileged user and network namespaces")
    script = str(Path(__file__).with_name("two_hosts.sh"))
    done = subprocess.run(
        ["unshare", "-Urn", "sh", script, sys.executable, "-m", *PYTEST],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=180,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert passed(done.stdout) == 2
