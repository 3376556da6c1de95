"""Hashes of the files that workloads name."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from fictl.dataset import inputs
from fictl.dataset.inputs import InputFiles
from fictl.farm.blobs import blob_of
from fictl.farm.line import Blob
from fictl.trace import Workload


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The files that were read, each time."""
    paths: list[Path] = []

    def read(path: Path) -> Blob:
        paths.append(path)
        return blob_of(path)

    monkeypatch.setattr(inputs, "blob_of", read)
    return paths


def stored(path: str) -> Workload:
    spec = {"type": "safetensors", "path": path, "tensor_key": "x"}
    return Workload.model_validate({"uuid": "w", "axes": {}, "inputs": {"x": spec, "y": spec}})


def test_places_at_work_at_once_read_a_file_once(tmp_path: Path, reads: list[Path]) -> None:
    (tmp_path / "x").write_bytes(bytes(1 << 20))
    files = InputFiles(tmp_path)
    threads = [threading.Thread(target=files.of, args=(stored("x"),)) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(reads) == 1


def test_a_file_that_changes_is_read_again(tmp_path: Path, reads: list[Path]) -> None:
    (tmp_path / "x").write_bytes(b"one")
    files = InputFiles(tmp_path)
    first, _ = files.of(stored("x"))
    (tmp_path / "x").write_bytes(b"two")
    os.utime(tmp_path / "x", (1, 1))
    second, paths = files.of(stored("x"))
    assert len(reads) == 2
    assert first["x"] != second["x"]
    assert paths == {second["x"].sha256: tmp_path / "x"}
