"""The file grows by what each tuner adds; nothing of another machine is overwritten."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from fictl.errors import SetupError, UsageError
from fictl.op.tactics.machine import Machine
from fictl.op.tactics.records import Document, Entry, OpRecords, read
from fictl.tune.file import merge

HERE = Machine("NVIDIA H200", "580.65.06")


def _records(*keys: str, kernel: str = "k1", winner: int = 1) -> OpRecords:
    return OpRecords(kernel=kernel, keys={key: Entry(winner=winner, candidates=()) for key in keys})


def _read(path: Path) -> Document:
    found = read(path)
    assert found is not None
    return found


def _winners(path: Path) -> dict[str, dict[str, int]]:
    ops = _read(path).ops.items()
    return {name: {key: each.winner for key, each in op.keys.items()} for name, op in ops}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "tune" / "file.json"


def test_keys_and_ops_are_added_and_measured_ones_replaced(path: Path) -> None:
    merge(path, HERE, {"a": _records("1", "2")})
    merge(path, HERE, {"a": _records("2", "3", winner=5), "b": _records("1")})
    assert _winners(path) == {"a": {"1": 1, "2": 5, "3": 5}, "b": {"1": 1}}


def test_of_a_kernel_that_was_changed_nothing_old_stays(path: Path) -> None:
    merge(path, HERE, {"a": _records("1", "2"), "b": _records("1")})
    merge(path, HERE, {"a": _records("3", kernel="k2")})
    assert _winners(path) == {"a": {"3": 1}, "b": {"1": 1}}


def test_a_file_of_the_same_driver_branch_is_one(path: Path) -> None:
    merge(path, HERE, {"a": _records("1")})
    merge(path, Machine(HERE.gpu, "580.99"), {"a": _records("2")})
    assert _winners(path) == {"a": {"1": 1, "2": 1}}


@pytest.mark.parametrize("there", [Machine("NVIDIA B200", "580.1"), Machine(HERE.gpu, "535.1")])
def test_a_file_of_another_machine_stays(path: Path, there: Machine) -> None:
    merge(path, there, {"a": _records("1")})
    before = path.read_bytes()
    with pytest.raises(UsageError, match=r"stays as it is: it was tuned (on|with)"):
        merge(path, HERE, {"a": _records("2")})
    assert path.read_bytes() == before


def test_a_file_that_cannot_be_read_is_set_aside(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path.parent.mkdir()
    path.write_text("{", encoding="utf-8")
    merge(path, HERE, {"a": _records("1")})
    assert path.with_suffix(".corrupt").read_text(encoding="utf-8") == "{"
    assert "it is now" in caplog.text
    assert _winners(path) == {"a": {"1": 1}}


def test_many_writers_lose_nothing(path: Path) -> None:
    threads = [
        threading.Thread(target=merge, args=(path, HERE, {"a": _records(str(i))})) for i in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert _winners(path)["a"].keys() == set(map(str, range(8)))


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "tune").write_text("a file", encoding="utf-8")
    with pytest.raises(SetupError, match="cannot write"):
        merge(tmp_path / "tune" / "deeper" / "file.json", HERE, {})
