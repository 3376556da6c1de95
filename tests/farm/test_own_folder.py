"""Folders and files of processes, in a cache that several machines share."""

from __future__ import annotations

import os
import platform
import subprocess
import time
from pathlib import Path

import pytest

from fictl.farm.blobs import farm_folder
from fictl.farm.own_folder import is_abandoned, own_folder
from fictl.farm.run_status import RunStatus, runs


@pytest.fixture
def ended() -> int:
    """The pid of a process that has ended."""
    with subprocess.Popen(["true"]) as process:
        return process.pid


def test_what_an_ended_process_left_is_removed(ended: int) -> None:
    first = own_folder("trees")
    left = farm_folder("trees") / f"{platform.node()}+{ended}+0123"
    left.mkdir()
    own_folder("trees")
    assert (first.exists(), left.exists()) == (True, False)


def test_a_process_of_another_machine_is_judged_by_age_alone(ended: int) -> None:
    there = farm_folder("trees") / f"other-machine+{ended}+0123"
    there.mkdir()
    own_folder("trees")
    assert there.exists()
    os.utime(there, (time.time() - 8 * 86400,) * 2)
    own_folder("trees")
    assert not there.exists()


def test_what_has_gone_meanwhile_is_nobodys(tmp_path: Path) -> None:
    assert not is_abandoned(tmp_path / "gone")


def test_runs_of_another_machine_are_shown_while_they_are_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with monkeypatch.context() as there, RunStatus("dataset run far", 10) as status:
        there.setattr(platform, "node", lambda: "other-machine")
        status.update(1, 1, 1, 1)
        there.undo()
        assert [(one.what, one.host) for one in runs()] == [("dataset run far", "other-machine")]
        (path,) = farm_folder("runs").iterdir()
        os.utime(path, (time.time() - 3600,) * 2)
        assert [*runs()] == []
        assert path.exists()  # That machine may only be slow.
