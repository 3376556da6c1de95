"""Builds that are killed at any moment: nothing broken is ever visible, and the next one works."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest

_KILLS = 30


def session(leader: int) -> list[int]:
    """The living processes that it started: ninja gives each compiler a process group of its own."""
    members = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if fields[3] == str(leader) and fields[0] not in "ZX":
            members.append(int(folder.name))
    return members


def kill(child: subprocess.Popen[str]) -> None:
    for process in session(child.pid):
        try:
            os.kill(process, signal.SIGKILL)
        except ProcessLookupError:
            continue
    child.communicate(timeout=60)


def test_no_kill_leaves_anything_broken(project, start, fictl_, call):
    chance = random.Random(4)
    for number in range(_KILLS):
        project.multiply_by(number)
        child = start("-m", "fictl", "build", "twice")
        if number % 10:
            child.stderr.readline()  # building …
        time.sleep(chance.uniform(0, 0.2))
        kill(child)
        for entry in project.entries:
            entry.verify(everything=True)
        if number % 10 == 9:
            assert call() == str(21 * number)
    project.multiply_by(_KILLS)
    assert fictl_("build", "twice").code == 0
    assert call() == str(21 * _KILLS)
    assert project.staging == []


@pytest.mark.parametrize(
    ("number", "send", "code"),
    [
        (signal.SIGINT, os.kill, 130),
        (signal.SIGINT, os.killpg, 130),
        (signal.SIGTERM, os.kill, 143),
    ],
    ids=["Ctrl-C to the command alone", "Ctrl-C as a terminal sends it", "kill"],
)
def test_an_interrupt_ends_the_compilers_and_leaves_nothing(
    project, start, script, call, number, send, code
):
    hang = script("hang", "sleep 600")
    child = start("-m", "fictl", "build", "twice", FICTL_NVCC_LAUNCHER=hang)
    try:
        deadline = time.monotonic() + 30
        while not any("sleep" in _name(process) for process in session(child.pid)):
            assert time.monotonic() < deadline, "the compiler was never started"
            time.sleep(0.02)
        send(child.pid, number)
        out, err = child.communicate(timeout=10)
        assert child.returncode == code
        assert "Traceback" not in out + err
        assert session(child.pid) == []
    finally:
        kill(child)
    assert project.staging == []
    assert not (project.folder / "failed").exists()
    assert call() == "42"


def _name(process: int) -> str:
    try:
        return Path(f"/proc/{process}/comm").read_text()
    except OSError:
        return ""
