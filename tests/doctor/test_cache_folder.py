"""The folder that builds go to."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from fictl.doctor import cache_folder as module
from fictl.doctor.cache_folder import cache_folder, stores, temporary_folder
from fictl.paths import cache_root

GIB = 1 << 30


@pytest.fixture(autouse=True)
def disk(monkeypatch):
    """A roomy disk that runs programs; `disk(free, flag)` changes that."""

    def pretend(free: int = 50 * GIB, flag: int = 0) -> None:
        status = SimpleNamespace(f_bavail=free >> 12, f_frsize=4096, f_flag=flag)
        monkeypatch.setattr(os, "statvfs", lambda path: status)

    pretend()
    return pretend


def test_a_folder_that_is_not_there_yet_is_fine(finding):
    found = finding(cache_folder)
    assert (found.level, "50 GiB free" in found.text) == ("ok", True)
    assert not cache_root().exists()


def test_a_folder_that_others_can_write_is_refused(finding):
    (cache_root() / "v1").mkdir(parents=True)
    (cache_root() / "v1").chmod(0o770)
    found = finding(cache_folder)
    assert found.level == "error"
    assert "can be written by its group" in found.text
    assert "chmod 700" in found.fix


def test_a_file_in_its_place_is_an_error(finding):
    cache_root().parent.mkdir(parents=True)
    cache_root().write_text("")
    found = finding(cache_folder)
    assert found.level == "error"
    assert "not a folder" in found.text


@pytest.fixture
def read_only(monkeypatch):
    def refuse(**_):
        raise OSError(30, os.strerror(30))

    monkeypatch.setattr(module.tempfile, "TemporaryFile", refuse)


def test_a_folder_that_cannot_be_written_is_an_error(finding, read_only):
    found = finding(cache_folder)
    assert found.level == "error"
    assert "Read-only file system" in found.text
    assert "FICTL_WORKSPACE_BASE" in found.fix


def test_without_compiling_it_need_not_be_written(finding, read_only, monkeypatch):
    monkeypatch.setenv("FICTL_DISABLE_JIT", "1")
    assert finding(cache_folder).level == "warning"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission_is_an_error(finding):
    cache_root().mkdir(parents=True)
    cache_root().chmod(0o500)
    assert finding(cache_folder).level == "error"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_met_by_writing(finding, monkeypatch):
    def full(dir: Path):
        return Path("/dev/full").open("wb", buffering=0)

    monkeypatch.setattr(module.tempfile, "TemporaryFile", full)
    found = finding(cache_folder)
    assert found.level == "error"
    assert "No space left on device" in found.text


def test_little_space_is_a_warning(finding, disk):
    disk(free=GIB)
    found = finding(cache_folder)
    assert found.level == "warning"
    assert "1024 MiB free" in found.text
    assert "fictl cache gc" in found.fix


def test_a_file_system_that_runs_nothing_is_an_error(finding, disk):
    disk(flag=os.ST_NOEXEC)
    found = finding(cache_folder)
    assert found.level == "error"
    assert "noexec" in found.text


def test_a_network_file_system_is_a_warning(finding, monkeypatch):
    monkeypatch.setattr(module, "on_network", lambda path: True)
    assert finding(cache_folder).level == "warning"


def test_all_that_is_wrong_is_said(findings, disk, monkeypatch):
    disk(free=0, flag=os.ST_NOEXEC)
    monkeypatch.setattr(module, "on_network", lambda path: True)
    assert len(findings(cache_folder)) == 3


def test_a_full_temporary_folder_is_a_warning(finding, disk):
    disk(free=1 << 20)
    assert "TMPDIR" in finding(temporary_folder).fix


def test_a_roomy_temporary_folder_is_not_mentioned(findings):
    assert findings(temporary_folder) == []


def test_a_store_that_is_not_there_is_a_warning(finding, monkeypatch, tmp_path):
    monkeypatch.setenv("FICTL_STORES", f"{tmp_path}:/nowhere/store")
    found = finding(stores)
    assert found.level == "warning"
    assert "/nowhere/store" in found.text
